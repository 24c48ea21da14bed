"""Which single rule of Kip320 can be left out? None: each row here leaves one out, and loses records.

`without-maximal-isr` is AsyncIsr's. With unclean election StrongIsr cannot hold, whatever the rules; what must still
hold is that a follower's log is a prefix of its leader's in the same epoch (FollowerIsPrefix).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.published.modules import KIP_320
from oracle.published.truncations import cuts_by_kip_101, cuts_in_two_ways, cuts_to_high_watermark
from oracle.rules import isr_join, kip_320

if TYPE_CHECKING:
    from oracle.published.module import Module

UNCLEAN = replace(KIP_320, name="Kip320/with-unclean-election", elects_uncleanly=True)


def _without(what: str, **rules: object) -> Module:
    return replace(KIP_320, name=f"Kip320/{what}", **rules)  # type: ignore[arg-type]


TO_HIGH_WATERMARK = _without("truncates-to-high-watermark", cuts=cuts_to_high_watermark)
BY_KIP_101 = _without("looks-up-by-kip-101", cuts=cuts_by_kip_101)
BY_KIP_101_WITH_ENTRY = _without(
    "looks-up-by-kip-101-with-epoch-entry", cuts=cuts_by_kip_101, enters_epoch_on_election=True
)
ABLATIONS = (
    TO_HIGH_WATERMARK,
    BY_KIP_101,
    BY_KIP_101_WITH_ENTRY,
    _without("without-truncation-fence", cuts=cuts_in_two_ways, fences_truncation=False),
    _without("joins-at-high-watermark", joins=isr_join.at_high_watermark),
    _without("without-fetch-fence", serves=kip_320.serves_any_epoch),
    _without("without-high-watermark-fence", counts=kip_320.serves_any_epoch),
    UNCLEAN,
    replace(BY_KIP_101, name="Kip320/looks-up-by-kip-101-with-unclean-election", elects_uncleanly=True),
    replace(
        BY_KIP_101_WITH_ENTRY,
        name="Kip320/looks-up-by-kip-101-with-epoch-entry-and-unclean-election",
        elects_uncleanly=True,
    ),
)
