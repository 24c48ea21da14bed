"""In-sync replicas: who leaves, who joins, by which clock, and who is told (IS-01 to IS-08).

Documents 002, 003 and 004; KIP-16, KIP-497, KIP-841, KIP-903, KIP-966.
"""
