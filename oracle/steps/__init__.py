"""Which steps can a schedule take? One class a step, in the module of what it is about.

Every step ends at rest, in the model and on real brokers: all replication that no hold blocks has run. The same classes
serve the catalogue (Python) and users' files (YAML).

A new step without new physics touches six files at most:
1. its class, in the module here that fits: fields, checks, sentence, short form; the event that it ``leaves`` on the
   timeline of a run, the ``fault`` that it injects, the faults that it ``takes_back``, each by name;
2. a case in ``oracle/predicting/step_effects.py``: what it changes in the model;
3. a case in ``conformance/running/runner.py``: what it asks of real brokers;
4. a new event, if it leaves one: ``Event`` in ``conformance/record/timeline.py``;
5. a test of it; 6. a line in CHANGELOG.md.
Schedule files, ``schedule-help``, progress lines, ``explain``, reports, and what the judge looks for in a run's files
follow from the class. ``pause`` in ``oracle.steps.brokers`` is an example with a fault, ``resume`` takes it back.

New physics touches more, as ``pause`` did when it was new: a fault of its own (``fault_injection/faults``), what it
stands between in the model (``oracle/obstructing.py``) and on brokers (``conformance/running/obstacles.py`` or
``processes.py``), what the wire check hears of a new event (``conformance/observation/run_events.py``), its mark in
the picture (``_MARK_KINDS`` in ``reports/load_story.py``, ``_WORDS`` in ``reports/picture/marks.py``), and, if
it takes a broker down, ``brokers_for`` in ``conformance/cluster_pool.py``.
"""

# ruff: noqa: I001 - in the order in which schedule-help tells them
from oracle.steps import produce, frames, brokers, topic, waits, questions

__all__ = ["brokers", "frames", "produce", "questions", "topic", "waits"]
