"""A ledger beside a cluster that somebody else runs."""
