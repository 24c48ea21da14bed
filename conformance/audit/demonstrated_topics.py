"""Which topic of a cluster is a finding demonstrated with? The worst finding's first one whose story shows the harm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.audit.checks_of_transactions import TRANSACTION_VERSION, level_of
from conformance.audit.demonstrated_defects import (
    EXAMPLE,
    KNOWN_DEFECT,
    defect_twins,
    example_level,
    late_request_twins,
)
from conformance.audit.demonstrations import DEMONSTRATIONS, NothingToShowError, Twins
from conformance.audit.release_seen import ReleaseSeen
from conformance.audit.stories import TopicCase
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audit import Audit, Row
    from conformance.audit.audited import Audited, TopicFacts
    from conformance.audit.cluster import PartitionSeen
    from conformance.line import Line

LEADERLESS = ("offline", "on-eligible-replicas")
POWER_FAILURE = ("one-rack", "unflushed-in-one-room")


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """What is demonstrated.

    Attributes:
        subject: the finding's, such as ``topic payments`` or ``cluster``; ``an example``.
    """

    check: str
    subject: str
    twins: Twins


def example(check: str, line: Line) -> Demonstrated:
    """Return a check's own example, which needs no cluster.

    Raises:
        NothingToShowError: it shows nothing on this release.
    """
    if check == KNOWN_DEFECT:
        twins = defect_twins(ReleaseSeen(line, (line.text,), is_named=True), EXAMPLE)
    elif check == TRANSACTION_VERSION:
        twins = late_request_twins(line, example_level(line))
    else:
        twins = DEMONSTRATIONS[check].twins(check, DEMONSTRATIONS[check].example, line)
    return Demonstrated(check, "an example", twins)


def found_by(found: Audit, check: str) -> Demonstrated:
    """Return what a check has found, on the first topic with which that can be shown.

    Raises:
        NothingToShowError: it found nothing, or nothing that its story shows.
    """
    line = found.audited.release.line
    if line is None:
        raise NothingToShowError("the release is not known: name it with --kafka")
    if check == TRANSACTION_VERSION and any(row.finding.check == check for row in found.rows):
        level = level_of(line.rules, found.audited.transaction_version or 0)
        return Demonstrated(check, "cluster", late_request_twins(line, level))
    why: NothingToShowError | None = None
    for subject, case in _each_once(found, check):
        try:
            return Demonstrated(check, subject, _twins(found.audited, check, case, line))
        except NothingToShowError as error:
            why = why or error
    raise why or NothingToShowError("the check has found nothing on this cluster")


def _twins(audited: Audited, check: str, case: TopicCase, line: Line) -> Twins:
    if check == KNOWN_DEFECT:
        own = TopicSettings(case.min_isr, case.unclean)
        return defect_twins(audited.release, own, has_eligible=audited.has_eligible)
    return DEMONSTRATIONS[check].twins(check, case, line)


def _each_once(found: Audit, check: str) -> Iterator[tuple[str, TopicCase]]:
    """Yield each kind of topic that a check has found, with the first subject that is so, the worst first."""
    first: dict[TopicCase, str] = {}
    for row in found.rows:
        if row.finding.check == check:
            for subject, case in _cases(found.audited, row):
                first.setdefault(case, subject)
    yield from ((subject, case) for case, subject in first.items())


def _cases(audited: Audited, row: Row) -> Iterator[tuple[str, TopicCase]]:
    for subject in row.subjects:
        kind, _, name = subject.partition(" ")
        for facts in audited.every_topic:
            if kind == "topic" and facts.name == name:
                yield subject, _case(audited, row, facts, None)
            elif kind == "partition":
                yield from ((subject, _case(audited, row, facts, one)) for one in _named(facts, name))
            elif kind in {"cluster", "broker"} and not facts.topic.is_internal:
                yield f"topic {facts.name}", _case(audited, row, facts, None)


def _named(facts: TopicFacts, name: str) -> Iterator[PartitionSeen]:
    return (one for one in facts.topic.partitions if f"{facts.name}-{one.number}" == name)


def _case(audited: Audited, row: Row, facts: TopicFacts, partition: PartitionSeen | None) -> TopicCase:
    check = row.finding.check
    return TopicCase(
        replicas=facts.replicas if partition is None else len(partition.replicas),
        min_isr=facts.needed,
        unclean=facts.is_unclean,
        acks=_acks(row),
        eligible=_eligible(audited),
        away=_away(audited, check, facts, partition),
        is_spread=False if check in POWER_FAILURE else None,
    )


def _acks(row: Row) -> Acks:
    """Return the acks that a finding is about; all where it is about none."""
    told = next((Acks(int(one.value)) for one in row.finding.evidence if one.what == "acks"), None)
    return Acks.ALL if told is None else told


def _eligible(audited: Audited) -> bool | None:
    """Return whether eligible leader replicas are on; None if they are as new clusters of the release have them."""
    is_usual = audited.rules is None or audited.has_eligible == audited.rules.has_eligible_by_default
    return None if is_usual else audited.has_eligible


def _away(audited: Audited, check: str, facts: TopicFacts, partition: PartitionSeen | None) -> int:
    if check in LEADERLESS:
        return 1
    if partition is not None:
        return len(partition.replicas) - len(partition.isr)
    if check == "replicas-nowhere" and audited.registered is not None:
        return max(len(set(one.replicas) - audited.registered) for one in facts.topic.partitions)
    return 0
