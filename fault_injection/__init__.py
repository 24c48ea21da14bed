"""Everything that touches the system under test: releases, clusters, the wire and faults.

Nothing here knows what a scenario expects; it starts brokers, moves frames and reports what happened.
"""
