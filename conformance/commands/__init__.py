"""The commands of ``kafka-conformance``: one module each, called by the command line alone."""
