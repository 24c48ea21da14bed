"""A bounded model checker: breadth-first search over any model of replication, exact and deterministic.

`model` says what a model and a property are, `search` visits every state a model can reach, `paths` rebuilds how
a state came about, `eventually` looks for behaviours that never get somewhere, `exploration` is what a search found.
"""
