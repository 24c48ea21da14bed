"""What is in the directory of a ledger that ran beside somebody else's cluster? Its files, by name and form.

``attach.json`` says what was asked and how far it is; ``watched.ndjson`` what the cluster told meanwhile;
``settings.ndjson`` the topic's settings at every look; ``conformance.record.fault_commands`` what broke it;
``epoch_ends.ndjson`` where leader epochs ended, at rest; ``ledger/`` and ``topic/`` as of a run; ``reconciliation/``
what Spark counted (``attached_counted``); ``verdict.json`` the end of it.
No file has a password.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from conformance.record.directory import AppendedLines
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conformance.record.directory import RunDirectory

ATTACH_FILE = "attach.json"
WATCHED_FILE = "watched.ndjson"
SETTINGS_FILE = "settings.ndjson"
EPOCH_ENDS_FILE = "epoch_ends.ndjson"
VERDICT_FILE = "verdict.json"
IDS_MAX = 2**32
"""How many record ids one ledger has for itself, from its base on."""


class Promised(StrEnum):
    """What a class of records, or the whole of them, means for what the settings promise.

    KEPT, ALLOWED_BY_SETTINGS, BROKEN, NONE: as of a run (``oracle.guarantees``). UNSEEN: cannot be told on this
    release, or by this user. INCONCLUSIVE: what was read does not decide it.
    """

    KEPT = "kept"
    ALLOWED_BY_SETTINGS = "allowed_by_settings"
    BROKEN = "broken"
    NONE = "none"
    UNSEEN = "unseen"
    INCONCLUSIVE = "inconclusive"


class Phase(StrEnum):
    """How far a ledger is: records are produced; all were; the topic was read; it was judged."""

    PRODUCING = "producing"
    PRODUCED = "produced"
    READ = "read"
    JUDGED = "judged"


@dataclass(frozen=True, slots=True)
class Attached:
    """What was asked of a ledger, and how far it is.

    Attributes:
        bootstrap: ``host:port`` of brokers, separated by commas.
        cluster: its id; None if the release has none.
        topic_id: of the topic; None where brokers do not tell it (before 2.8). One of the same name, created again, has
            another one.
        partitions: of the topic; record ``base + n`` goes to partition n modulo this.
        acks: as the producers' setting has it: -1, 1 or 0.
        base: the first record id; the ledger's ids are the ``IDS_MAX`` from there on.
        rate: records a second; None as fast as the cluster takes them.
        is_own: whether the topic was created for this ledger.
        beside_others: whether records of others may be in the topic.
        starts: log end offset of each partition before the first record.
        ends: high watermark of each partition at rest, after the last; empty before.
        log_starts: log start offset of each partition then.
        is_at_rest: whether every partition was read up to its log end; None before.
        unread: why not, in words.
        not_told: what brokers do not tell here, and what was gone by instead, in sentences.
        began_ns, ended_ns: wall clock, when records began to be sent, and when all outcomes were known.
        senders: the first record id of each producer after the first one: one that fails for good is replaced.
    """

    bootstrap: str
    topic: str
    partitions: int
    replicas: int
    acks: int
    is_idempotent: bool
    base: int
    value_length: int
    began_ns: int
    cluster: str | None = None
    topic_id: str | None = None
    records: int | None = None
    rate: int | None = None
    is_own: bool = False
    beside_others: bool = False
    phase: Phase = Phase.PRODUCING
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    log_starts: tuple[int, ...] = ()
    is_at_rest: bool | None = None
    unread: str | None = None
    not_told: tuple[str, ...] = ()
    ended_ns: int | None = None
    senders: tuple[int, ...] = ()

    @property
    def servers(self) -> list[str]:
        """Return ``host:port`` of each broker that was named."""
        return self.bootstrap.split(",")

    @property
    def acks_word(self) -> str:
        """Return acks as producers have it: ``all``, ``1`` or ``0``."""
        return Acks(self.acks).word


@dataclass(frozen=True, slots=True)
class PartitionWatched:
    """What one partition was like at a moment.

    Attributes:
        at_ns: wall clock.
        leader: None if there is none.
        leader_epoch: None where the release does not tell it, or not reliably (before 2.4, KAFKA-9212).
        told_by: the broker that told leader and ISR.
        high_watermark: as its leader tells it to consumers; None if it did not answer.
        assigned: the brokers that are to have it; while it is reassigned, those before and after. Empty if not noted.
    """

    at_ns: int
    partition: int
    leader: int | None
    leader_epoch: int | None
    isr: tuple[int, ...]
    told_by: int
    high_watermark: int | None = None
    assigned: tuple[int, ...] = ()

    def is_whole(self, replicas: int) -> bool:
        """Return whether every replica is in sync; ``replicas`` says how many there are where that is not noted."""
        return set(self.assigned) <= set(self.isr) if self.assigned else len(self.isr) >= replicas


@dataclass(frozen=True, slots=True)
class SettingsWatched:
    """The topic's settings at a look.

    Attributes:
        at_ns: wall clock, before it was asked.
        values: by name; empty if they cannot be seen.
        why_not: why they, or the whole cluster, could not be seen.
        sources: by name where the value comes from, in the words of ``conformance.audit.cluster.Source``.
        is_kraft: whether controllers decide that are no brokers; None if brokers do not tell it, or are migrated.
        unclean_by_broker: whether unclean elections are on, as each broker has it, where a broker's own value holds;
            None of one that did not answer. Empty where the topic, or a default of the cluster, sets it.
    """

    at_ns: int
    values: Mapping[str, str | None] = field(default_factory=dict)
    why_not: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    is_kraft: bool | None = None
    unclean_by_broker: Mapping[int, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpochEndTold:
    """Where a leader epoch ended in a partition's log, as its leader told it at rest (OffsetForLeaderEpoch, KIP-101).

    Attributes:
        leader_epoch: that was asked for.
        end_offset: the first offset of a later epoch, or the log end.
    """

    partition: int
    leader_epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What one class of records, or one thing that clients saw, means for what the settings promise.

    Attributes:
        what: such as ``lost``.
        count: how many records, or times.
        reason: in a sentence.
    """

    what: str
    count: int
    verdict: Promised
    reason: str


@dataclass(frozen=True, slots=True)
class AttachVerdict:
    """The end of it.

    Attributes:
        promise: the worst of ``judged``.
        judged: by class and by what clients saw.
        rests_on: what the verdict supposes, and what was seen of the cluster.
    """

    promise: Promised
    reason: str
    judged: tuple[Judged, ...]
    rests_on: tuple[str, ...]


def append_lines(run: RunDirectory, name: str, records: Iterable[object]) -> None:
    """Append records to a file of one a line."""
    lines = AppendedLines(run.path / name)
    for one in records:
        lines.append(one)
    lines.close()


def note(run: RunDirectory, attached: Attached, **changes: object) -> Attached:
    """Write how far a ledger is now, and return it."""
    changed = replace(attached, **changes)  # type: ignore[arg-type]
    run.write(ATTACH_FILE, changed)
    return changed


def read_attached(run: RunDirectory) -> Attached:
    """Read what was asked, and how far it is.

    Raises:
        RunDirectoryError: the directory has no ledger of this kind.
    """
    return run.read(ATTACH_FILE, Attached)


def read_watched(run: RunDirectory) -> list[PartitionWatched]:
    """Read what the cluster told; a last line that was cut is left out."""
    return run.lines(WATCHED_FILE, msgspec.json.Decoder(PartitionWatched).decode, may_be_cut=True)


def read_settings(run: RunDirectory) -> list[SettingsWatched]:
    """Read every look at the topic's settings."""
    return run.lines(SETTINGS_FILE, msgspec.json.Decoder(SettingsWatched).decode, may_be_cut=True)


def read_epoch_ends(run: RunDirectory) -> list[EpochEndTold]:
    """Read where leader epochs ended; none where brokers do not tell it."""
    return run.lines(EPOCH_ENDS_FILE, msgspec.json.Decoder(EpochEndTold).decode, may_be_cut=True)
