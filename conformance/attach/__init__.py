"""A ledger beside a cluster that somebody else runs and breaks: produced, watched, read back and judged."""
