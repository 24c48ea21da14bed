"""Kafka's known replication defects, one scenario each: shown on a release that has it, gone on one that repaired it.

Each is named after its issue. ``track_record`` says for each what the broken and the repaired release show, and
``unreached`` which known defects no schedule here can bring about, with the reason.
"""
