"""What did the run's files show, as events of the model? Frames, faults, outcomes and measurements in one stream.

``event_stream`` merges the files of a run directory in the order of time, ``check`` has the oracle replay the
stream and writes what it says to ``trace_check.json``. Everything here reads files; nothing needs a broker.
"""
