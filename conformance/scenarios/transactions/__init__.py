"""Exactly once: producers with a transactional id, their coordinator, and what consumers of committed records read."""
