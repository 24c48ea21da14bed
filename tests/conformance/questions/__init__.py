"""Tests of ``conformance.questions``."""
