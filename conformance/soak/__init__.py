"""Many records, produced while brokers are broken: what is done in a soak, and what must have become of each record."""
