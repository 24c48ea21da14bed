"""Leader epochs: when they rise, where they are written, what is asked by them, whom they shut out (LE-01 to LE-07).

Documents 000 and 001; KIP-101, KIP-279, KIP-320, KIP-595.
"""
