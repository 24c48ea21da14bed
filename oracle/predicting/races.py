"""Does a schedule leave a race open? Then it has several ends, and each names the moves that led there.

Where the ends differ the merged prediction says so: a number is named with all its values, and a record
whose end differs is undetermined.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from oracle.guarantees import PromiseVerdict
from oracle.predicting.wording import event_words
from oracle.prediction import Alternative, Decision
from oracle.vocabulary import BrokerId, Fate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from oracle.predicting.interleavings import InterleavingGraph
    from oracle.prediction import Moment, Prediction, RecordPrediction


NO_REPLICA = "none, as it has no replica"
"""What a broker's number is where a reassignment has taken the partition from it."""


def decisions(graph: InterleavingGraph) -> dict[int, tuple[str, ...]]:
    """Return for every end the moves that decide for it and against others, in words; nothing if there is one end.

    A move decides between two ends if it is the one, on a shortest way to an end, after which the other cannot
    be reached any more.
    """
    reachable = _reachable_ends(graph)
    moves = {end: {other: _excluding(graph, reachable, end, other) for other in graph.ends} for end in graph.ends}
    return {
        end: tuple(
            dict.fromkeys(f"{moves[end][other]} before {moves[other][end]}" for other in graph.ends if other != end)
        )
        for end in graph.ends
    }


def _excluding(graph: InterleavingGraph, reachable: Sequence[set[int]], end: int, other: int) -> str:
    """Return the move on the way to an end after which another cannot be reached, in words; none if it is the same."""
    for here, there in pairwise(graph.way_to(end)):
        if other not in reachable[there]:
            return event_words(graph.came_from[there][1], graph.worlds[here])
    return ""


def _reachable_ends(graph: InterleavingGraph) -> list[set[int]]:
    """Return for every state the ends that can be reached from it."""
    sources: list[list[int]] = [[] for _ in graph.worlds]
    for number, edges in enumerate(graph.edges):
        for _, reached in edges:
            sources[reached].append(number)
    reachable: list[set[int]] = [set() for _ in graph.worlds]
    for end in graph.ends:
        todo = [end]
        while todo:
            number = todo.pop()
            if end not in reachable[number]:
                reachable[number].add(end)
                todo.extend(sources[number])
    return reachable


def merged(ways: Sequence[tuple[tuple[Decision, ...], Prediction]]) -> Prediction:
    """Merge the predictions of all ways through a schedule, each with the races that lead there."""
    alternatives = _distinct(ways)
    left_behind = frozenset[BrokerId]().union(*(prediction.unregistrable for _, prediction in ways))
    first = replace(alternatives[0].prediction, unregistrable=left_behind)
    if len(alternatives) == 1:
        return first
    all_ends = [alternative.prediction for alternative in alternatives]
    records = tuple(
        record if all(_end(other.records[index]) == _end(record) for other in all_ends) else _open(alternatives, index)
        for index, record in enumerate(first.records)
    )
    return replace(first, records=records, races=tuple(_open_words(all_ends)), alternatives=alternatives)


def _distinct(ways: Iterable[tuple[tuple[Decision, ...], Prediction]]) -> tuple[Alternative, ...]:
    """Return one alternative for everything that can be measured, with the moves that all ways to it share."""
    found: list[Alternative] = []
    for race, prediction in ways:
        same = next((k for k in found if _measurable(k.prediction) == _measurable(prediction)), None)
        if same is None:
            found.append(Alternative(race, prediction))
        else:
            passed = opened(same.prediction.moments, prediction.moments)
            merged = Alternative(shared(same.race, race), replace(same.prediction, moments=passed))
            found[found.index(same)] = merged
    return tuple(found)


def opened(moments: Sequence[Moment], others: Sequence[Moment]) -> tuple[Moment, ...]:
    """Return the moments of one way, with those open that another way to the same end does not have so."""
    return tuple(
        one if one == other else replace(one, is_open=True) for one, other in zip(moments, others, strict=True)
    )


def shared(race: tuple[Decision, ...], other: tuple[Decision, ...]) -> tuple[Decision, ...]:
    """Return the moves that decided for both of two ways."""
    return tuple(decision for decision in race if decision in other)


def _measurable(prediction: Prediction) -> object:
    records = [_end(record) for record in prediction.records]
    return prediction.checkpoints, prediction.answers, records, prediction.logs, _end_offset(prediction)


def _end_offset(prediction: Prediction) -> object:
    """Return up to where the topic can be read at the end."""
    last = prediction.moments[-1]
    return None if last.leader is None else last.replicas[last.leader].high_watermark


def _open_words(predictions: Sequence[Prediction]) -> Iterator[str]:
    for what, values in open_values(predictions):
        yield f"{what} is {' or '.join(dict.fromkeys(values))}"


def open_values(predictions: Sequence[Prediction]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every number, log and record in which predictions differ, with its value in each of them."""
    for what, *values in _everything(predictions):
        if len(set(values)) > 1:
            yield what, tuple(values)


def _everything(predictions: Sequence[Prediction]) -> Iterator[tuple[str, ...]]:
    """Yield everything that can be measured, with its value in each prediction."""
    for moments in zip(*(prediction.checkpoints for prediction in predictions), strict=True):
        numbers = [_numbers(moment) for moment in moments]
        for what in dict.fromkeys(what for number in numbers for what in number):
            yield (f"{moments[0].name}: {what}", *(str(number.get(what, NO_REPLICA)) for number in numbers))
    for answers in zip(*(prediction.answers for prediction in predictions), strict=True):
        told = [dict(answer.values) for answer in answers]
        for name in dict.fromkeys(name for values in told for name in values):
            step = f"step {answers[0].step + 1} ({answers[0].asked}): {name}"
            yield (step, *(str(values.get(name, "not told")) for values in told))
    for broker in sorted({broker for prediction in predictions for broker in prediction.logs}):
        yield (f"log of broker {broker}", *(_log_words(prediction, broker) for prediction in predictions))
    yield ("leader's high watermark at the end", *(str(_end_offset(prediction)) for prediction in predictions))
    for records in zip(*(prediction.records for prediction in predictions), strict=True):
        yield (f"record {records[0].label}", *(end_words(record) for record in records))


def _log_words(prediction: Prediction, broker: BrokerId) -> str:
    """Return a broker's log in words; how a race goes decides which brokers still have the partition at its end."""
    log = prediction.logs.get(broker)
    return NO_REPLICA if log is None else " ".join(entry.label for entry in log) or "empty"


def _numbers(moment: Moment) -> dict[str, Any]:
    numbers: dict[str, Any] = {"leader": moment.leader or "none", "leadership": moment.leadership}
    numbers["ISR"] = list(moment.isr)
    numbers["ELR"] = list(moment.elr)
    for broker, replica in moment.replicas.items():
        numbers[f"log end offset of broker {broker}"] = replica.log_end_offset
        numbers[f"high watermark of broker {broker}"] = replica.high_watermark
        numbers[f"remote log end offset of broker {broker}"] = moment.remote_log_end_offsets.get(broker)
    return numbers


def _end(record: RecordPrediction) -> object:
    return record.fate, record.offset, record.outcome, record.error


def end_words(record: RecordPrediction) -> str:
    """Return a record's end in words."""
    where = "" if record.offset is None else f" at offset {record.offset}"
    error = f" ({record.error})" if record.error else ""
    return f"{record.fate.value}{where}, {record.outcome.value}{error}"


def _open(alternatives: Sequence[Alternative], index: int) -> RecordPrediction:
    """Return a record whose end is open, with the worst that can become of its promise."""
    records = [alternative.prediction.records[index] for alternative in alternatives]
    why = f"open: {' or '.join(dict.fromkeys(end_words(record) for record in records))}, as the race goes"
    number, worst = max(enumerate(records, start=1), key=lambda one: _BADNESS.index(one[1].promise.verdict))
    promise = worst.promise
    if promise.reason is not None:
        promise = replace(promise, reason=f"in outcome {number}: {promise.reason}")
    return replace(records[0], fate=Fate.UNDETERMINED, offset=None, decided_by=why, promise=promise)


_BADNESS = (PromiseVerdict.NONE, PromiseVerdict.KEPT, PromiseVerdict.ALLOWED_BY_SETTINGS, PromiseVerdict.BROKEN)
