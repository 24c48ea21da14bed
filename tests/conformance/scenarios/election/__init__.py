"""Tests of the scenarios about elections: what is predicted where, and what their questions measure."""
