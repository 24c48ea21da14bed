"""What a run's wire trace says to whoever asks a question of it: whole frames, what they say of a partition, rounds.

``conformance.observation`` reads the same file as a stream of the model's events. All times are nanoseconds of the
tester's monotonic clock, on which the run's notes agree (``conformance.notes``).
"""
