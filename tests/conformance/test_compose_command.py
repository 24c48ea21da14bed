"""Does ``compose`` write a cluster whole, say how it is started, and overwrite nothing that is somebody's?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands import composing
from fault_injection.cluster.composed import composed_files, composed_spec
from fault_injection.releases import NO_JARS, UsageError
from fault_injection.releases.release import JarsUnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from fault_injection.releases import Release


@pytest.fixture(autouse=True)
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note whose jars are fetched, and fetch none: compose/ is started with real ones."""
    releases: list[str] = []

    def fetch(release: Release) -> object:
        releases.append(release.version)
        return NO_JARS

    monkeypatch.setattr(composing, "jars_of", fetch)
    return releases


def test_a_cluster_is_written_and_how_it_is_started_is_said(
    tmp_path: Path, fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "new" / "cluster"
    for _ in range(2):  # what it has written itself it writes again
        assert main(["compose", "0.10.2", str(directory)]) == 0
    written = {path.name: path.read_text() for path in directory.iterdir()}
    assert written == composed_files(composed_spec("0.10.2.2"))
    assert fetched == ["0.10.2.2"] * 2
    out = capsys.readouterr().out
    assert f"docker-compose -f {directory / 'docker-compose.yaml'} up -d" in out
    assert "kafka-conformance audit --bootstrap-server 127.0.0.1:19091" in out


def test_it_is_told_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compose", "3.9.2/zookeeper", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "file": str(tmp_path / "docker-compose.yaml"),
        "bootstrap": ["127.0.0.1:19091", "127.0.0.1:19092", "127.0.0.1:19093"],
    }


@pytest.mark.parametrize("line", ["9.9", "4.3.1/zookeeper", "4.3.1/raft"])
def test_what_cannot_be_written_is_said(tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compose", line, str(tmp_path / "x")]) == 2
    assert capsys.readouterr().err.startswith("kafka-conformance: ")
    assert not (tmp_path / "x").exists()


def test_a_directory_with_something_else_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert main(["compose", "4.4.0", str(tmp_path)]) == 2
    assert f"{tmp_path} has mine, which is no file of such a cluster" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_is_no_directory(tmp_path: Path, fetched: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert main(["compose", "4.4.0", str(tmp_path / "mine")]) == 2
    assert "mine is no directory" in capsys.readouterr().err
    assert fetched == []


def test_without_jars_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Release) -> None:
        raise JarsUnavailableError("the jars of 4.4.0 cannot be had")

    monkeypatch.setattr(composing, "jars_of", fail)
    assert issubclass(JarsUnavailableError, UsageError)
    assert main(["compose", "4.4.0", str(tmp_path / "x")]) == 2
    assert "cannot be had" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
