"""Tests of ``conformance.examining``."""
