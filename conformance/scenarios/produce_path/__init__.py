"""The produce path: which acks count, when a leader answers, and what too few replicas in sync mean (AC-01 to AC-07).

Document 003; KAFKA-15583.
"""
