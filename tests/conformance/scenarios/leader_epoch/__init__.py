"""Tests of the scenarios about leader epochs: what is predicted where, and what their questions measure."""
