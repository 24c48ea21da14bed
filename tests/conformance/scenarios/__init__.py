"""Tests of catalogue entries, area by area."""
