"""Faults of a soak: drawn, read from files, and carried out on brokers while records are produced."""
