"""Truncation, loss and divergence around leader changes (documents 000, 001 and 003; KIP-101, KIP-279, KIP-595)."""

from __future__ import annotations

from conformance.scenarios.truncation.tr_01_restarted_follower import (
    RESTARTED_FOLLOWER as RESTARTED_FOLLOWER,  # tests start from it
)
