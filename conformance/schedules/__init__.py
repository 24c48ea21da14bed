"""Schedules as files, plain values and words: read, written, and told step by step."""

SUFFIXES = (".yaml", ".yml")
"""How files with a schedule end."""
PYTHON = ".py"
"""How files with scenarios end that are written as the catalogue is."""
