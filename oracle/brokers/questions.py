"""Can an acknowledged record be lost? The question for one release, one choice of settings and one kind of fault.

Releases with the same rules ask the same question, and so do settings that the rules do not read:
a question names only what can change its answer, so equal questions need one search.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from oracle.rules.rule_set import RuleSet
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, HighWatermarkCheckpoint

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """What a partition under search is made of, and how much may happen to it.

    Attributes:
        replicas: number of replicas; broker 1 leads first.
        records: how many records are sent at most, one by one.
        epochs: highest leader epoch that is searched on from; each election and, in most
            releases, each removal takes one.
        acks: what every producer waits for.
        settings: the topic's settings.
        checkpointing: when high watermarks reach the disk.
        kills: whether brokers are killed.
        stops: whether brokers stop gracefully.
        power_failure: whether one broker, once, dies and loses the tail of its log.
        late_joins: whether the controller takes its time to add a replica to the ISR.
        late_fetches: whether a fetch can reach its leader after its sender has died, one at a time.
    """

    replicas: int = 2
    records: int = 2
    epochs: int = 3
    acks: Acks = Acks.ALL
    settings: TopicSettings = field(default_factory=TopicSettings)
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT
    kills: bool = True
    stops: bool = False
    power_failure: bool = False
    late_joins: bool = False
    late_fetches: bool = False


UNREAD = {
    "version",
    "metadata",
    "rules",
    "allows_unclean_election",
    "answers_fetch_at_once",
    "elects_uncleanly_on_request",
    "finds_time_at_high_watermark",
    "followers_serve_consumers",
    "has_eligible_by_default",
    "heeds_message_format",
    "high_watermark_at_new_start",
    "last_epoch_after_empty_answer",
    "leaves_isr",
    "moves_in_session",
    "notes_epoch_in_any_format",
    "raises_high_watermark_on_shrink",
    "reassignment",
    "unknown_replica",
    "answers_when_stopped",
    "requests",
    "settings_changed",
    "stops_replica",
    "takes_request_of_start",
    "tells_latest_offset",
    "wakes_waiting_fetch",
}
"""What no event of the model reads: names, a leader that shrinks its ISR, moves, new settings, what clients ask."""


class Faults(StrEnum):
    """What may happen to brokers: the columns of the table."""

    KILLS = "kills"
    KILLS_WITHOUT_CHECKPOINT = "kills, no checkpoint"
    POWER_FAILURE = "stops, one power failure"


@dataclass(frozen=True, slots=True)
class GuaranteeCell:
    """A choice of settings, and what may happen: one cell of the table.

    Attributes:
        min_isr: min.insync.replicas, as configured.
        unclean: unclean.leader.election.enable.
    """

    acks: Acks
    min_isr: int
    unclean: bool
    replicas: int
    faults: Faults

    @property
    def settings(self) -> str:
        """Return the settings as one line, such as ``acks=all min.isr=2 unclean=off replicas=3``."""
        unclean = "on" if self.unclean else "off"
        return f"acks={self.acks_word} min.isr={self.min_isr} unclean={unclean} replicas={self.replicas}"

    @property
    def options(self) -> str:
        """Return the options that name the settings on the command line."""
        unclean = "on" if self.unclean else "off"
        return f"--acks {self.acks_word} --min-isr {self.min_isr} --unclean {unclean} --replicas {self.replicas}"

    @property
    def acks_word(self) -> str:
        """Return acks as producers are configured."""
        return self.acks.word

    @property
    def searched(self) -> GuaranteeCell:
        """Return the cell of the table: with more replicas than are searched, the one with the most."""
        return replace(self, replicas=min(self.replicas, SEARCHED[-1]))


SEARCHED = (1, 2, 3)
"""The numbers of replicas that are searched."""


def cells() -> Iterator[GuaranteeCell]:
    """Return every cell of one release, in the order of the table."""
    for replicas in SEARCHED:
        for acks in (Acks.ALL, Acks.LEADER, Acks.NONE):
            for min_isr in (1, 2, 3):
                for unclean in (False, True):
                    for faults in Faults:
                        yield GuaranteeCell(acks, min_isr, unclean, replicas, faults)


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """What one search needs to know, and nothing else.

    Attributes:
        rules: the rules without the release's name.
    """

    rules: RuleSet
    bounds: SearchBounds


def question(rules: RuleSet, cell: GuaranteeCell) -> SearchQuestion:
    """Return the question that a cell asks about a release, within the table's bounds."""
    bounds = SearchBounds(
        replicas=cell.replicas,
        records=2 if cell.replicas < 3 else 1,
        epochs=2 if cell.replicas > 2 and cell.faults is not Faults.POWER_FAILURE else 3,
        acks=cell.acks,
        settings=TopicSettings(_read_min_isr(rules, cell), cell.unclean),
        checkpointing=_checkpointing(cell.faults),
        kills=cell.faults is not Faults.POWER_FAILURE,
        stops=cell.faults is Faults.POWER_FAILURE,
        power_failure=cell.faults is Faults.POWER_FAILURE,
    )
    return SearchQuestion(rules, bounds)


def identity(asked: SearchQuestion) -> Hashable:
    """Return what two questions with the same answer have in common."""
    return (*(getattr(asked.rules, field.name) for field in fields(RuleSet) if field.name not in UNREAD), asked.bounds)


def _read_min_isr(rules: RuleSet, cell: GuaranteeCell) -> int:
    """Return the minimum that the rules go by; 1 where they do not ask for it."""
    is_read = cell.acks is Acks.ALL or rules.high_watermark_needs_min_isr
    return rules.effective_min_isr(cell.min_isr, cell.replicas) if is_read else 1


def _checkpointing(faults: Faults) -> HighWatermarkCheckpoint:
    if faults is Faults.KILLS_WITHOUT_CHECKPOINT:
        return HighWatermarkCheckpoint.NEVER
    return HighWatermarkCheckpoint.PROMPT
