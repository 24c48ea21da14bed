"""Does attach say beforehand what does not go together, and what will be done? No cluster is needed for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main

if TYPE_CHECKING:
    from pathlib import Path

GIVEN = ["--bootstrap-server", "127.0.0.1:1", "--create", "t", "--records", "10"]
THERE = ["--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--records", "10"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--bootstrap-server", "b:1", "--records", "10"], "either --topic T names a topic that is there, or --create"),
        ([*GIVEN, "--topic", "t"], "either --topic T names a topic that is there, or --create"),
        ([*GIVEN, "--duration", "10s"], "either --records N or --duration T"),
        (["--bootstrap-server", "b:1", "--create", "t"], "either --records N or --duration T"),
        (["--create", "t", "--records", "10"], "--bootstrap-server must name a broker"),
        (["--bootstrap-server", "b", "--create", "t", "--records", "1"], "is no HOST:PORT"),
        (["--bootstrap-server", "b:1", "--topic", "t", "--records", "1", "--partitions", "3"], "--partitions is about"),
        (
            ["--bootstrap-server", "b:1", "--topic", "t", "--records", "1", "--delete-created"],
            "--delete-created is about",
        ),
        ([*GIVEN, "--topic-config", "x"], "is no setting such as"),
        ([*GIVEN, "--fault-command", "true"], "each --fault-command has its --at"),
        ([*GIVEN, "--at", "3s"], "each --fault-command has its --at"),
        ([*GIVEN, "--one-at-a-time"], "there is none"),
        ([*GIVEN[:-2], "--duration", "5s", "--fault-command", "true", "--at", "9s"], "is not within --duration"),
        ([*GIVEN, "--rate", "0"], "is not a whole number"),
        ([*GIVEN, "--rate", "fast"], "is not a whole number"),
        ([*GIVEN, "--command-config", "none.properties"], "cannot be read"),
        ([*GIVEN, "--idempotence", "on", "--acks", "1"], "--idempotence on needs --acks all"),
        ([*GIVEN, "--topic-config", "cleanup.policy=compact,delete"], "topic kafka-conformance-t is compacted"),
        (GIVEN, "no broker answers at 127.0.0.1:1 (Connection refused)"),
        (["--resume", "nowhere"], "nowhere/attach.json cannot be read"),
    ],
)
def test_what_does_not_go_together_is_told_and_nothing_is_left(
    options: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(["attach", *options])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert why in capsys.readouterr().err
    assert not list(tmp_path.glob("attached/*"))


def test_it_says_beforehand_what_it_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["attach", *GIVEN, "--rate", "50"])
    told = capsys.readouterr().err
    assert "creates topic kafka-conformance-t (6 partitions, 3 replicas; cleanup.policy=delete, min.insync.re" in told
    assert "unclean.leader.election.enable=false) and writes 10 records of 100 bytes with acks=all to topic" in told
    assert "at most 50 a second; breaks nothing: that is up to you" in told
