"""Do frames, the tester's notes and the producers' outcomes become one stream in the order of time?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from conformance.commands.tracing import event_as_json
from conformance.observation.errors import TraceUnreadableError
from conformance.observation.event_stream import EventStream
from conformance.observation.event_text import event_text
from conformance.record.directory import RunDirectory
from conformance.record.ledger import Attempt, LedgerWriter, OutcomeEntry
from fault_injection.wire import views
from oracle.tracing.observed import (
    Acknowledged,
    BrokerEnded,
    BrokerStarted,
    CheckpointLost,
    DeletionRequested,
    FetchSent,
    MinIsrSet,
    Refused,
    ReplicaMeasured,
    TailLost,
    TopicPartition,
)
from oracle.vocabulary import Acks, ProduceOutcome
from tests.conformance.observation.event_reading import event_from_json
from tests.conformance.observation.wire_files import FETCH, MS, TOPIC, WireFile
from tests.conformance.run_files import change_run, write_json

if TYPE_CHECKING:
    from pathlib import Path

PARTITION = TopicPartition(TOPIC, 0)
SCHEDULE: dict[str, Any] = {
    "id": "a/b",
    "requirement": "It holds.",
    "replicas": [1, 2],
    "settings": {"min.insync.replicas": 1},
    "steps": [{"produce": {"records": ["m0"]}}, {"alter": {"min.insync.replicas": 2}}, {"delete_records": 3}],
}


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = RunDirectory.create(tmp_path, "run")
    change_run(run, topic=TOPIC)
    write_json(run, "schedule.json", SCHEDULE)
    note(run, "timeline.ndjson")
    return run


def note(run: RunDirectory, name: str, *notes: dict[str, Any]) -> None:
    (run.path / name).write_text("".join(json.dumps(one) + "\n" for one in notes))


def done(at_ms: int, event: str, subject: str = "", **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"t_ns": at_ms * MS, "step": 0, "event": event, "subject": subject, "text": "", **fields}


def numbers(at_ms: int, replicas: dict[str, Any]) -> dict[str, Any]:
    seen = {"leader": 1, "leader_epoch": 0, "isr": [1]}
    return {"t_ns": at_ms * MS, "step": 0, "kind": "numbers", "replicas": replicas, **seen}


def fetches(wire: WireFile, *times_ms: int, connection: int = 1) -> None:
    for at_ms in times_ms:
        asked = views.FetchRequestView(2, 8, 500, 0, -1, (views.FetchPartition(TOPIC, None, 0, at_ms),))
        wire.request(FETCH, 2, 1, asked, arrived_ns=at_ms * MS, connection=connection)


def events(run: RunDirectory, wire: WireFile) -> list[Any]:
    wire.write(run.path)
    found = list(EventStream(run))
    assert [event.at for event in found] == sorted(event.at for event in found)
    for event in found:
        assert event_from_json(json.loads(json.dumps(event_as_json(event)))) == event
        assert event_text(event).strip() != type(event).__name__
    return found


def test_notes_and_frames_are_merged_by_time(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 10, 30)
    measured = {"log_end_offset": 3, "high_watermark": 2, "alive": True}
    note(run, "timeline.ndjson", done(5, "step_started"), done(20, "broker_killed", "3"))
    replicas = {"1": measured, "2": measured | {"alive": False}}
    note(run, "observations.ndjson", numbers(25, replicas))
    found = events(run, wire)
    assert found[0] == MinIsrSet(at=10 * MS, partition=PARTITION, min_insync_replicas=1)
    assert [type(event).__name__ for event in found[1:]] == [
        "FetchSent", "FetchReceived", "BrokerEnded", "ReplicaMeasured", "FetchSent", "FetchReceived",
    ]  # fmt: skip
    assert found[3] == BrokerEnded(at=20 * MS, broker=3, clean=False)  # type: ignore[arg-type]
    assert found[4] == ReplicaMeasured(
        at=25 * MS,
        since=5 * MS,
        partition=PARTITION,
        broker=1,  # type: ignore[arg-type]
        log_end_offset=3,  # type: ignore[arg-type]
        high_watermark=2,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("event", "measured"), [("broker_resumed", [60]), ("broker_killed", [60]), ("link_cut", [])])
def test_the_files_of_a_paused_broker_are_no_measurement(run: RunDirectory, event: str, measured: list[int]) -> None:
    wire = WireFile()
    fetches(wire, 10)
    replicas = {"2": {"log_end_offset": 3, "high_watermark": 0, "alive": True}}
    note(run, "timeline.ndjson", done(20, "broker_paused", "2"), done(50, event, "2"))
    noted = (numbers(at, replicas) for at in (30, 60))
    note(run, "observations.ndjson", *noted)
    assert [event.at // MS for event in events(run, wire) if isinstance(event, ReplicaMeasured)] == measured


@pytest.mark.parametrize(("event", "is_clean"), [("broker_ended", True), ("broker_killed", False)])
def test_a_broker_that_ends_by_itself_ends_in_order(run: RunDirectory, event: str, *, is_clean: bool) -> None:
    wire = WireFile()
    fetches(wire, 1)
    note(run, "timeline.ndjson", done(4, event, "2"))
    assert BrokerEnded(at=4 * MS, broker=2, clean=is_clean) in events(run, wire)  # type: ignore[arg-type]


def test_what_was_done_to_disks_and_settings(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 1)
    note(
        run,
        "timeline.ndjson",
        done(4, "broker_stopped", "2"),
        done(5, "tail_lost", "2", offset=4),
        done(7, "checkpoint_lost", "2"),
        done(8, "step_started", step=1),
        done(9, "settings_changed", TOPIC, step=1),
        done(10, "step_started", step=2),
        done(12, "records_deleted", "3", step=2, offset=3),
    )
    found = [event for event in events(run, wire) if not hasattr(event, "key")][1:]
    assert found == [
        BrokerEnded(at=4 * MS, broker=2, clean=True),  # type: ignore[arg-type]
        TailLost(at=5 * MS, partition=PARTITION, broker=2, offset=4),  # type: ignore[arg-type]
        CheckpointLost(at=7 * MS, broker=2),  # type: ignore[arg-type]
        MinIsrSet(at=8 * MS, partition=PARTITION, min_insync_replicas=2),
        DeletionRequested(at=10 * MS, partition=PARTITION, offset=3),  # type: ignore[arg-type]
    ]


def test_a_broker_lives_again_with_its_first_frame_on_a_new_connection(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 10)
    fetches(wire, 25)
    fetches(wire, 40, connection=2)
    note(run, "timeline.ndjson", done(20, "broker_killed", "2"), done(60, "broker_started", "2"))
    found = events(run, wire)
    assert [event.at for event in found if isinstance(event, BrokerStarted)] == [40 * MS]
    assert [event.at for event in found if isinstance(event, FetchSent)] == [10 * MS, 40 * MS]


def test_a_broker_without_frames_lives_again_when_the_tester_says_so(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 10)
    note(run, "timeline.ndjson", done(20, "broker_killed", "3"), done(60, "broker_started", "3"))
    assert [event.at for event in events(run, wire) if isinstance(event, BrokerStarted)] == [60 * MS]


def test_what_producers_were_told(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 1)
    ledger = LedgerWriter(run.path / "ledger")
    told = [
        (ProduceOutcome.ACKNOWLEDGED, None, 7),
        (ProduceOutcome.INDETERMINATE, "NOT_ENOUGH_REPLICAS_AFTER_APPEND", None),
        (ProduceOutcome.INDETERMINATE, "_MSG_TIMED_OUT", None),
        (ProduceOutcome.REFUSED, "_PURGE_QUEUE", None),
        (ProduceOutcome.INDETERMINATE, None, None),
    ]
    ledger.record_attempts([Attempt(n, f"m{n}", TOPIC, 0, Acks.ALL, 0, 100, n) for n in range(len(told))])
    ledger.record_outcomes(
        [OutcomeEntry(n, outcome, error, offset, 5 * MS + n) for n, (outcome, error, offset) in enumerate(told)]
    )
    found = [event for event in events(run, wire) if isinstance(event, Acknowledged | Refused)]
    assert found == [
        Acknowledged(
            at=5 * MS,
            partition=PARTITION,
            acks=Acks.ALL,
            sent_at=0,
            base_offset=7,  # type: ignore[arg-type]
            last_offset=7,  # type: ignore[arg-type]
        ),
        Refused(at=5 * MS + 1, partition=PARTITION, acks=Acks.ALL, error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", sent_at=1),
    ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("timeline.ndjson", '{"event": "x"}\n', r"timeline\.ndjson, line 1 cannot be read"),
        (
            "timeline.ndjson",
            json.dumps(done(2, "tail_lost", "2")),
            "does not tell from which offset on a tail was lost",
        ),
        ("observations.ndjson", '{"t_ns": 1, "kind"\n', r"observations\.ndjson, line 1 cannot be read"),
        ("ledger/outcomes-00000.parquet", "PAR1", r"ledger/outcomes-00000\.parquet cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(run: RunDirectory, name: str, text: str, said: str) -> None:
    wire = WireFile()
    fetches(wire, 1)
    (run.path / name).write_text(text)
    with pytest.raises(TraceUnreadableError, match=said):
        events(run, wire)


def test_a_run_whose_faults_nobody_noted_is_refused(run: RunDirectory) -> None:
    wire = WireFile()
    fetches(wire, 1)
    (run.path / "timeline.ndjson").unlink()
    with pytest.raises(TraceUnreadableError, match=r"timeline\.ndjson is missing"):
        events(run, wire)


def test_a_trace_without_frames_is_refused(run: RunDirectory) -> None:
    with pytest.raises(TraceUnreadableError, match="holds no frame"):
        events(run, WireFile())


def test_an_unknown_event_is_refused() -> None:
    with pytest.raises(ValueError, match="no event is named 'Nothing'"):
        event_from_json({"event": "Nothing"})
    with pytest.raises(ValueError, match="is no BrokerEnded"):
        event_from_json({"event": "BrokerEnded", "at": 1})
