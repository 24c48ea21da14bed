"""Clusters of real brokers: what one is made of, how its nodes are run, and when it is ready."""
