"""Which mistakes do the published specifications notice? They cut with the rules that predict brokers."""

from __future__ import annotations

from dataclasses import replace

from oracle.rules import truncation
from tests.oracle.mutants.killers import PublishedCount
from tests.oracle.mutants.mutant import Mutant
from tests.oracle.mutants.truncation import one_too_many, to_own_end

MUTANTS = (
    Mutant(
        "publishes-a-cut-of-one-too-many",
        "truncation.TRUNCATE_TO_HIGH_WATERMARK",
        "the record just below the high watermark is cut as well",
        PublishedCount("KafkaTruncateToHighWatermark", "2/2/2/2", (24459, 10131, 20)),
        patches={"oracle.rules.truncation.TO_HIGH_WATERMARK": replace(truncation.TO_HIGH_WATERMARK, cut=one_too_many)},
    ),
    Mutant(
        "publishes-a-cut-to-high-watermark",
        "truncation.TRUNCATE_BY_LEADER_EPOCH",
        "the answer is not looked at",
        PublishedCount("Kip101", "2/2/2/1", (2483, 1177, 15)),
        patches={"oracle.rules.truncation.KIP_101": replace(truncation.KIP_101, cut=truncation.cut_to_high_watermark)},
    ),
    Mutant(
        "publishes-a-cut-to-the-followers-own-end",
        "truncation.TRUNCATE_TO_COMMON_EPOCH",
        "where both have the epoch, the follower cuts to its own end of it",
        PublishedCount("Kip279", "2/2/2/2", (23425, 9027, 18)),
        patches={"oracle.rules.truncation.KIP_279": replace(truncation.KIP_279, cut=to_own_end)},
    ),
)
