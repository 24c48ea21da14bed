"""Does an explanation tell what happened, step by step, and the rule that decided it?

``REWRITE_GOLDEN=1`` writes today's stories; read the difference before you keep it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.commands.predicted_promise import story_lines
from conformance.registry import select
from oracle.predict import predict
from oracle.predicting.explaining import explain
from oracle.predicting.wording import ChangeKind
from oracle.rules.by_version import rules_for
from oracle.rules.truncation import KIP_279, TO_HIGH_WATERMARK
from oracle.steps.brokers import Kill, LoseCheckpoint, LoseTail, Start, Stop
from oracle.steps.frames import AwaitHold, ReleaseHold
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, Expectation, MetadataMode, Offset, PointName
from tests.oracle.schedules import ONE, THREE, TWO, hold, produce, schedule

if TYPE_CHECKING:
    from oracle.predicting.wording import Change
    from oracle.prediction import Prediction
    from oracle.schedule import Schedule

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
STORIES = Path(__file__).parent / "stories"
TOLD = [
    ("TR-01", "0.10.2.2", ZOOKEEPER),
    ("TR-01", "4.3.1", KRAFT),
    ("TR-03", "0.10.2.2", ZOOKEEPER),
    ("EL-01/unsafe", "4.3.1", KRAFT),
]


def path_of(name: str, version: str) -> Path:
    return STORIES / f"{name.replace('/', '-')}-on-{version}.txt"


def story(name: str, version: str, metadata: MetadataMode) -> str:
    (scenario,) = select([name])
    return "\n".join(story_lines(explain(predict(scenario.schedule, rules_for(version, metadata)))))


@pytest.mark.parametrize(("name", "version", "metadata"), TOLD, ids=str)
def test_a_story_reads_as_it_did(name: str, version: str, metadata: MetadataMode) -> None:
    path = path_of(name, version)
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(story(name, version, metadata))
    assert path.read_text() == story(name, version, metadata)


def test_no_story_is_left_over() -> None:
    assert set(STORIES.glob("*.txt")) == {path_of(name, version) for name, version, _ in TOLD}


def tr_01(*, with_old_truncation: bool) -> Prediction:
    (scenario,) = select(["TR-01"])
    truncation = TO_HIGH_WATERMARK if with_old_truncation else KIP_279
    rules = rules_for("2.0.1", ZOOKEEPER)
    named = (truncation.rule, *rules.rules[1:])
    return predict(scenario.schedule, replace(rules, truncation=truncation, rules=named))


def test_one_other_rule_tells_another_story() -> None:
    old, new = (explain(tr_01(with_old_truncation=is_old)).records[1] for is_old in (True, False))
    assert [change.text for change in old.changes[:4]] == [change.text for change in new.changes[:4]]
    assert ["truncate-to-high-watermark" in one.record.decided_by for one in (old, new)] == [True, False]
    assert [any(change.kind is ChangeKind.CUT for change in one.changes) for one in (old, new)] == [True, False]


def test_the_deciding_step_and_rule_are_named() -> None:
    m0, m1, m2 = tr_01(with_old_truncation=True).records
    assert m1.decided_by == (
        "cut on broker 2 at step 9 (start 2) by truncate-to-high-watermark; "
        "broker 2 elected uncleanly without it at step 12 (kill 1) (zookeeper-controller)"
    )
    for record, step in ((m0, "step 1 (produce m0)"), (m2, "step 14 (produce m2)")):
        assert record.decided_by.endswith(f"committed at {step} by high-watermark-is-lowest-end-offset")


def changes(of: Schedule, version: str, kind: ChangeKind, metadata: MetadataMode = ZOOKEEPER) -> list[Change]:
    prediction = predict(of, rules_for(version, metadata))
    return [change for change in prediction.chronicle if change.kind is kind]


def sentences(of: Schedule, version: str, kind: ChangeKind, metadata: MetadataMode = ZOOKEEPER) -> list[str]:
    return [f"{change.during}: {change.sentence()}" for change in changes(of, version, kind, metadata)]


def test_a_refused_record_names_the_step_that_refused_it() -> None:
    refused = schedule(
        Kill(TWO),
        produce("m0", expect=Expectation.REFUSED),
        Kill(ONE),
        produce("m1", expect=Expectation.REFUSED),
        Start(ONE),
        min_isr=2,
    )
    m0, m1 = predict(refused, rules_for("2.8.2", ZOOKEEPER)).records
    by_rule = "by leader-refuses-without-enough-in-sync-replicas, nothing was written"
    assert m0.decided_by == f"refused with NOT_ENOUGH_REPLICAS at step 2 (produce m0) {by_rule}"
    assert m1.decided_by.startswith("refused with LEADER_NOT_AVAILABLE at step 4 (produce m1) by nobody-to-send-to")
    assert sentences(refused, "2.8.2", ChangeKind.LEADERLESS) == [
        "step 3 (kill 1): there is no leader: no replica may be elected [zookeeper-controller]"
    ]


def test_outcomes_that_nobody_learns_are_told() -> None:
    silent = schedule(
        produce("m0", acks=Acks.NONE, expect=Expectation.INDETERMINATE),
        hold("fetch", fetch_offset=1),
        AwaitHold("fetch"),
        produce("m1", expect=Expectation.PENDING),
        Kill(ONE),
        produce("m2", acks=Acks.LEADER),
    )
    assert sentences(silent, "2.8.2", ChangeKind.ANSWERED) == [
        "step 1 (produce m0): the producer of m0 does not learn its outcome (acks=0) [silence-is-no-refusal]",
        "step 5 (kill 1): the producer of m1 does not learn its outcome (acks=all) [silence-is-no-refusal]",
        "step 6 (produce m2): the producer of m2 is acknowledged (acks=1) [acks-decides-when-the-producer-is-answered]",
    ]
    frozen = schedule(
        hold("fetch", fetch_offset=0),
        produce("m0", expect=Expectation.PENDING),
        Kill(TWO),
        Checkpoint("alone"),
        min_isr=2,
    )
    (last,) = sentences(frozen, "2.8.2", ChangeKind.ANSWERED)
    assert "does not learn its outcome (acks=all): NOT_ENOUGH_REPLICAS_AFTER_APPEND" in last


def test_high_watermarks_tell_what_moved_them() -> None:
    moving = schedule(
        produce("m0"),
        hold("answer", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=2),
        produce("m1"),
        Kill(TWO),
        Kill(ONE),
        Start(TWO),
        unclean=True,
    )
    told = sentences(moving, "0.10.2.2", ChangeKind.HIGH_WATERMARK)
    assert told[-1] == (
        "step 6 (start 2): high watermark of leader 2 rises from 1 to 2: as broker 2 becomes leader "
        "[high-watermark-is-lowest-end-offset]"
    )
    held = schedule(
        hold("request", follower=TWO, fetch_offset=0),
        produce("m0", expect=Expectation.PENDING),
        Kill(TWO),
    )
    (left,) = sentences(held, "2.8.2", ChangeKind.HIGH_WATERMARK)
    assert "rises from 0 to 1: as broker 2 left the ISR" in left


def test_what_a_disk_forgets_is_told() -> None:
    forgetful = schedule(
        produce("m0", "m1"), Kill(TWO), LoseTail(TWO, Offset(1)), LoseCheckpoint(TWO), Start(TWO), Checkpoint("end")
    )
    assert sentences(forgetful, "2.8.2", ChangeKind.CUT) == [
        "step 3 (lose_tail 2): the disk of broker 2 forgets m1 at offset 1"
    ]
    fallen = [one for one in sentences(forgetful, "2.8.2", ChangeKind.HIGH_WATERMARK) if "falls" in one]
    rule = "[high-watermark-is-restored-from-checkpoint]"
    assert fallen == [
        f"step 3 (lose_tail 2): high watermark of broker 2 falls from 2 to 1: its disk forgets {rule}",
        f"step 4 (lose_checkpoint 2): high watermark of broker 2 falls from 1 to 0: its disk forgets {rule}",
    ]


def test_processes_and_holds_are_told() -> None:
    stopped = schedule(
        hold("request", follower=TWO, fetch_offset=1),
        produce("m0", expect=Expectation.PENDING),
        AwaitHold("request"),
        Checkpoint("held"),
        ReleaseHold("request"),
        Stop(TWO),
        Checkpoint("stopped"),
        Start(TWO),
        Checkpoint("started"),
    )
    assert sentences(stopped, "2.8.2", ChangeKind.PROCESS) == [
        "step 6 (stop 2): broker 2 stops gracefully",
        "step 8 (start 2): broker 2 starts",
    ]
    prediction = predict(stopped, rules_for("2.8.2", ZOOKEEPER))
    held, down, up = explain(prediction).checkpoints
    assert [hold.text for number in held.numbers if number.broker == TWO for hold in number.holds[:1]] == [
        "hold 'request' catches broker 2's fetch at offset 1 before leader 1 sees it"
    ] * 2
    assert next((n.what, n.value, [c.during for c in n.changes]) for n in down.numbers if n.broker == TWO) == (
        "process",
        "down",
        ["step 6 (stop 2)"],
    )
    assert not any(number.holds or number.what == "process" for number in up.numbers)


def test_a_follower_that_gives_up_is_told() -> None:
    gives_up = schedule(
        produce("m0"),
        hold("gap of 2", PointName.FETCH_RESPONSE, follower=TWO, fetch_offset=2),
        hold("gap of 3", PointName.FETCH_RESPONSE, follower=THREE, fetch_offset=2),
        produce("m1"),
        hold("fetch from 2", follower=THREE, leader=TWO),
        Kill(ONE),
        Kill(TWO),
        Start(ONE),
        replicas=(ONE, TWO, THREE),
    )
    assert sentences(gives_up, "0.10.2.2", ChangeKind.PROCESS)[-1] == (
        "step 8 (start 1): broker 1 hangs in its own shutdown, its ports closed: it is ahead of its leader"
        " [ahead-of-leader-gives-up]"
    )
    ends = schedule(
        produce("m0", "m1"), Kill(TWO), Kill(ONE), LoseTail(ONE, Offset(0)), Start(ONE), Start(TWO), Checkpoint("end")
    )
    assert sentences(ends, "1.1.1", ChangeKind.PROCESS)[-1] == (
        "step 6 (start 2): broker 2 ends its process in good order: it is ahead of its leader "
        "[ahead-of-leader-gives-up]"
    )


def test_the_machine_format_carries_the_same() -> None:
    prediction = tr_01(with_old_truncation=True)
    document = explain(prediction).as_json()
    assert [record["label"] for record in document["records"]] == ["m0", "m1", "m2"]
    cut = next(change for change in document["records"][1]["changes"] if change["kind"] == "cut")
    assert cut == {
        "step": 8,
        "during": "step 9 (start 2)",
        "kind": "cut",
        "text": "broker 2 cuts m1 at offset 1, following leader 1",
        "broker": 2,
        "records": ["m1"],
        "hold": None,
        "rule": {"name": "truncate-to-high-watermark", "source": "KAFKA-1211, ReplicaManager.makeFollowers"},
    }
    first = document["checkpoints"][0]
    assert first["name"] == prediction.checkpoints[0].name
    assert list(first["numbers"][0]) == ["what", "broker", "value", "changes", "holds"]
    assert document["checkpoints"][0]["numbers"][-1]["holds"][0]["rule"] is None
