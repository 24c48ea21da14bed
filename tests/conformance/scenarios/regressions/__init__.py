"""Tests of ``conformance.scenarios.regressions``."""
