"""The public TLA+ specifications of Kafka's replication as models for the explorer, built from the oracle's rules."""
