"""Which steps can a schedule take? One class a step, in the module of what it is about.

Every step ends at rest, in the model and on real brokers: all replication that no hold blocks has run. The same classes
serve the catalogue (Python) and users' files (YAML).

A new step without new physics:
1. its class, in the module here that fits: fields, checks, sentence, short form;
2. a case in ``oracle/predicting/step_effects.py``: what it changes in the model;
3. a case in ``conformance/running/runner.py``: what it asks of real brokers;
4. a test of each, and a line in CHANGELOG.md.
Schedule files, ``schedule-help``, progress lines, ``explain`` and reports follow from the class.
"""

# ruff: noqa: I001 - in the order in which schedule-help tells them
from oracle.steps import produce, frames, brokers, topic, waits, questions

__all__ = ["brokers", "frames", "produce", "questions", "topic", "waits"]
