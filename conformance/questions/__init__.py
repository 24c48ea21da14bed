"""How are the questions of schedules measured? From a run's frames, files and probes, never from the model.

A question stands beside the schedule that asks it; what it expects follows from the release's rules.
"""
