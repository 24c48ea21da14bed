"""What do the settings of a cluster that somebody else runs let it lose? It is read, and never written to."""
