"""A run directory is what all phases share: names, files, a frozen prediction that nobody may touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectory, RunDirectoryError, as_line, run_name, slug
from conformance.record.prediction import check_frozen
from conformance.record.replica_logs import disagreeing_offsets
from conformance.record.run import Run, open_run, read_run, update_run, write_run
from conformance.record.timeline import Event, TimelineMark, read_timeline
from conformance.record.verdict import Verdict
from tests.conformance.ideal_runs import write_ideal_run
from tests.conformance.run_files import change_run, read_json

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_ideal_run(tmp_path)


def test_a_frozen_prediction_is_accepted_as_it_was(run: RunDirectory) -> None:
    check_frozen(run)

    assert len(read_json(run, "run.json")["prediction"]["sha256"]) == 64


@pytest.mark.parametrize("name", ["prediction.json", "records.parquet", "replica_logs.parquet"])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_one_changed_byte_of_a_prediction_is_refused(run: RunDirectory, name: str, place: float) -> None:
    path = run.path / "prediction" / name
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)

    with pytest.raises(RunDirectoryError, match="the prediction has changed since it was frozen"):
        check_frozen(run)


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_another_set_of_prediction_files_is_refused(run: RunDirectory, change: str) -> None:
    folder = run.path / "prediction"
    match change:
        case "added":
            (folder / "more.json").write_text("{}")
        case "removed":
            (folder / "records.parquet").unlink()
        case _:
            (folder / "records.parquet").rename(folder / "recorded.parquet")

    with pytest.raises(RunDirectoryError, match="has changed"):
        check_frozen(run)


def test_a_run_that_was_never_predicted_is_refused(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    change_run(run, scenario="TR-01")

    with pytest.raises(RunDirectoryError, match="the prediction was never frozen"):
        check_frozen(run)


def test_only_runs_of_this_format_are_opened(run: RunDirectory, tmp_path: Path) -> None:
    for readable in (1, 2):
        change_run(run, format=readable)
        assert open_run(run.path) == run
    for version, advice in ((0, "run it again"), (99, "use the tester that wrote it, or a newer one")):
        change_run(run, format=version)
        with pytest.raises(RunDirectoryError, match=f"has format {version}, this tester reads 1 and 2: {advice}"):
            open_run(run.path)
    with pytest.raises(RunDirectoryError, match=r"is no run directory: it has no run\.json"):
        read_run(RunDirectory(tmp_path))


def test_taken_names_get_a_number(tmp_path: Path) -> None:
    paths = [RunDirectory.create(tmp_path / "runs", "one").path.name for _ in range(3)]

    assert paths == ["one", "one-2", "one-3"]


def test_fields_of_a_run_are_changed_one_by_one(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    write_run(run, Run("4.3.1", "kraft", scenario="TR-01"))
    update_run(run, seconds=2.5)

    assert read_run(run) == Run("4.3.1", "kraft", scenario="TR-01", seconds=2.5)
    with pytest.raises(TypeError):
        update_run(run, second=2.5)


@pytest.mark.parametrize("content", [None, "{", "\udcff"], ids=["missing", "cut off", "no text"])
def test_a_file_that_cannot_be_read_is_named(run: RunDirectory, content: str | None) -> None:
    path = run.path / "verdict.json"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(RunDirectoryError, match=r"verdict\.json cannot be read"):
        run.read("verdict.json", Verdict)


def test_lines_are_read_one_by_one_and_a_cut_off_one_is_named(run: RunDirectory) -> None:
    path = run.path / "timeline.ndjson"
    path.unlink()
    assert read_timeline(run) == []
    marks = [TimelineMark(Event.RECORD_SENT, label, "sent", 1, 2) for label in ("m0", "m1")]
    path.write_text("\n".join(map(as_line, marks)))
    assert read_timeline(run) == marks

    path.write_text(as_line(marks[0]) + '{"t_ns": ')
    with pytest.raises(RunDirectoryError, match=r"timeline\.ndjson, line 2 cannot be read"):
        read_timeline(run)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("TR-01", "tr-01"), ("EL-02/unsafe", "el-02-unsafe"), ("mine/my schedule.v2!", "mine-my-schedule.v2")],
)
def test_a_slug_is_a_file_and_topic_name(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_a_run_is_named_after_time_release_and_scenario() -> None:
    stamp, _, rest = run_name("4.3.1", "kraft", "EL-02/safe").partition("-")

    assert len(stamp) == len("20261121T170800")
    assert rest == "4.3.1-kraft-el-02-safe"


def test_a_file_that_cannot_be_written_whole_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunDirectory(tmp_path)
    run.write("run.json", {"seconds": 1})

    def half(path: Path, text: str, **_: object) -> int:
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError("no space left on device")

    monkeypatch.setattr(type(tmp_path), "write_text", half)
    with pytest.raises(OSError, match="no space"):
        run.write("run.json", {"seconds": 2})
    assert read_json(run, "run.json") == {"seconds": 1}


def test_nothing_is_left_beside_a_file_that_was_written(tmp_path: Path) -> None:
    RunDirectory(tmp_path).write("verdict.json", {})

    assert [path.name for path in tmp_path.iterdir()] == ["verdict.json"]


@pytest.mark.parametrize(
    ("held", "offsets"),
    [
        ([], set()),
        ([(0, 10), (1, 11), (0, 10), (1, 11)], set()),
        ([(0, 10), (1, 11), (0, 10), (1, 12), (2, None)], {1}),
        ([(0, 10), (0, None)], {0}),
    ],
)
def test_replicas_disagree_where_one_offset_holds_different_records(
    held: list[tuple[int, int | None]], offsets: set[int]
) -> None:
    assert disagreeing_offsets(held) == offsets
