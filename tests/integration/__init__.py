"""The tester on real brokers: what must turn red does, and nothing is left behind."""
