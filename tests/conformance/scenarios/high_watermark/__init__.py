"""Rows HW-03 to HW-13: what is predicted where, and what is measured."""
