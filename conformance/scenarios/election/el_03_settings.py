"""What do acks, min.insync.replicas, unclean election and the number of replicas mean for a record? Cell by cell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import EVERYWHERE, Where
from conformance.scenarios.election import crashes
from conformance.scenarios.vocabulary import brokers, produce
from oracle.schedule import Schedule, TopicSettings
from oracle.schedule_format import decode_step
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.steps.step import Step

ACKS = {"all": Acks.ALL, "1": Acks.LEADER, "0": Acks.NONE}
MIN_ISR, REPLICAS = (1, 2, 3), (2, 3)


@dataclass(frozen=True, slots=True)
class SettingsCombination:
    """One combination of settings.

    Attributes:
        acks: all, 1 or 0, as producers are configured.
        min_isr: min.insync.replicas.
        unclean: unclean.leader.election.enable.
    """

    acks: str
    min_isr: int
    unclean: bool
    replicas: int

    @property
    def words(self) -> str:
        """Return the settings as one word, such as ``acks=all,min=2,unclean=off,replicas=3``."""
        unclean = "on" if self.unclean else "off"
        return f"acks={self.acks},min={self.min_isr},unclean={unclean},replicas={self.replicas}"

    @property
    def after_kills(self) -> str:
        """Return the entry that does to a cell the worst that killing brokers can do."""
        return f"EL-03/{self.words}"

    @property
    def after_power_failure(self) -> str:
        """Return the entry of a cell to which a power failure can do more than kills."""
        return f"EL-03/power-failure,{self.words}"

    @property
    def settings(self) -> TopicSettings:
        """Return the topic's settings."""
        return TopicSettings(min_insync_replicas=self.min_isr, unclean_leader_election=self.unclean)

    @classmethod
    def of_words(cls, words: str) -> SettingsCombination:
        """Return the cell that ``words`` names."""
        acks, min_isr, unclean, replicas = (part.partition("=")[2] for part in words.split(","))
        return cls(acks, int(min_isr), unclean == "on", int(replicas))


def crash_of(cell: SettingsCombination) -> tuple[Step, ...]:
    """Return the worst that crashes can do to a cell."""
    if cell.acks != "all":
        ahead = crashes.leader_dies_ahead(cell.replicas, ACKS[cell.acks])
        return ahead + crashes.lone_leader_is_followed_by_less(cell.replicas, ACKS[cell.acks])
    if cell.min_isr > cell.replicas:
        return crashes.minimum_exceeds_the_replicas()
    if cell.replicas == 3:
        loses_a_suffix = cell.unclean and cell.min_isr < 3
        return crashes.follower_of_a_new_leader_leads() + (
            crashes.replica_outside_the_isr_leads() if loses_a_suffix else ()
        )
    return _TWO_REPLICAS[cell.min_isr, cell.unclean]()


_TWO_REPLICAS: dict[tuple[int, bool], Callable[[], tuple[Step, ...]]] = {
    (1, False): lambda: crashes.lone_leader_dies(produce("m1")),
    (2, False): lambda: crashes.lone_leader_dies(crashes.refused("m1")),
    (1, True): crashes.both_lead_alone,
    (2, True): crashes.restarted_follower_leads,
}


EXPLANATION = (
    "One cell of the settings matrix: the sends that are accepted or refused, the promise that the settings make about "
    "each record, and what is left of it by the worst that killing brokers can do, or by one power failure where that "
    "can do more, as the guarantee table knows it."
)
POWER_FAILURES = files(__package__) / "power_failures.json"
"""By the words of a cell, the steps that the explorer found for it (``make guarantees``)."""
COUNTS_AT_MOST_THE_REPLICAS = Where(
    since="3.7.0", why="before, a minimum above the number of replicas refuses every record"
)


def _after_power_failure(words: str, steps: list[object]) -> Scenario:
    cell = SettingsCombination.of_words(words)
    variant = cell.after_power_failure.removeprefix("EL-03/")
    return Scenario(
        name=cell.after_power_failure,
        explanation=EXPLANATION,
        schedule=Schedule(
            id=f"election/settings/{variant}",
            requirement=f"One power failure loses what the guarantee table says: {variant.replace(',', ', ')}.",
            sources=("EL-03", "003", *(() if cell.unclean else ("KIP-966",))),
            replicas=brokers(*range(1, cell.replicas + 1)),
            settings=cell.settings,
            steps=tuple(decode_step(index, step) for index, step in enumerate(steps)),
        ),
        where=COUNTS_AT_MOST_THE_REPLICAS if cell.min_isr > cell.replicas else EVERYWHERE,
    )


def _scenario(cell: SettingsCombination) -> Scenario:
    return Scenario(
        name=cell.after_kills,
        explanation=EXPLANATION,
        schedule=Schedule(
            id=f"election/settings/{cell.words}",
            requirement=f"With {cell.words.replace(',', ', ')} a record is refused, kept or lost as the settings say.",
            sources=("EL-03", "001", "003", "KIP-101", "KIP-279"),
            replicas=brokers(*range(1, cell.replicas + 1)),
            settings=cell.settings,
            steps=crash_of(cell),
        ),
    )


CELLS = tuple(SettingsCombination(*one) for one in product(ACKS, MIN_ISR, (False, True), REPLICAS))
OF_CELLS = tuple(_scenario(cell) for cell in CELLS)
_KEPT: dict[str, list[object]] = json.loads(POWER_FAILURES.read_text("utf-8"))
OF_POWER_FAILURES = tuple(_after_power_failure(words, steps) for words, steps in _KEPT.items())
WITH_POWER_FAILURE = frozenset(map(SettingsCombination.of_words, _KEPT))
"""The cells that lose to a power failure what kills cannot take from them."""
SCENARIOS = (*OF_CELLS, *OF_POWER_FAILURES)
