"""The steps of a schedule, taken on real brokers: what each does, and when it has ended. Nothing here judges."""
