"""Does the reconciliation find what is wrong with a run (RC-01 to RC-03)?

Each examination runs a scenario on real brokers, doctors copies of the run's files, and has them judged again.
"""
