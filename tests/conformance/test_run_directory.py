"""A run directory is what all phases share: names, files, a frozen prediction that nobody may touch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.run_directory import RunDirectory, RunDirectoryError, run_name, slug
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return write_ideal_run(tmp_path)


def test_a_frozen_prediction_is_accepted_as_it_was(run: RunDirectory) -> None:
    run.check_frozen()

    assert len(run.read_json("run.json")["prediction"]["sha256"]) == 64


@pytest.mark.parametrize("name", ["prediction.json", "records.parquet", "replica_logs.parquet"])
@pytest.mark.parametrize("place", [0, 0.5, 1])
def test_one_changed_byte_of_a_prediction_is_refused(run: RunDirectory, name: str, place: float) -> None:
    path = run.path / "prediction" / name
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 1
    path.write_bytes(content)

    with pytest.raises(RunDirectoryError, match="the prediction has changed since it was frozen"):
        run.check_frozen()


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
        run.check_frozen()


def test_a_run_that_was_never_predicted_is_refused(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    run.update_run(scenario="TR-01")

    with pytest.raises(RunDirectoryError, match="the prediction was never frozen"):
        run.check_frozen()


def test_only_runs_of_this_format_are_opened(run: RunDirectory, tmp_path: Path) -> None:
    assert RunDirectory.load(run.path) == run

    run.update_run(format=2)
    with pytest.raises(RunDirectoryError, match=r"has format 2, this tester reads 1"):
        RunDirectory.load(run.path)
    with pytest.raises(RunDirectoryError, match=r"is no run directory: it has no run\.json"):
        RunDirectory.load(tmp_path)


def test_taken_names_get_a_number(tmp_path: Path) -> None:
    paths = [RunDirectory.create(tmp_path / "runs", "one").path.name for _ in range(3)]

    assert paths == ["one", "one-2", "one-3"]


def test_fields_of_a_run_are_added_not_replaced(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "one")
    run.update_run(scenario="TR-01", seconds=None)
    run.update_run(seconds=2.5)

    assert run.read_json("run.json") == {"format": 1, "scenario": "TR-01", "seconds": 2.5}


@pytest.mark.parametrize("content", [None, "{", "\udcff"], ids=["missing", "cut off", "no text"])
def test_a_file_that_cannot_be_read_is_named(run: RunDirectory, content: str | None) -> None:
    path = run.path / "verdict.json"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(RunDirectoryError, match=r"verdict\.json cannot be read"):
        run.read_json("verdict.json")


def test_lines_are_read_one_by_one_and_a_cut_off_one_is_named(run: RunDirectory) -> None:
    path = run.path / "timeline.ndjson"
    assert run.lines("timeline.ndjson") == []
    path.write_text('{"a": 1}\n\n{"b": 2}\n')
    assert run.lines("timeline.ndjson") == [{"a": 1}, {"b": 2}]

    path.write_text('{"a": 1}\n{"b": ')
    with pytest.raises(RunDirectoryError, match=r"timeline\.ndjson cannot be read"):
        run.lines("timeline.ndjson")


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
    run.write_json("run.json", {"seconds": 1})

    def half(path: Path, text: str, **_: object) -> int:
        path.write_bytes(text[: len(text) // 2].encode())
        raise OSError("no space left on device")

    monkeypatch.setattr(type(tmp_path), "write_text", half)
    with pytest.raises(OSError, match="no space"):
        run.write_json("run.json", {"seconds": 2})
    assert run.read_json("run.json") == {"seconds": 1}


def test_nothing_is_left_beside_a_file_that_was_written(tmp_path: Path) -> None:
    RunDirectory(tmp_path).write_json("verdict.json", {})

    assert [path.name for path in tmp_path.iterdir()] == ["verdict.json"]
