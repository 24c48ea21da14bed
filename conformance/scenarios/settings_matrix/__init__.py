"""EL-03: acks, min.insync.replicas, unclean election and replicas, one crash a cell; 36 cells, 10 power failures."""
