"""Rows TR-01 to TR-08: what is predicted where, and what is measured."""
