"""By what does a defect show, and what does the model say of it? One number, answer or promise of a prediction.

A sign is read from the prediction alone. A run that conforms has measured the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from conformance.catalogue.examination import Examination
from conformance.catalogue.questions import Took
from conformance.record.answers import Between
from conformance.record.prediction import frozen_form
from conformance.record.verdict import PromiseKept
from oracle.guarantees import PromiseVerdict
from oracle.predict import predict

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry
    from conformance.catalogue.questions import Expected
    from oracle.prediction import Moment, Prediction
    from oracle.rules.rule_set import RuleSet


class Sign(Protocol):
    """Something that a release with the defect shows otherwise than one without it."""

    @property
    def text(self) -> str:
        """What is looked at, in words."""

    def read(self, entry: Entry, rules: RuleSet) -> Expected:
        """Return what the model says of it on a release."""


@dataclass(frozen=True, slots=True)
class PromiseSign:
    """Whether the durability promise of the settings is kept."""

    @property
    def text(self) -> str:
        """What is looked at."""
        return "promise"

    def read(self, entry: Entry, rules: RuleSet) -> str:
        """Return the predicted verdict about the promise."""
        return predicted_promise(_prediction(entry, rules)).value


@dataclass(frozen=True, slots=True)
class HighWatermark:
    """A replica's high watermark at a checkpoint."""

    checkpoint: str
    broker: int

    @property
    def text(self) -> str:
        """What is looked at."""
        return f"broker {self.broker}'s high watermark when {self.checkpoint}"

    def read(self, entry: Entry, rules: RuleSet) -> int:
        """Return the predicted number."""
        moment = _moment(entry, rules, self.checkpoint)
        return next(numbers.high_watermark for broker, numbers in moment.replicas.items() if broker == self.broker)


@dataclass(frozen=True, slots=True)
class LogEndOffset:
    """A replica's log end offset at a checkpoint."""

    checkpoint: str
    broker: int

    @property
    def text(self) -> str:
        """What is looked at."""
        return f"broker {self.broker}'s log end offset when {self.checkpoint}"

    def read(self, entry: Entry, rules: RuleSet) -> int:
        """Return the predicted number."""
        moment = _moment(entry, rules, self.checkpoint)
        return next(numbers.log_end_offset for broker, numbers in moment.replicas.items() if broker == self.broker)


@dataclass(frozen=True, slots=True)
class Isr:
    """The in-sync replicas at a checkpoint."""

    checkpoint: str

    @property
    def text(self) -> str:
        """What is looked at."""
        return f"ISR when {self.checkpoint}"

    def read(self, entry: Entry, rules: RuleSet) -> Expected:
        """Return the predicted replicas."""
        return [int(broker) for broker in sorted(_moment(entry, rules, self.checkpoint).isr)]


@dataclass(frozen=True, slots=True)
class Leader:
    """The leader at a checkpoint."""

    checkpoint: str

    @property
    def text(self) -> str:
        """What is looked at."""
        return f"leader when {self.checkpoint}"

    def read(self, entry: Entry, rules: RuleSet) -> int | None:
        """Return the predicted leader."""
        return _moment(entry, rules, self.checkpoint).leader


@dataclass(frozen=True, slots=True)
class Several:
    """Several signs of one run."""

    signs: tuple[Sign, ...]

    @property
    def text(self) -> str:
        """What is looked at."""
        return ", and ".join(sign.text for sign in self.signs)

    def read(self, entry: Entry, rules: RuleSet) -> Expected:
        """Return what the model says of each, in order."""
        return [value for sign in self.signs if not isinstance(value := sign.read(entry, rules), Between)]


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a question."""

    what: str

    @property
    def text(self) -> str:
        """What is looked at."""
        return self.what

    def read(self, entry: Entry, rules: RuleSet) -> Expected:
        """Return the predicted answer."""
        if isinstance(entry, Examination):
            value = next(answer.value for answer in entry.subject.predict(rules) if answer.what == self.what)
            assert not isinstance(value, Took), "a time is measured, never predicted"
            return value
        asked = next(question for question in entry.questions if question.what == self.what)
        return asked.predict(rules, frozen_form(_prediction(entry, rules).as_json()))


def predicted_promise(prediction: Prediction) -> PromiseKept:
    """Return what a run that goes as predicted says of the promise."""
    promises = {record.promise.verdict for record in prediction.records}
    if PromiseVerdict.BROKEN in promises or prediction.diverged:
        return PromiseKept.BROKEN_AS_PREDICTED
    if PromiseVerdict.ALLOWED_BY_SETTINGS in promises:
        return PromiseKept.ALLOWED_BY_SETTINGS
    return PromiseKept.KEPT if PromiseVerdict.KEPT in promises else PromiseKept.NO_PROMISE


def _moment(entry: Entry, rules: RuleSet, checkpoint: str) -> Moment:
    return next(one for one in _prediction(entry, rules).checkpoints if one.name == checkpoint)


def _prediction(entry: Entry, rules: RuleSet) -> Prediction:
    if isinstance(entry, Examination):
        raise TypeError(f"{entry.name} is an examination: it has answers, no records")
    return predict(entry.schedule, rules)
