"""One real broker among puppets, held against the model of its release: the ZooKeeper-era rows, and what follows."""
