"""Exactly once: what transaction coordinators and partition leaders do with a transactional producer's requests."""
