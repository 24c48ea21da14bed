"""Tests of fault_injection."""
