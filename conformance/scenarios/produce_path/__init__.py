"""The produce path: what the leader does with a record when too few replicas are in sync (AC-03 … AC-06).

Document 003; KAFKA-15583.
"""
