"""Tests of the reconciliation."""
