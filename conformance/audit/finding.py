"""What does a check say? Findings, with evidence, harm and the smallest mend; and what it could not see."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.audit.audited import Audited
    from conformance.audit.cluster import Setting


class Severity(IntEnum):
    """How bad a finding is; the higher the worse.

    LOW: nothing is lost or stops by it alone. MEDIUM: one failure stops writes, or hides the next one. HIGH: one
    failure more than the settings allow for, or a power failure, loses acknowledged records. CRITICAL: one broker's end
    loses them, or they cannot be read or written now.
    """

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        """Return the severity as the command line takes it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Ground:
    """A value that a finding rests on.

    Attributes:
        what: such as ``min.insync.replicas``.
        value: as it was read.
        source: where it comes from, such as ``topic`` or ``built-in``; of what is no setting, the request that told it.
    """

    what: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What one check says of one subject.

    Attributes:
        check: id of the check.
        subject: a topic, such as ``topic payments``; a partition; a broker; ``cluster``.
        harm: what can be lost, or what stops, on this release.
        mend: the smallest change that mends it.
        command: the change as a command, which is never run; None if no command makes it.
        issue: of a known defect, or of what a late request does; None of what is none.
    """

    check: str
    severity: Severity
    subject: str
    evidence: tuple[Ground, ...]
    harm: str
    mend: str
    command: str | None = None
    issue: str | None = None


@dataclass(frozen=True, slots=True)
class Unseen:
    """What a check could not look at.

    Attributes:
        check: its id.
        subject: as of ``AuditFinding``.
        why: in words.
    """

    check: str
    subject: str
    why: str


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """A question that an audit asks.

    Attributes:
        id: stays the same in every version of the tester.
        asks: the question, in a few words.
        source: KIP, issue, or Kafka setting that it rests on.
        look: yields what it finds, and what it could not see.
        is_of_topics: whether it finds nothing where no topic is seen.
    """

    id: str
    asks: str
    source: str
    look: Callable[[Audited], Iterator[AuditFinding | Unseen]]
    is_of_topics: bool = True


def setting_ground(name: str, setting: Setting) -> Ground:
    """Return a setting as evidence."""
    return Ground(name, "not shown" if setting.value is None else setting.value, setting.source.value)
