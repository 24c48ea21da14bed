"""Tests of fault_injection.cluster."""
