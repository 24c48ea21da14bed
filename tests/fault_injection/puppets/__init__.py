"""Puppets, without brokers: what they say, and what they say to each other."""
