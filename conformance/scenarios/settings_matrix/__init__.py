"""EL-03: acks, min.insync.replicas, unclean election and replicas combined, one crash for each, in 36 scenarios."""
