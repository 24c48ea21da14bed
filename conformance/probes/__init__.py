"""What every replica holds and believes, asked without disturbing it.

Probes read a live broker's log end offset, high watermark and metadata over its client listener, the
controller's committed partition state, and the files of a replica whose broker is down. No probe carries a
real replica id, so no probe counts as replication.
"""
