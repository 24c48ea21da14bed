"""Which mistakes do the published specifications notice? They cut with the rules that predict brokers."""

from __future__ import annotations

from dataclasses import replace

from oracle.rules import kip_101, kip_279, truncate_to_high_watermark
from tests.oracle.mutants.killers import PublishedCount
from tests.oracle.mutants.mutant import Mutant
from tests.oracle.mutants.truncation import one_too_many, to_own_end

MUTANTS = (
    Mutant(
        "publishes-a-cut-of-one-too-many",
        "truncate_to_high_watermark",
        "the record just below the high watermark is cut as well",
        PublishedCount("KafkaTruncateToHighWatermark", "2/2/2/2", (24459, 10131, 20)),
        patches={
            "oracle.rules.truncate_to_high_watermark.TRUNCATION": replace(
                truncate_to_high_watermark.TRUNCATION, cut=one_too_many
            )
        },
    ),
    Mutant(
        "publishes-a-cut-to-high-watermark",
        "kip_101",
        "the answer is not looked at",
        PublishedCount("Kip101", "2/2/2/1", (2483, 1177, 15)),
        patches={
            "oracle.rules.kip_101.TRUNCATION": replace(
                kip_101.TRUNCATION, cut=truncate_to_high_watermark.cut_to_high_watermark
            )
        },
    ),
    Mutant(
        "publishes-a-cut-to-the-followers-own-end",
        "kip_279",
        "where both have the epoch, the follower cuts to its own end of it",
        PublishedCount("Kip279", "2/2/2/2", (23425, 9027, 18)),
        patches={"oracle.rules.kip_279.TRUNCATION": replace(kip_279.TRUNCATION, cut=to_own_end)},
    ),
)
