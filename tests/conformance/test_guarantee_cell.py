"""``guarantees`` for a person: a table of few lines, and what one choice of settings may lose, by which steps."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from conformance.cli import build_parser, main
from conformance.commands.guarantee_cell import extent
from conformance.commands.guarantee_glance import answer_words
from conformance.commands.guarantees import kept_answers
from conformance.kept_guarantees import kept_table
from conformance.registry import select
from conformance.schedules.schedule_file import read_schedule
from fault_injection.releases import find_release
from oracle.brokers.answers import SearchAnswer, SearchResult
from oracle.brokers.questions import Faults, GuaranteeCell, cells
from oracle.rules.by_version import rules_for
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

NONE_OF_ALL, NONE_OF_SOME = SearchResult(10, 5, is_complete=True), SearchResult(10, 5, is_complete=False)
SEVEN = (Checkpoint("again"),) * 7
FOUND = SearchResult(10, 5, is_complete=True, actions=4, schedule=SEVEN, decided_by="it was cut")


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(("guarantees", *arguments)) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (SearchAnswer(None), "nothing acknowledged"),
        (SearchAnswer(NONE_OF_ALL), "none found, RF 3 searched whole"),
        (SearchAnswer(NONE_OF_SOME), "none found in 10 states"),
        (SearchAnswer(FOUND), "lost in 7 steps"),
        (SearchAnswer(FOUND, NONE_OF_ALL), "lost in 7 steps, as allowed"),
        (SearchAnswer(FOUND, FOUND), "PROMISE BROKEN in 7 steps"),
    ],
)
def test_an_answer_is_told_in_few_words(found: SearchAnswer, words: str) -> None:
    assert answer_words(found, 3) == words


def test_without_a_release_the_newest_is_told_in_a_table_that_fits_on_a_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = lines(capsys)

    newest = find_release("newest").version
    assert told[0].startswith(f"{newest} kraft (the same: ")
    assert len(told) < 40
    assert told == lines(capsys, "--kafka", newest)
    assert "None found is no proof: it is about the model, within bounds." in "\n".join(told)


@pytest.mark.parametrize("release", ["0.10.2.2 zookeeper", "2.8.0 zookeeper", "4.3.1 kraft"])
def test_every_cell_is_in_one_line_of_the_table(capsys: pytest.CaptureFixture[str], release: str) -> None:
    text = "\n".join(lines(capsys, "--kafka", release.replace(" ", "/")))
    _, *parts = re.split(r"\n  [123] replicas? ", text)
    row = kept_table().row_of(release)

    assert row is not None
    for cell in cells():
        told = (line.strip() for line in parts[cell.replicas - 1].splitlines())
        (line,) = (line for line in told if _is_about(line, cell))
        assert answer_words(row.answers[cell], cell.replicas) in line


def test_releases_that_can_lose_the_same_share_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(lines(capsys, "--kafka", "3.9.0,3.9.2,0.10.2.2", "--metadata", "zookeeper"))
    tables = text.partition("None found is no proof")[0].split("\n\n  1 replica ")
    heads = [table.splitlines()[-1] for table in tables[:-1]]

    same = "3.9.0 zookeeper, 3.9.2 zookeeper (the same: 3.7.2 zookeeper, 3.8.1 zookeeper)"
    assert heads == ["0.10.2.2 zookeeper", same]


def test_no_release_has_two_tables_and_no_heading_is_wide(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(lines(capsys, "--kafka", "all")).partition("None found is no proof")[0]
    named = re.findall(r"(\d\S+ (?:zookeeper|kraft))", text)

    assert sorted(named) == sorted(name for row in kept_table().rows for name in row.releases)
    assert text.count("\n  1 replica ") < len(kept_table().rows)
    assert max(len(line) for line in text.splitlines() if not line.startswith("  ")) <= 120


def test_a_power_failure_is_searched_for_broken_promises_too() -> None:
    power = [
        found
        for row in kept_table().rows
        for cell, found in row.answers.items()
        if cell.faults is Faults.POWER_FAILURE and cell.acks is Acks.ALL
    ]
    lost = [found for found in power if found.lost is not None and found.lost.actions is not None]

    assert lost
    assert all(found.broken is not None and found.broken.actions is not None for found in lost)


def _is_about(line: str, cell: GuaranteeCell) -> bool:
    acks = "all" if cell.acks is Acks.ALL else int(cell.acks)
    minimum = "any min.isr" in line or str(cell.min_isr) in line.partition("min.isr=")[2].partition(" ")[0]
    unclean = "unclean on or off" in line or f"unclean={'on' if cell.unclean else 'off'}" in line
    return line.startswith(f"acks={acks} ") and minimum and unclean


def test_settings_that_are_named_are_told_by_steps_and_commands(capsys: pytest.CaptureFixture[str]) -> None:
    told = lines(capsys, *shlex.split("--kafka 4.3.1 --acks all --min-insync-replicas 1 --unclean --replicas 2"))

    assert told[0] == "acks=all min.isr=1 unclean=on replicas=2 on Kafka 4.3.1 (kraft)"
    assert "   1. kill broker 2 (kill -9)" in told
    assert any(line.startswith("  m0: broker 2 elected uncleanly without it at step 4") for line in told)
    assert any(line.startswith("  promise: ALLOWED_BY_SETTINGS; m0 lost: unclean election") for line in told)
    assert told[told.index("") + 1].startswith("kills: an acknowledged record can be lost, as the settings allow; ")
    assert "  by the same steps as with kills" in told


@pytest.mark.parametrize(
    ("release", "unclean", "is_unheeded"),
    [
        ("3.4.1/kraft", "on", True),
        ("3.8.1/kraft", "on", True),
        ("3.4.1/kraft", "off", False),
        ("3.4.1/zookeeper", "on", False),
        ("3.9.2/kraft", "on", False),
        ("4.3.1", "on", False),
    ],
)
def test_a_setting_that_the_release_never_looks_at_is_named(
    capsys: pytest.CaptureFixture[str], release: str, unclean: str, is_unheeded: bool
) -> None:
    told = lines(capsys, "--kafka", release, "--unclean", unclean, "--faults", "kills")

    assert any(line.startswith("unclean=on changes nothing: Kafka 3.") for line in told) is is_unheeded
    assert ("KAFKA-12670" in "\n".join(told[:4])) is is_unheeded


def test_its_commands_write_the_schedule_that_was_told_and_name_the_scenario(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = lines(capsys, *shlex.split("--kafka 3.9.2/zookeeper --acks 1 --faults kills"))
    commands = [line.partition("kafka-conformance ")[2].split() for line in told if "kafka-conformance " in line]
    writing, *others = commands

    for command in commands:
        build_parser().parse_args(command)
        assert command[-4:] == ["--kafka", "3.9.2", "--metadata", "zookeeper"] or command is writing
    assert select([others[1][1]])[0].name == "EL-03/acks=1,min=1,unclean=off,replicas=2"
    out = tmp_path / "lost.yaml"
    assert main([str(out) if word == "lost.yaml" else word for word in writing]) == 0
    steps = [f"  {n:2}. {step.sentence()}" for n, step in enumerate(read_schedule(out).schedule.steps, start=1)]
    assert [line for line in told if line[:4].strip().isdigit()] == steps


def test_where_nothing_is_found_or_acknowledged_there_are_no_steps(capsys: pytest.CaptureFixture[str]) -> None:
    told = lines(capsys, "--min-isr", "2", "--faults", "kills")

    (kills,) = [line for line in told if line.startswith("kills: ")]
    assert re.fullmatch(r"kills: none found, RF 2 searched whole \([1-9],\d{3} states\); that is no proof", kills)
    assert not any(line[:4].strip().isdigit() for line in told)
    assert lines(capsys, "--acks", "0")[2] == "promised: acks=0: nothing is acknowledged, and nothing promised"


@pytest.mark.parametrize(
    ("named", "defaults"),
    [
        (("--acks", "all"), "min.isr=1 unclean=off replicas=2"),
        (("--unclean", "--replicas", "3"), "acks=all min.isr=1"),
        (("--acks", "1", "--min-isr", "1", "--unclean", "off", "--replicas", "2"), ""),
    ],
)
def test_settings_that_nobody_named_are_told_as_defaults(
    capsys: pytest.CaptureFixture[str], named: tuple[str, ...], defaults: str
) -> None:
    asked = ("--kafka", "4.4.0", "--faults", "kills", *named)
    told = lines(capsys, *asked)

    assert (told[1] == f"not named, so by default: {defaults}") is bool(defaults)
    assert ("by default" in "".join(told)) is bool(defaults)
    assert json.loads("\n".join(lines(capsys, *asked, "--json")))["defaults"] == defaults.split()


def test_settings_are_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    (text,) = ["\n".join(lines(capsys, "--kafka", "2.8.0", "--acks", "all", "--json"))]
    told = json.loads(text)

    assert (told["release"], told["settings"]) == ("2.8.0 zookeeper", "acks=all min.isr=1 unclean=off replicas=2")
    kills, power = (f"EL-03/{crash}acks=all,min=1,unclean=off,replicas=2" for crash in ("", "power-failure,"))
    assert [entry["name"] for entry in told["entries"]] == [kills, power]
    kills = told["faults"]["kills"]
    assert kills["broken"]["steps"] == len(kills["shown"]["steps"]) == 13
    assert kills["shown"]["promise"].startswith("promise: BROKEN_AS_PREDICTED")
    assert set(told["faults"]) == {faults.value for faults in Faults}


@pytest.mark.parametrize(
    ("acks", "faults", "entries"),
    [
        ("all", "kills", {"EL-03/acks=all,min=1,unclean=off,replicas=2": "KEPT"}),
        ("all", "power-failure", {"EL-03/power-failure,acks=all,min=1,unclean=off,replicas=2": "BROKEN_AS_PREDICTED"}),
        ("1", "power-failure", {"EL-03/acks=1,min=1,unclean=off,replicas=2": "ALLOWED_BY_SETTINGS"}),
    ],
)
def test_the_entry_that_is_named_has_the_fault_that_was_asked(
    capsys: pytest.CaptureFixture[str], acks: str, faults: str, entries: dict[str, str]
) -> None:
    """A power failure can do no more than kills to what acks=1 may lose anyway."""
    told = json.loads("\n".join(lines(capsys, "--kafka", "4.4.0", "--acks", acks, "--faults", faults, "--json")))
    verdicts = {entry["name"]: entry["predicted"].split()[1].rstrip(";") for entry in told["entries"]}
    assert verdicts == entries


def test_a_patch_that_the_table_does_not_name_has_the_answers_of_its_rules() -> None:
    cell = next(one for one in cells() if one.replicas == 2)
    rules = rules_for("2.8.1", MetadataMode.ZOOKEEPER)

    assert kept_answers(rules, [cell]) == kept_answers(rules_for("2.8.2", MetadataMode.ZOOKEEPER), [cell])
    assert kept_answers(rules, [cell]) != kept_answers(rules_for("2.8.0", MetadataMode.ZOOKEEPER), [cell])


@pytest.mark.parametrize("replicas", ["4", "5"])
def test_more_replicas_than_are_searched_are_told_by_the_steps_of_three(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, replicas: str
) -> None:
    named = shlex.split(f"--kafka 4.4.0 --min-isr 1 --unclean on --replicas {replicas}")
    told = lines(capsys, *named, "--faults", "kills")
    (kills,) = [line for line in told if line.startswith("kills: ")]

    assert told[0] == f"acks=all min.isr=1 unclean=on replicas={replicas} on Kafka 4.4.0 (kraft)"
    assert kills.endswith("(a witness of 3 replicas, lifted; proved by prediction)")
    assert "promise broken: none found, RF 3 searched whole" in kills
    assert "   1. kill broker 4 (kill -9)" in told
    assert not any("EL-03" in line for line in told)
    out = tmp_path / "lost.yaml"
    assert main(["guarantees", *named, "--write-schedule", str(out)]) == 0
    assert len(read_schedule(out).schedule.replicas) == int(replicas)


def test_what_three_replicas_do_not_lose_is_not_told_of_more(capsys: pytest.CaptureFixture[str]) -> None:
    told = lines(capsys, *shlex.split("--kafka 4.4.0 --min-isr 2 --replicas 4 --faults kills"))

    assert told[-1] == "kills: RF 4 was not searched; none found, RF 3 searched whole"


def test_a_loss_whose_steps_do_not_lift_is_said_not_to_be_searched() -> None:
    cell = GuaranteeCell(Acks.ALL, 1, unclean=False, replicas=4, faults=Faults.KILLS)

    assert extent(cell, SearchAnswer(FOUND, FOUND), None) == (
        "RF 4 was not searched; what loses a record with RF 3 is not predicted to lose one"
    )
    assert extent(cell.searched, SearchAnswer(FOUND, FOUND), None).endswith("; no steps at rest show it")
