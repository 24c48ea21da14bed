"""The commands of ``kafka-conformance``: one module each, called by the command line alone.

``worst_schedules`` is no command: ``make guarantees`` runs it.
"""
