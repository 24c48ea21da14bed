"""Which mistakes can a broker make that is asked by a consumer? Mutants of what brokers tell clients."""

from __future__ import annotations

from oracle.steps.questions import Consume, ListOffsets
from oracle.vocabulary import Label, OffsetSpec
from tests.oracle.mutants.killers import Answer
from tests.oracle.mutants.mutant import Mutant, with_fields
from tests.oracle.mutants.questions import told_by_a_broker
from tests.oracle.schedules import TWO

BY_TIME = ListOffsets(OffsetSpec.TIMESTAMP, timestamp_of=Label("m0"))

MUTANTS = (
    Mutant(
        "followers-serve-nobody",
        "consumers.KIP_392",
        "2.4 lets consumers read at the leader only",
        Answer(told_by_a_broker("2.4.1", Consume(TWO)), (("error", None), ("records", ()), ("high_watermark", 0))),
        with_fields(followers_serve_consumers=False),
    ),
    Mutant(
        "followers-serve-everybody",
        "consumers.KIP_392",
        "2.3 lets consumers read at followers",
        Answer(
            told_by_a_broker("2.3.1", Consume(TWO)),
            (("error", "NOT_LEADER_OR_FOLLOWER"), ("records", ()), ("high_watermark", None)),
        ),
        with_fields(followers_serve_consumers=True),
    ),
    Mutant(
        "finds-by-time-what-is-committed-only",
        "consumers.LOOKUP_ENDS_AT_HIGH_WATERMARK",
        "0.10.2 does not find the record at the high watermark",
        Answer(told_by_a_broker("0.10.2.2", BY_TIME), (("error", None), ("offset", 0))),
        with_fields(finds_time_at_high_watermark=False),
    ),
    Mutant(
        "finds-by-time-what-is-not-committed",
        "consumers.LOOKUP_ENDS_AT_HIGH_WATERMARK",
        "0.11 finds the record at the high watermark",
        Answer(told_by_a_broker("0.11.0.3", BY_TIME), (("error", None), ("offset", None))),
        with_fields(finds_time_at_high_watermark=True),
    ),
)
