"""Who can drive one real broker into any state, without other brokers? Puppets that the tester speaks for.

A ``ControllerPuppet`` holds the controller's office in ZooKeeper and sends LeaderAndIsr, StopReplica and UpdateMetadata
with epochs of choice; a ``FollowerPuppet`` fetches with a replica id; a ``LeaderPuppet`` is the broker that a real
follower fetches from. ``PuppetRun`` starts a broker of a release with ZooKeeper (0.10.2 to 3.9) and hands puppets out.
"""
