"""Tests of the scenarios about the produce path: what is predicted where, and what their questions measure."""
