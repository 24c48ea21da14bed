"""Tests of the proxy over one stub of a leader."""
