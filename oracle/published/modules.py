"""Which modules are published, and how do they differ? One row each, from truncation to high watermark to fencing."""

from __future__ import annotations

from dataclasses import replace

from oracle.published.module import Module
from oracle.published.truncations import (
    cuts_by_kip_101,
    cuts_by_kip_279,
    cuts_in_two_ways,
    cuts_to_high_watermark,
)
from oracle.rules import fencing, isr

KAFKA_TRUNCATE_TO_HIGH_WATERMARK = Module(
    name="KafkaTruncateToHighWatermark",
    cuts=cuts_to_high_watermark,
    fences_truncation=False,
    serves=fencing.serves_any_epoch,
    counts=fencing.serves_any_epoch,
    acknowledges=fencing.serves_any_epoch,
    joins=isr.joins_at_high_watermark,
)
KIP_101 = replace(KAFKA_TRUNCATE_TO_HIGH_WATERMARK, name="Kip101", cuts=cuts_by_kip_101)
KIP_279 = replace(KIP_101, name="Kip279", cuts=cuts_in_two_ways)
KIP_320_FIRST_TRY = replace(
    KIP_279,
    name="Kip320FirstTry",
    cuts=cuts_by_kip_279,
    joins=isr.joins_at_epoch_start,
    checks_last_epoch=True,
)
KIP_320 = Module(
    name="Kip320",
    cuts=cuts_by_kip_279,
    fences_truncation=True,
    serves=fencing.is_served,
    counts=fencing.is_served,
    acknowledges=fencing.is_served,
    joins=isr.joins_at_epoch_start,
    tells_reasons_apart=True,
)
MODULES = (KAFKA_TRUNCATE_TO_HIGH_WATERMARK, KIP_101, KIP_279, KIP_320_FIRST_TRY, KIP_320)
