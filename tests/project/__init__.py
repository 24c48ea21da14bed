"""Tests of what the project says about itself: documents, examples and workflows."""
