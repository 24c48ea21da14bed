"""Is every record of real soaks predicted from their wire alone, to the offset? And is what is doctored noticed?

``recorded/`` has soaks as ``kafka-conformance soak --cross-check`` ran them: trace and timeline, and beside them what
Spark read of the topic, and what producers were told.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow.parquet as pq
import pytest

from conformance.record.directory import RunDirectory
from conformance.record.soak import WIRE_FILE, read_soak
from conformance.record.soak_prediction import (
    BATCHES_FILE,
    RANGES_FILE,
    REPLICAS_FILE,
    BatchRow,
    RangeRow,
    read_soak_prediction,
)
from conformance.record.timeline import TIMELINE_FILE, Event, TimelineMark
from conformance.record.wire_lines import lines_of
from conformance.soak import stream
from conformance.soak.batches import FollowedBatches
from conformance.soak.predicting import RangePromises, StandingFaults, predict_soak
from fault_injection.wire.compressed_lines import CompressedLines
from oracle.rules.by_version import rules_for
from oracle.tracing import replica
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from conformance.record.soak_prediction import SoakPrediction

RECORDED = Path(__file__).parent / "recorded"
EACH = pytest.mark.parametrize("name", sorted(path.name for path in RECORDED.iterdir()))
LOST = {"4.4.0-mixed": 12, "0.10.2.2-all": 17}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded soak, predicted anew in a directory of its own."""

    run: RunDirectory
    prediction: SoakPrediction

    @property
    def rows(self) -> list[dict[str, object]]:
        return pq.read_table(self.run.path / BATCHES_FILE).to_pylist()

    def copies(self) -> dict[int, set[int]]:
        """Return at which offsets each record must be, by the record's rule for copies."""
        told = pq.read_table(self.run.path / "acknowledged.parquet").to_pylist()
        places = defaultdict(set, {row["record_id"]: {row["offset"]} for row in told})
        for row in sorted(self.rows, key=lambda one: one["fate"] == "present"):
            for place in range(row["count"] if row["base_offset"] is not None else 0):
                record_id, offset = row["first_id"] + place * row["step"], row["base_offset"] + place
                (places[record_id].add if row["fate"] == "present" else places[record_id].discard)(offset)
        return {record_id: offsets for record_id, offsets in places.items() if offsets}

    def in_topic(self) -> dict[int, set[int]]:
        """Return at which offsets each record is."""
        found: dict[int, set[int]] = defaultdict(set)
        for row in pq.read_table(self.run.path / "topic.parquet").to_pylist():
            found[row["record_id"]].add(row["offset"])
        return dict(found)

    def lost(self) -> int:
        """Return how many acknowledged records are predicted to be nowhere."""
        told = pq.read_table(self.run.path / "acknowledged.parquet")["record_id"].to_pylist()
        return len(set(told) - set(self.copies()))


def replayed(name: str, tmp_path: Path) -> Replayed:
    shutil.copytree(RECORDED / name, tmp_path / name)
    run = RunDirectory(tmp_path / name)
    return Replayed(run, predict_soak(run, read_soak(run)))


@EACH
def test_every_record_is_where_it_was_predicted_to_be(name: str, tmp_path: Path) -> None:
    soak = replayed(name, tmp_path)
    assert soak.prediction.why_not is None
    assert soak.prediction.violation is None
    assert soak.copies() == soak.in_topic()
    assert soak.lost() == LOST[name]


@EACH
def test_the_ranges_have_every_offset_of_the_topic(name: str, tmp_path: Path) -> None:
    soak = replayed(name, tmp_path)
    ranges = pq.read_table(soak.run.path / RANGES_FILE).to_pylist()
    present = [
        (row["partition"], row["first_offset"], row["last_offset"]) for row in ranges if row["fate"] == "present"
    ]
    ends = read_soak(soak.run).ends
    for number, end in enumerate(ends):
        spans = [range(first, last + 1) for partition, first, last in present if partition == number]
        assert list(chain.from_iterable(spans)) == list(range(end))
    found = soak.prediction.records
    assert (found["present"], found["either"]) == (sum(ends), 0)
    assert found["lost"] >= soak.lost()


def test_what_is_lost_has_a_rule_and_a_reason(tmp_path: Path) -> None:
    lost = [row for row in replayed("4.4.0-mixed", tmp_path).rows if row["fate"] == "lost"]
    assert lost
    assert {row["rule"] for row in lost} == {"truncate-on-fetch"}
    assert all("began at offset" in str(row["reason"]) for row in lost if row["answer"] == "acknowledged")
    assert {row["acks"] for row in lost if row["answer"] == "acknowledged"} == {1}


@pytest.mark.parametrize(("name", "promise"), [("4.4.0-mixed", "allowed_by_settings"), ("0.10.2.2-all", "broken")])
def test_a_loss_is_told_with_what_was_promised(name: str, promise: str, tmp_path: Path) -> None:
    """With acks=all nothing that a clean election loses may be lost, whatever min.insync.replicas is."""
    soak = replayed(name, tmp_path)
    for rows in (soak.rows, pq.read_table(soak.run.path / RANGES_FILE).to_pylist()):
        assert {row["promise"] for row in rows if row["fate"] == "lost"} - {""} == {promise}
        assert {row["promise"] for row in rows if row["fate"] == "present"} == {""}
    assert {row["promise"] for row in soak.rows if row["answer"] != "acknowledged"} == {""}


def test_a_range_has_the_gravest_of_its_promises() -> None:
    one = BatchRow(0, 0, 1, 10, 3, 100, 2, 1, "acknowledged", "lost", "rule", "why", "allowed_by_settings")
    of_all = replace(one, base_offset=110, promise="broken")
    promises = RangePromises([one, of_all, replace(one, leader_epoch=3, base_offset=None)])
    told = RangeRow(0, 2, 1, 100, 119, "lost", "rule", "why")
    assert promises.of(told) == "broken"
    assert promises.of(replace(told, last_offset=109)) == "allowed_by_settings"
    assert promises.of(replace(told, first_offset=120, last_offset=129)) == ""
    assert promises.of(replace(told, leader_epoch=3, first_offset=0, last_offset=1)) == "allowed_by_settings"
    assert promises.of(replace(told, fate="either")) == ""


def test_the_same_wire_gives_the_same_digest_whatever_else_is_there(tmp_path: Path) -> None:
    soak = replayed("4.4.0-mixed", tmp_path)
    for name in ("topic.parquet", "acknowledged.parquet"):
        (soak.run.path / name).unlink()
    again = predict_soak(soak.run, read_soak(soak.run))
    assert again.digest == soak.prediction.digest == read_soak_prediction(soak.run).digest


def test_it_is_told_how_far_the_replay_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "TOLD_EVERY_S", 0.0)
    monkeypatch.setattr(stream, "_LOOKED_AT", 100)
    shutil.copytree(RECORDED / "4.4.0-mixed", tmp_path / "soak")
    run, lines = RunDirectory(tmp_path / "soak"), list[str]()
    prediction = predict_soak(run, read_soak(run), tell=lines.append)
    first, then = (
        [
            one
            for line in lines
            if (one := re.match(rf"{said} (\d+)% of the soak: ([\d,]+) {what}, [\d,]+ a second", line))
        ]
        for said, what in (("replayed", "events"), ("followed batches through", "frames"))
    )
    assert len(first) + len(then) == len(lines)
    assert [one[0] for one in (*first, *then)] == [line.partition(", some")[0] for line in lines]
    assert len(then) > 10
    assert [int(one[2].replace(",", "")) for one in then] == list(range(0, len(then) * 100, 100))
    parts, counts = ([int(one[place].replace(",", "")) for one in first] for place in (1, 2))
    assert len(parts) == len(range(0, prediction.events, 100))
    assert parts == sorted(parts)
    assert counts == list(range(0, prediction.events, 100))
    assert parts[0] == 0
    assert parts[-1] > 90
    assert lines[len(first) // 2].endswith(" s left")


def test_a_number_that_no_rule_allows_is_told(tmp_path: Path) -> None:
    """A leader that tells a high watermark which no follower has reached."""
    shutil.copytree(RECORDED / "4.4.0-mixed", tmp_path / "soak")
    run = RunDirectory(tmp_path / "soak")
    lines = list(lines_of(run.path / WIRE_FILE))
    answers = [n for n, line in enumerate(lines) if b'"link":"replication"' in line and b'"high_watermark":' in line]
    number = answers[len(answers) // 2]
    lines[number] = re.sub(rb'"high_watermark":\d+', b'"high_watermark":99999', lines[number])
    rewrite(run, lines)
    prediction = predict_soak(run, read_soak(run))
    assert prediction.violation is not None
    assert "99999" in prediction.violation


@pytest.mark.parametrize("other_release", [("0.11.0.3", MetadataMode.ZOOKEEPER), ("4.4.0", MetadataMode.KRAFT)])
def test_by_the_rules_of_another_release_other_records_are_lost(
    other_release: tuple[str, MetadataMode], tmp_path: Path
) -> None:
    soak = replayed("0.10.2.2-all", tmp_path)
    lost = soak.lost()
    other = Replayed(soak.run, predict_soak(soak.run, read_soak(soak.run), rules_for(*other_release)))
    assert other.prediction.violation is not None
    assert other.prediction.digest != soak.prediction.digest
    assert other.lost() != lost
    assert other.copies() != other.in_topic()


def test_a_partition_of_which_too_much_is_possible_is_left_open_in_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "POSSIBLE_MAX", 1)
    soak = replayed("4.4.0-mixed", tmp_path)
    ends = read_soak(soak.run).ends
    assert soak.prediction.records == {"present": 0, "lost": 0, "either": sum(ends)}
    ranges = pq.read_table(soak.run.path / RANGES_FILE).to_pylist()
    assert [(row["first_offset"], row["last_offset"] + 1) for row in ranges] == [(0, end) for end in ends]
    either = [row for row in soak.rows if row["fate"] == "either"]
    assert all("more than 1 possibilities of what" in str(row["reason"]) for row in [*ranges, *either])
    told = pq.read_table(soak.run.path / "acknowledged.parquet")["record_id"].to_pylist()
    assert set(told) <= {row["first_id"] + place * row["step"] for row in either for place in range(row["count"])}
    assert len(either) < len(told) / 20
    replicas = pq.read_table(soak.run.path / REPLICAS_FILE).to_pylist()
    assert {row["fate"] for row in replicas} == {"either"}
    assert [row["last_offset"] + 1 for row in replicas] == [end for end in ends for _ in combinations(range(3), 2)]


def until_the_first_fault(run: RunDirectory) -> None:
    """Leave of a recorded soak what came before its first fault, but for requests that were answered later."""
    marks = [json.loads(line) for line in (run.path / "timeline.ndjson").read_text().splitlines()]
    until_ns = min(mark["t_ns"] for mark in marks if mark["event"] == "broker_killed") - 500_000_000
    (run.path / "timeline.ndjson").write_text("")
    lines = map(json.loads, lines_of(run.path / WIRE_FILE))
    frames = [one for one in lines if one.get("arrived_ns", until_ns) < until_ns]
    answered = {(one["connection"], one["correlation_id"]) for one in frames if one["direction"] == "response"}
    kept = [one for one in frames if (one["connection"], one["correlation_id"]) in answered]
    seqs = [one["seq"] for one in frames]
    end = {"end": True, "first_seq": min(seqs), "next_seq": max(seqs) + 1, "lines": len(kept)}
    left_out = sorted(set(range(min(seqs), max(seqs) + 1)) - {one["seq"] for one in kept})
    (run.path / WIRE_FILE).unlink()
    with closing(CompressedLines(run.path / WIRE_FILE)) as cut:
        for said in (*kept, end | {"left_out": left_out}):
            cut.write(json.dumps(said, separators=(",", ":")).encode() + b"\n")


def test_a_soak_of_plain_cases_alone_is_gone_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(RECORDED / "4.4.0-mixed", tmp_path / "soak")
    run = RunDirectory(tmp_path / "soak")
    until_the_first_fault(run)
    monkeypatch.delattr(FollowedBatches, "rows")
    soak = Replayed(run, predict_soak(run, read_soak(run)))
    assert soak.prediction.why_not is None
    assert soak.prediction.records["present"] > 500
    assert soak.rows == []


def test_a_produce_frame_that_nobody_could_decode_leaves_nothing_predicted(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "4.4.0-mixed", tmp_path / "soak")
    run = RunDirectory(tmp_path / "soak")
    lines = list(lines_of(run.path / WIRE_FILE))
    number = next(number for number, line in enumerate(lines) if b'"api":"Produce"' in line)
    lines[number] = msgspec.json.encode({**msgspec.json.decode(lines[number]), "decoded": None}) + b"\n"
    rewrite(run, lines)
    prediction = predict_soak(run, read_soak(run))
    assert prediction.why_not is not None
    assert re.match(r"frame \d+ \(Produce v\d+ request\) was not decoded", prediction.why_not)


def rewrite(run: RunDirectory, lines: list[bytes]) -> None:
    (run.path / WIRE_FILE).unlink()
    with closing(CompressedLines(run.path / WIRE_FILE)) as doctored:
        for line in lines:
            doctored.write(line)


def test_a_trace_that_is_cut_predicts_nothing(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "4.4.0-mixed", tmp_path / "soak")
    run = RunDirectory(tmp_path / "soak")
    content = (run.path / WIRE_FILE).read_bytes()
    (run.path / WIRE_FILE).write_bytes(content[: len(content) // 2])
    prediction = predict_soak(run, read_soak(run))
    assert prediction.why_not is not None
    assert prediction.records == {"present": 0, "lost": 0, "either": 0}


def test_a_fault_stands_from_its_mark_to_the_one_that_ends_it(tmp_path: Path) -> None:
    marks = [
        (10, Event.HOLD_ARMED, "soak hold 1"),
        (20, Event.HOLD_CAUGHT, "soak hold 1"),
        (30, Event.BROKER_KILLED, "2"),
        (40, Event.HOLD_RELEASED, "soak hold 1"),
        (50, Event.BROKER_STARTED, "2"),
        (60, Event.BROKER_PAUSED, "1"),
        (70, Event.BROKER_STARTED, "2"),
        (80, Event.BROKER_RESUMED, "1"),
    ]
    lines = (msgspec.json.encode(TimelineMark(event, subject, "", t_ns=at)) for at, event, subject in marks)
    (tmp_path / TIMELINE_FILE).write_bytes(b"".join(line + b"\n" for line in lines))
    faults = StandingFaults(RunDirectory(tmp_path))
    assert [at for at in range(5, 100, 10) if faults.stand_at(at)] == [25, 35, 45, 65, 75]
