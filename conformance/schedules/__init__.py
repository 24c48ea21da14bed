"""Schedules as files, plain values and words: read, written, and told step by step."""
