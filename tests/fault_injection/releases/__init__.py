"""Tests of fault_injection.releases."""
