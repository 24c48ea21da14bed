"""What did the check of the wire trace find in a golden run? An allowed trace, a violated one, one not checked."""

from __future__ import annotations

from typing import Any

_INVARIANTS = (
    (14, "high_watermark_of_leader", "a leader's high watermark never falls", 89),
    (16, "fetch_offset", "a follower fetches at its log end offset", 102),
    (22, "frozen_high_watermark", "the high watermark stands still below the minimum", 0),
)


def allowed(rules_of: str) -> dict[str, Any]:
    """Return a trace_check.json in which every event is allowed."""
    return {
        "rules_of": rules_of,
        "why_not": None,
        "violation": None,
        "frames": 1652,
        "checked": {"AlterPartition": 2, "Fetch": 1408},
        "events": 3345,
        "invariants": [
            {"number": number, "name": name, "statement": statement, "held": held}
            for number, name, statement, held in _INVARIANTS
        ],
        "seconds": 0.1,
    }


def violated(rules_of: str) -> dict[str, Any]:
    """Return one in which a follower cut its log where it must not."""
    texts = {9: "node 2 to node 1, Fetch v17: from offset 2", 12: "node 2 to node 1, Fetch v17: from offset 1"}
    violation = {
        "invariant": 16,
        "name": "fetch_offset",
        "frame": 12,
        "at_s": 6.25,
        "observed": "broker 2 fetches from offset 1",
        "allowed": "from its log end offset, 2",
        "rule": "truncate-on-fetch",
        "frames": [{"seq": seq, "at_s": seq / 2, "text": text} for seq, text in texts.items()],
    }
    return allowed(rules_of) | {"violation": violation, "events": 44}


def not_checked(rules_of: str, why_not: str) -> dict[str, Any]:
    """Return one of a trace that could not be checked."""
    nothing = [{"number": 14, "name": "high_watermark_of_leader", "statement": "it never falls", "held": 0}]
    empty = {"frames": 0, "checked": {}, "events": 0, "invariants": nothing}
    return allowed(rules_of) | {"why_not": why_not} | empty
