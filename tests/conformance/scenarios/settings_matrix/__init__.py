"""Tests of the settings matrix."""
