"""Tests of the examinations of fetchers."""
