"""The brokers' own model for the explorer: the half steps of real brokers, searched exhaustively.

``model`` turns ``transitions.step`` into a bounded state graph, ``reductions`` says which interleavings need no visit
and why, and makes a state's exact key. ``path_to_schedule`` and ``shrinking`` make a counterexample a schedule for real
brokers; ``guarantee_table`` asks the explorer, for every release and every setting, whether an acknowledged record can
be lost.
"""
