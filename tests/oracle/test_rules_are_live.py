"""Does every rule matter? With one rule taken back or brought forward, some story must read differently.

Left out are ``keeps_epoch_without_cut``, for which a live leader must lose its role, and
``tells_latest_offset``, which only consumers notice: each has a test of its own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oracle.rules import (
    caught_up,
    delivery,
    isr_eligibility,
    isr_join,
    isr_shrink,
    kip_279,
    kip_320,
    same_leader,
    strict_min_isr,
)
from oracle.rules import truncate_to_high_watermark as old_truncation
from tests.oracle.transcript import rewritten

if TYPE_CHECKING:
    from collections.abc import Iterator

STORIES = [path.read_text() for path in sorted((Path(__file__).parent / "transcripts").glob("*.txt"))]
CHANGES: list[tuple[str, Any]] = [
    ("truncation", old_truncation.TRUNCATION),
    ("truncation", kip_279.TRUNCATION),
    ("skips_truncation", same_leader.skips),
    ("skips_truncation", same_leader.skips_one_epoch),
    ("skips_truncation", same_leader.never_skips),
    ("writes_epoch_on_election", True),
    ("writes_epoch_on_election", False),
    ("joins_isr", isr_join.at_high_watermark),
    ("joins_isr", isr_join.at_epoch_start),
    ("asks_controller_to_join", False),
    ("may_join", isr_eligibility.any_replica),
    ("may_join", isr_eligibility.unfenced),
    ("may_join", isr_eligibility.of_this_start),
    ("delivery", delivery.LEADER_AND_ISR),
    ("delivery", delivery.METADATA_LOG),
    ("serves_epoch", kip_320.is_served),
    ("serves_epoch", kip_320.serves_any_epoch),
    ("effective_min_isr", strict_min_isr.as_configured),
    ("effective_min_isr", strict_min_isr.at_most_all),
    ("high_watermark_needs_min_isr", True),
    ("high_watermark_needs_min_isr", False),
    ("waits_for_caught_up", caught_up.every),
    ("waits_for_caught_up", caught_up.registered),
    ("waits_for_caught_up", caught_up.eligible),
    ("trusts_last_fetch_on_re_election", True),
    ("trusts_last_fetch_on_re_election", False),
    ("counts_diverging_fetch", True),
    ("counts_diverging_fetch", False),
    ("takes_high_watermark_before_cut", True),
    ("takes_high_watermark_before_cut", False),
    ("drops_stale_lookups", True),
    ("drops_stale_lookups", False),
    ("drops_stale_fetches", True),
    ("drops_stale_fetches", False),
    ("answers_new_high_watermark", True),
    ("answers_new_high_watermark", False),
    ("exits_when_ahead", False),
    ("leaves_isr", isr_shrink.silent),
    ("leaves_isr", isr_shrink.behind),
    ("raises_high_watermark_on_shrink", True),
    ("raises_high_watermark_on_shrink", False),
    ("checks_every_fetch", True),
    ("checks_every_fetch", False),
]


def differing(field: str, value: object) -> Iterator[str]:
    return (story for story in STORIES if rewritten(story, lambda rules: replace(rules, **{field: value})) != story)  # type: ignore[arg-type]


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=lambda value: getattr(value, "__name__", str(value)[:40]))
def test_a_changed_rule_changes_a_story(field: str, value: object) -> None:
    assert next(differing(field, value), None) is not None


def test_a_rule_set_that_is_not_changed_changes_nothing() -> None:
    assert next(differing("version", "another name"), None) is None
