"""Measurements to run by hand: how fast is what matters, and how much memory does it take? No test times anything."""
