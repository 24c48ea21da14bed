"""What does ``hunt`` answer before it starts anything, and what does it refuse?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.schedules.own_scenarios import read_scenarios
from conformance.schedules.schedule_file import read_schedule

if TYPE_CHECKING:
    from pathlib import Path


def test_schedules_are_only_written_if_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["hunt", "--kafka", "2.8.2", "--grow-only", "--schedules", "2", "--seed", "5", "--runs-dir", str(tmp_path)]
    assert main(asked) == 0
    written = [tmp_path / "schedules" / f"2.8.2-zookeeper-5-{number}.yaml" for number in (0, 1)]
    assert capsys.readouterr().out.split() == list(map(str, written))
    assert [read_schedule(path).schedule.id for path in written] == ["hunt/5-0", "hunt/5-1"]


def test_scripts_of_transactions_are_only_written_if_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["hunt", "--transactions", "--kafka", "2.8.2,4.4.0", "--grow-only", "--schedules", "2", "--seed", "5"]
    assert main([*asked, "--runs-dir", str(tmp_path)]) == 0
    lines = ("2.8.2-zookeeper", "4.4.0-kraft")
    written = [tmp_path / "schedules" / f"{line}-transactions-5-{number}.yaml" for line in lines for number in (0, 1)]
    assert capsys.readouterr().out.split() == list(map(str, written))
    entries = [entry for path in written for entry in read_scenarios(path)]
    assert [entry.name for entry in entries] == ["hunt/transactions-5-0", "hunt/transactions-5-1"] * 2
    assert len({entry.subject.steps() for entry in entries}) == 4  # type: ignore[union-attr]


def test_scripts_are_drawn_for_a_transaction_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["hunt", "--transactions", "--grow-only", "--schedules", "1", "--seed", "5", "--runs-dir", str(tmp_path)]
    assert main([*asked, "--kafka", "4.4.0", "--transaction-version", "1"]) == 0
    assert main([*asked, "--kafka", "3.9.2/kraft"]) == 0
    of_version, of_old = ((tmp_path / "schedules" / one) for one in capsys.readouterr().out.split())
    assert of_version.name == "4.4.0-kraft-transactions-version-1-5-0.yaml"
    (old,), (new,) = read_scenarios(of_old), read_scenarios(of_version)
    first, *others = new.subject.steps()  # type: ignore[union-attr]
    assert first == "format a cluster with transaction.version 1"
    assert tuple(others) == old.subject.steps(), "transactions are what they were"  # type: ignore[union-attr]


def refused(*arguments: str) -> bool:
    """Return whether the command line is refused, by the parser or by the command."""
    try:
        return main(["hunt", *arguments]) == 2
    except SystemExit as ended:
        return ended.code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "say how long: --schedules N or --time T"),
        (("--time", "20"), "'20' is no time such as 90s, 20m or 1h"),
        (("--schedules", "0"), "--schedules"),
        (("--schedules", "1", "--kafka", "9.9.9"), "9.9.9"),
        (("--schedules", "1", "--seed", "x"), "--seed"),
        (("--schedules", "1", "--guided-by", "nowhere.json"), "nowhere.json does not exist"),
        (("--schedules", "1", "--steps", "kill,rol"), "no step is called 'rol'"),
        (("--schedules", "1", "--rules-of", "4.4.0+maximal-isr"), "take it away with ~maximal-isr"),
        (("--schedules", "1", "--rules-of", "9.9.9"), "9.9.9"),
        (("--transactions",), "say how long: --schedules N or --time T"),
        (("--transactions", "--schedules", "1", "--kafka", "0.10.2.2"), "0.10.2.2 has no transactions"),
        (("--transactions", "--schedules", "1", "--steps", "kill"), "--steps is about schedules, not"),
        (("--transactions", "--schedules", "1", "--kafka", "3.9.2", "--transaction-version", "1"), "it has 0 alone"),
        (("--schedules", "1", "--transaction-version", "1"), "give --transactions too"),
        (("--transactions", "--tally"), "--tally is about schedules, not"),
        (("--transactions", "--schedules", "1", "--rules-of", "4.4.0+transaction-is-verified"), "has it already"),
    ],
)
def test_what_cannot_be_hunted_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    assert refused(*arguments, "--runs-dir", str(tmp_path / "hunts"))
    assert told in capsys.readouterr().err
    assert not list(tmp_path.glob("hunts/*.ndjson"))
