"""Are frames taken that a play by the same rules makes, and is one refused that no world explains?"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from oracle.error_codes import ErrorCode
from oracle.rules.transactions import swaps_of, transaction_rules
from oracle.transactions.course import watch
from oracle.transactions.drawing import draw
from oracle.transactions.frames import FrameReplay
from oracle.transactions.state import (
    AddPartitionToTxn,
    Answer,
    EndTxn,
    InitProducerId,
    ProduceBatch,
    Record,
    WriteTxnMarker,
)

RULES = {version: transaction_rules(version) for version in ("0.11.0.3", "3.9.2", "4.4.0")}
A1 = ProduceBatch(0, 0, Record(0, 0))
MARKER = WriteTxnMarker(0, 0, commits=True, coordinator_epoch=0)


def replayed(replay: FrameReplay, steps: list[tuple[object, Answer | None]]) -> str | None:
    """Take requests with their answers, one after the other; None as an answer is none yet."""
    for number, (request, answer) in enumerate(steps, start=len(replay.sent) + 1):
        why = replay.marker(request) if isinstance(request, WriteTxnMarker) else None
        replay.request(number, request)  # type: ignore[arg-type]
        why = why or (None if answer is None else replay.answer(number, answer))
        if why is not None:
            return why
    return None


def steps_of(seed: int, version: str) -> list[tuple[object, Answer | None]]:
    acts, _ = watch(draw(random.Random(seed), [RULES[version]]).acts, RULES[version])
    requests = [one for act in acts for one in act.requests if one.answer is not None]
    return [(one.request, one.answer) for one in requests]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("version", RULES)
def test_what_the_play_does_is_taken(seed: int, version: str) -> None:
    assert replayed(FrameReplay(RULES[version]), steps_of(seed, version)) is None


@pytest.mark.parametrize("seed", range(30))
def test_an_answer_that_the_rules_do_not_give_is_refused(seed: int) -> None:
    steps = steps_of(seed, "3.9.2")
    number, (request, answer) = max(
        (number, step) for number, step in enumerate(steps) if not isinstance(step[0], InitProducerId)
    )
    assert answer is not None
    error = ErrorCode.NONE if answer.error else ErrorCode.INVALID_PRODUCER_ID_MAPPING
    steps[number] = request, answer._replace(error=error)
    why = replayed(FrameReplay(RULES["3.9.2"]), steps)
    assert why is not None
    assert f"is answered {error.name}" in why


def test_by_other_rules_some_frame_is_refused() -> None:
    rules = transaction_rules(swaps_of("3.9.2~batch-of-older-epoch-is-refused"))
    assert any(replayed(FrameReplay(rules), steps_of(seed, "3.9.2")) for seed in range(60))


def begun() -> FrameReplay:
    replay = FrameReplay(RULES["3.9.2"])
    steps = [(InitProducerId(None), Answer(epoch=0)), (AddPartitionToTxn(0, 0), Answer()), (A1, Answer())]
    assert replayed(replay, steps) is None  # type: ignore[arg-type]
    return replay


def test_a_marker_that_nobody_asked_for_is_refused() -> None:
    why = begun().marker(MARKER)
    assert why is not None
    assert "is none that the coordinator has to write" in why


def test_a_marker_is_written_before_the_end_is_answered() -> None:
    replay = begun()
    replay.request(4, EndTxn(0, commits=True))
    assert replay.marker(MARKER) is None
    replay.request(5, MARKER)
    assert replay.answer(5, Answer()) is None
    assert replay.answer(4, Answer()) is None


def test_a_transaction_that_lasts_too_long_is_ended_by_itself() -> None:
    replay = begun()
    assert replay.marker(WriteTxnMarker(1, 0, commits=False, coordinator_epoch=0)) is None
    why = replayed(replay, [(EndTxn(0, commits=True), Answer())])
    assert why is not None
    assert "PRODUCER_FENCED" in why


def test_a_coordinator_that_takes_over_writes_markers_of_its_epoch() -> None:
    replay = begun()
    assert replayed(replay, [(EndTxn(0, commits=True), Answer()), (MARKER, None)]) is None
    newer = replace(MARKER, coordinator_epoch=1)
    assert replayed(replay, [(newer, Answer())]) is None
    why = replay.answer(5, Answer())
    assert why is None, "the former one's may have come first"


def test_who_is_still_writing_down_an_end_says_so() -> None:
    replay = begun()
    assert replayed(replay, [(EndTxn(0, commits=True), Answer()), (MARKER, Answer())]) is None
    busy = Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
    assert replayed(replay, [(EndTxn(0, commits=True), busy), (EndTxn(0, commits=True), Answer())]) is None
    assert replayed(begun(), [(replace(A1, sequence=1), busy)]) is not None


def test_a_broker_that_has_not_looked_at_a_request_says_nothing_of_it() -> None:
    replay = FrameReplay(RULES["3.9.2"])
    elsewhere = Answer(ErrorCode.NOT_COORDINATOR)
    steps = [(InitProducerId(None), elsewhere), (InitProducerId(None), Answer(epoch=0))]
    assert replayed(replay, steps) is None  # type: ignore[arg-type]
