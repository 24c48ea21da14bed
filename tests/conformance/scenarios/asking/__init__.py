"""Tests of the scenarios that ask brokers in the middle of a schedule."""
