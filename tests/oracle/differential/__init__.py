"""A second, slow interpreter of schedules on plain dictionaries, and its comparison with the oracle."""
