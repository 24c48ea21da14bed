"""A bounded model checker: breadth-first search over any model of replication, exact and deterministic.

`model` says what a model, a property and a path are, and what a search found; `search` visits every state a model can
reach, `eventually` looks for behaviours that never get somewhere.
"""
