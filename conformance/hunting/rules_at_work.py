"""Which rules does a schedule hold brokers to? Those without which something else would be measured.

Each rule of a release is swapped in turn (``oracle.rules.by_version.one_rule_apart``), and the schedule predicted
again: where what is measured differs, brokers that follow the schedule cannot have that rule otherwise unnoticed.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import product
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from oracle.predict import predict
from oracle.rules.rule_set import RuleSet
from oracle.steps.step import ScheduleError
from oracle.world import ImpossibleEventError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from oracle.prediction import Moment, Prediction, RecordPrediction
    from oracle.schedule import Schedule

STATES_MAX = 2_000
"""So many states between two rest points are enough for rules that no release has: some never come to rest."""
ALTERNATIVES_MAX = 8
"""Of a schedule that leaves more outcomes open nothing is said."""
OF_REPLICA = ("log_start_offset", "log_end_offset", "high_watermark", "alive")
OF_PARTITION = ("leader", "isr", "elr")


def rules_held(schedule: Schedule, rules: RuleSet, others: Mapping[str, RuleSet]) -> dict[str, frozenset[str]]:
    """Return the rules that a schedule holds brokers to, each with what would differ, in the words of verdicts.

    Args:
        schedule: what is predicted.
        rules: by which it can be.
        others: the rule sets that differ from them in one rule, by its name.
    """
    watched = watching(rules, others)
    own = predict(schedule, watched)
    predictions = {name: predicted_or_none(schedule, others[name]) for name in watched.at_work}
    found = {name: told_apart(own, other) for name, other in predictions.items() if other is not None}
    return {name: codes for name, codes in found.items() if codes}


def predicted_or_none(schedule: Schedule, rules: RuleSet) -> Prediction | None:
    """Return what rules predict; None if they refuse the schedule, contradict themselves in it, or take too long."""
    try:
        return predict(schedule, rules, STATES_MAX)
    except (ScheduleError, ImpossibleEventError, AssertionError):
        return None


def told_by(schedule: Schedule, rules: RuleSet, other: RuleSet) -> frozenset[str]:
    """Return what a schedule's run would show differently under other rules; nothing if those say nothing of it."""
    against = predicted_or_none(schedule, other)
    return frozenset() if against is None else told_apart(predict(schedule, rules), against)


def told_apart(one: Prediction, other: Prediction) -> frozenset[str]:
    """Return what a run would show differently, in the words of verdicts; nothing if one outcome is in both."""
    ways, others = (_outcomes(each) for each in (one, other))
    if len(ways) * len(others) > ALTERNATIVES_MAX:
        return frozenset()
    codes = [frozenset(_differing(way, against)) for way, against in product(ways, others)]
    return frozenset().union(*codes) if all(codes) else frozenset()


def _outcomes(prediction: Prediction) -> list[Prediction]:
    return [one.prediction for one in prediction.alternatives] or [prediction]


def _differing(one: Prediction, other: Prediction) -> Iterator[str]:
    """Yield what differs, in the words of verdicts (``conformance.record.verdict.CODES``)."""
    for moment, against in zip(one.checkpoints, other.checkpoints, strict=True):
        yield from _of_moments(moment, against)
    for record, twin in zip(one.records, other.records, strict=True):
        yield from _of_records(record, twin)
    if one.logs != other.logs:
        yield "replica_log"
    if [answer.as_json() for answer in one.answers] != [answer.as_json() for answer in other.answers]:
        yield "question"


def _of_moments(one: Moment, other: Moment) -> Iterator[str]:
    yield from (name for name in OF_PARTITION if _in_order(one, name) != _in_order(other, name))
    for broker, numbers in one.replicas.items():
        against = other.replicas[broker]
        yield from (name for name in OF_REPLICA if getattr(numbers, name) != getattr(against, name))
    if one.remote_log_end_offsets != other.remote_log_end_offsets:
        yield "remote_log_end_offset"


def _in_order(moment: Moment, name: str) -> object:
    """Return a number of a moment; brokers in their order."""
    value = getattr(moment, name)
    return sorted(value) if isinstance(value, tuple) else value


def _of_records(one: RecordPrediction, other: RecordPrediction) -> Iterator[str]:
    if (one.outcome, one.error) != (other.outcome, other.error):
        yield "outcome"
    if one.fate != other.fate:
        yield "missing"
    elif one.offset != other.offset:
        yield "moved"


# Which rules are at work in a prediction at all? Those of which it has asked something that the other would answer
# otherwise: a function is asked with the same arguments, of anything else it is enough that it was read.


class WatchedRules(RuleSet):
    """A rule set that notes what it is asked.

    Attributes:
        at_work: the names of the rules that, swapped, would have answered otherwise, or may have.
    """

    __slots__ = ("_others", "at_work")
    _others: dict[str, dict[str, object]]
    at_work: dict[str, None]

    @override
    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        try:
            others = object.__getattribute__(self, "_others").get(name) if name in _FIELDS else None
        except AttributeError:  # made of a watched one by ``dataclasses.replace``, whose answers are watched still
            return value
        if not others:
            return value
        if callable(value) and not isinstance(value, type):
            return self._compared(value, others)
        self.at_work.update(dict.fromkeys(others))
        return value

    def _compared(self, own: Callable[..., object], others: Mapping[str, Any]) -> Callable[..., object]:
        def asked(*arguments: object, **named: object) -> object:
            answer = own(*arguments, **named)
            waiting = (rule for rule in others if rule not in self.at_work)
            self.at_work.update(dict.fromkeys(rule for rule in waiting if others[rule](*arguments, **named) != answer))
            return answer

        return asked


_FIELDS = frozenset(one.name for one in fields(RuleSet)) - {"version", "metadata", "rules", "requests"}


def watching(rules: RuleSet, others: Mapping[str, RuleSet]) -> WatchedRules:
    """Return rules that note which of the others would answer otherwise."""
    watched = WatchedRules(**{one.name: getattr(rules, one.name) for one in fields(RuleSet)})
    differing: dict[str, dict[str, object]] = {name: {} for name in _FIELDS}
    for rule, other in others.items():
        for name in _FIELDS:
            if getattr(other, name) != getattr(rules, name):
                differing[name][rule] = getattr(other, name)
    object.__setattr__(watched, "_others", differing)
    object.__setattr__(watched, "at_work", {})
    return watched
