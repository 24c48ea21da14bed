"""What can be done to a broker that follows? It is given leaders with logs of choice, living and dying ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.puppet_scripts.acts import EPOCHS, NUMBERS, in_words, measured_epochs, predicted_epochs
from conformance.puppet_scripts.modelled_broker import ASSIGNMENT, REAL
from conformance.puppet_scripts.puppet_topic import entries_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.catalogue.questions import Expected
    from conformance.puppet_scripts.modelled_broker import ModelledBroker
    from conformance.puppet_scripts.puppet_topic import PuppetStage
    from conformance.record.answers import Value

REQUESTS = "what it asks until it is at rest"
FIRST_REQUEST = "what it asks first"
IDLE_REQUESTS = "what it asks while there is nothing new"
RECORDS = "records on disk"
FETCH_OFFSET = "offset that it fetches at"


@dataclass(frozen=True, slots=True)
class Follow:
    """The controller makes the broker follow a puppet, which has a log and a high watermark of choice.

    Attributes:
        log: the leader's records, as (leader epoch, labels of one letter) in order.
        high_watermark: what the leader tells; it stands still.
    """

    leader: int
    leader_epoch: int
    log: tuple[tuple[int, str], ...]
    high_watermark: int

    @property
    def text(self) -> str:
        """Return it in words."""
        records = ", ".join(f"{labels} of epoch {epoch}" for epoch, labels in self.log)
        has = f"{records}; high watermark {self.high_watermark}"
        return f"broker {REAL} follows broker {self.leader} in epoch {self.leader_epoch} ({has})"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Run the modelled follower to rest."""
        asked = model.follow(self.leader, self.leader_epoch, entries_of(self.log), self.high_watermark)
        return {
            REQUESTS: [in_words(words) for words in asked],
            NUMBERS: [model.log_end_offset, model.high_watermark],
            RECORDS: [*model.labels],
            EPOCHS: predicted_epochs(model),
        }

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Let the real one come to rest: it repeats one fetch."""
        asked = stage.follow(self.leader, self.leader_epoch, entries_of(self.log), self.high_watermark)
        return {
            REQUESTS: [in_words(words) for words in asked],
            NUMBERS: [*stage.numbers()],
            RECORDS: [*stage.values_on_disk()],
            EPOCHS: measured_epochs(stage, expected),
        }


@dataclass(frozen=True, slots=True)
class FollowIntoSilence:
    """The broker follows a puppet that dies before it answers anything."""

    leader: int
    leader_epoch: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return (
            f"broker {REAL} follows broker {self.leader} in epoch {self.leader_epoch}, "
            "which dies before it answers the first request"
        )

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Let the model hear the decision and ask."""
        model.decide(self.leader, self.leader_epoch, ASSIGNMENT)
        return {FIRST_REQUEST: in_words(model.first_request())}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Hold the first request and close every connection."""
        del expected  # whatever comes first
        asked = stage.follow_into_silence(self.leader, self.leader_epoch)
        return {FIRST_REQUEST: None if asked is None else in_words(asked)}


@dataclass(frozen=True, slots=True)
class Watch:
    """Look whether the broker fetches from a puppet."""

    leader: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"broker {self.leader} waits for fetches of broker {REAL}"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Fetch at the log end offset from the leader, and from nobody else."""
        return {FETCH_OFFSET: model.log_end_offset if model.leader == self.leader else None}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Wait for several rounds."""
        is_expected = expected[FETCH_OFFSET] is not None
        return {FETCH_OFFSET: stage.fetch_offset(self.leader, is_expected=is_expected)}


@dataclass(frozen=True, slots=True)
class WatchIdling:
    """Look what the broker asks a leader that has nothing new for it."""

    leader: int

    @property
    def text(self) -> str:
        """Return it in words."""
        return f"broker {self.leader} has nothing new for several rounds"

    def predict(self, model: ModelledBroker) -> Mapping[str, Expected]:
        """Repeat the last request."""
        assert model.idle is not None
        return {IDLE_REQUESTS: [in_words(model.idle)]}

    def measure(self, stage: PuppetStage, expected: Mapping[str, Expected]) -> Mapping[str, Value]:
        """Count each distinct request once."""
        del expected  # at rest
        return {IDLE_REQUESTS: [in_words(words) for words in stage.idle_words(self.leader)]}
