"""Elections: who may lead, who is asked first, and what the settings allow (EL-01 to EL-06).

Documents 001 to 004; KIP-966.
"""
