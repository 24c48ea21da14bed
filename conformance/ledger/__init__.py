"""The ledger: what was attempted and what the producer was told, append-only and keyed by record id.

An attempt is on disk before its record is sent, so a crash can lose an answer but never an attempt.
Outcomes are three-valued: acknowledged, refused, indeterminate. Nothing in the ledger is edited later.
"""
