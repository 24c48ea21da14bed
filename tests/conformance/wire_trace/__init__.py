"""Tests of what a run's wire trace says."""
