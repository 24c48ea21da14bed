"""What do all regression scenarios have in common? A name and an id made of their issue, and the full profile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import EVERYWHERE, Where
from conformance.scenarios.vocabulary import brokers
from oracle.rules.release import has_mode
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import HighWatermarkCheckpoint, MetadataMode, Timing

if TYPE_CHECKING:
    from conformance.catalogue.questions import ScheduleQuestion
    from conformance.catalogue.signs import Sign
    from conformance.record.answers import Value
    from oracle.steps.step import Step


FAMILY = "regressions"


def regression(  # noqa: PLR0913 - what a scenario has, each with a name
    issue: str,
    *,
    requirement: str,
    explanation: str,
    sources: tuple[str, ...],
    steps: tuple[Step, ...],
    replicas: tuple[int, ...] = (1, 2),
    min_insync_replicas: int = 1,
    unclean: bool = False,
    message_format: str | None = None,
    timing: Timing = Timing.SESSION,
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT,
    where: Where = EVERYWHERE,
    questions: tuple[ScheduleQuestion, ...] = (),
) -> Scenario:
    """Return the regression scenario of an issue, such as ``KAFKA-1211``; the rest is a scenario's and a schedule's."""
    schedule = Schedule(
        id=f"{FAMILY}/{issue.lower()}",
        requirement=requirement,
        sources=(*sources, issue),
        replicas=brokers(*replicas),
        steps=steps,
        settings=TopicSettings(min_insync_replicas, unclean, message_format_version=message_format),
        timing=timing,
        checkpointing=checkpointing,
    )
    name = f"{FAMILY}/{issue}"
    return Scenario(name, schedule, explanation, where=where, questions=questions)


# What is in the track record? An issue, a release before it was repaired or built, one after, and what both show.


class Kind(StrEnum):
    """What the later release has done."""

    REPAIRED = "repaired defect"
    BUILT = "missing feature"


ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


@dataclass(frozen=True, slots=True)
class KnownDefect:
    """One known defect or missing feature, on a release that has it and on one that has it no more.

    Attributes:
        issue: as upstream names it.
        symptom: what goes wrong, in one sentence without its full stop.
        broken: the release that has it.
        fixed: a release that repaired it.
        metadata: who keeps the metadata on both.
        sign: by what it shows.
        there: what the broken release shows.
        here: what the fixed release shows.
        rules: the names of the rules that, changed and no others, have the broken release predicted as the fixed one.
        kind: whether it was a defect, or a feature that was not built yet.
    """

    issue: str
    symptom: str
    broken: str
    fixed: str
    metadata: MetadataMode
    sign: Sign
    there: Value
    here: Value
    rules: tuple[str, ...]
    kind: Kind = Kind.REPAIRED

    @property
    def scenario(self) -> str:
        """Return the name of its catalogue entry."""
        return f"{FAMILY}/{self.issue}"

    def command(self, release: str) -> str:
        """Return the command that shows it."""
        has_both = all(has_mode(release, mode) for mode in MetadataMode)
        mode = " --metadata zookeeper" if has_both and self.metadata is ZOOKEEPER else ""
        return f"kafka-conformance run {self.scenario} --kafka {release}{mode}"


# What is open in the newest release?


@dataclass(frozen=True, slots=True)
class OpenDefect:
    """A defect that no release has repaired yet.

    Attributes:
        issue: as upstream names it; None if nobody has reported it.
        symptom: what goes wrong, in one sentence without its full stop.
        seen_on: the lines on which it was seen, in words.
        command: shows it on the newest release.
        document: the page with its cause and its shortest steps on stock brokers, from the project's root.
    """

    issue: str | None
    symptom: str
    seen_on: str
    command: str
    document: str


OPEN: tuple[OpenDefect, ...] = (
    OpenDefect(
        None,
        "a broker cannot register again after a crash, once a topic is deleted whose min.insync.replicas was changed "
        "while the broker was an eligible leader replica",
        "every line from 4.1 on, and 4.0 with the feature",
        "kafka-conformance run EL-06/deleted-topic",
        "docs/findings/cleared-eligible-leaders.md",
    ),
    OpenDefect(
        None,
        "a replica that a reassignment removes stays an eligible leader replica, if fewer are left than "
        "min.insync.replicas; a partition whose only replica crashes then stays without a leader when it is back",
        "4.1.2, 4.3.1 and 4.4.0",
        "kafka-conformance run --schedule docs/findings/removed-eligible-leader-offline.yaml",
        "docs/findings/removed-eligible-leader.md",
    ),
    OpenDefect(
        None,
        "a follower that has truncated does not learn the high watermark until it moves, and gives a consumer none of "
        "the records below it",
        "3.4.1, 3.9.2/kraft and 4.4.0, not 3.4.0",
        "kafka-conformance run --schedule docs/findings/high-watermark-after-truncation.yaml",
        "docs/findings/high-watermark-after-truncation.md",
    ),
    OpenDefect(
        "KAFKA-19996",
        "below min.insync.replicas a replica that lacks records enters the ISR and is thrown out again, without end",
        "3.9.2/kraft and 4.4.0, not 3.6.2/kraft",
        "kafka-conformance run --schedule docs/findings/isr-flaps.yaml",
        "docs/findings/isr-flaps.md",
    ),
    OpenDefect(
        "KAFKA-15608, KAFKA-20961",
        "a leader whose replica is moved to another log directory forgets the leader epochs without records; once all "
        "records are deleted its followers fetch out of range without end, and one that has left the ISR stays out",
        "2.8.2, 3.5.2, 3.9.2 (KRaft), 4.0.2 and 4.4.0",
        "kafka-conformance run LE-08",
        "docs/findings/moved-replica.md",
    ),
)


# Which known replication defects does no scenario show, and why not?


@dataclass(frozen=True, slots=True)
class Unreached:
    """A known defect that is out of reach here.

    Attributes:
        issue: as upstream names it.
        symptom: what goes wrong.
        reason: why no schedule and no puppet brings it about on stock brokers.
    """

    issue: str
    symptom: str
    reason: str


UNREACHED: tuple[Unreached, ...] = (
    Unreached(
        "KAFKA-7104",
        "an immediate fetch answer names a log start offset after its records, in the releases that have KAFKA-5758",
        "records must be deleted between two readings of the log within one request: nothing on the wire is in between",
    ),
    Unreached(
        "KAFKA-9835, KAFKA-9807",
        "up to 2.5.0 and 2.4 a read beside an append, or beside a rise of the high watermark, gives what is not "
        "committed or not stable yet",
        "two threads of one broker must meet within microseconds: no frame is held in between",
    ),
    Unreached(
        "KAFKA-10432",
        "up to 2.6.0 recovery after a crash leaves epoch 0 out of the leader-epoch cache",
        "recovery fills in only what the file of epochs lacks, and that is written with the epoch's first record: it "
        "survives kill -9, and no fault here loses that file alone",
    ),
    Unreached(
        "KAFKA-13916",
        "up to 3.2 in KRaft mode a fenced replica enters the ISR",
        "KRaft is fit for use, and run here, from 3.3 on, which repaired it; KAFKA-14140 is the same with ZooKeeper",
    ),
    Unreached(
        "KAFKA-14154",
        "up to 3.2 a controller that was replaced and does not know it fences a leader that is ahead of it",
        "the leader's request must reach two controllers in turn: a cluster here has one, a puppet's broker is none",
    ),
    Unreached(
        "KAFKA-15353",
        "3.5.0 and 3.5.1: an AlterPartition that is sent again asks for an empty ISR",
        "only requests before version 3 are built so, which go to a controller of an earlier release, or under its "
        "inter-broker protocol: a cluster here is of one release",
    ),
    Unreached(
        "KAFKA-20634",
        "a group coordinator applies a high watermark over rows that it did not write",
        "consumer groups are no part of the model; 4.0.2, 4.1.2, 4.2.1 and 4.3.0 have it, 4.2.2, 4.3.1 and 4.4.0 "
        "repaired it",
    ),
    Unreached(
        "KAFKA-21110",
        "the documentation does not say that min.insync.replicas counts as at most the replication factor",
        "a gap in the documentation, not in what brokers do; open upstream",
    ),
)
