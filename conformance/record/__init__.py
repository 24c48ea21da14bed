"""The files of a run: one module a file, its form as frozen dataclasses, read and written there and nowhere else.

A run directory is the only interface between running, judging and reporting. Whatever crosses it is typed here. Nothing
here decides: no fate, no verdict, no comparison. ``audit_answer`` is the like of it for an audit, which has no run.
"""
