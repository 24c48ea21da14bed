"""Tests of the scenarios about in-sync replicas: what is predicted where, and what their questions measure."""
