"""Does ``explore --model Brokers`` search a release's brokers, and write what it finds as a schedule?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.explored_brokers import excluded_coverage
from conformance.schedules.schedule_file import read_schedule
from oracle.brokers.answers import search
from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.explorer.search import Limits
from oracle.properties import ALWAYS, ASKED
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["explore", "--model", "Brokers", "--records", "1", "--epochs", "2", "--quiet"]


def test_a_hole_is_told_step_by_step_and_written_as_a_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.yaml"
    named = ["--kafka", "2.8.0", "--invariant", "AcknowledgedSurvives", "--write-schedule", str(out)]
    assert main(["explore", "--model", "Brokers", *named]) == 1
    printed = capsys.readouterr()
    assert "AcknowledgedSurvives is VIOLATED" in printed.out
    assert "broker 2: [m1/1] high watermark 1, down" in printed.out
    assert f"wrote {out}: 13 steps" in printed.err
    assert read_schedule(out).schedule.id == "found/found"


def test_a_release_without_the_hole_holds_and_has_nothing_to_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.yaml"
    named = ["--kafka", "2.8.1", "--write-schedule", str(out), "--json", "--stops", "--late-joins"]
    assert main(["explore", "--model", "Brokers", "--records", "1", "--epochs", "1", *named]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "holds"
    assert (told["constants"]["kafka"], told["constants"]["stops"]) == ("2.8.1", True)
    assert not out.exists()


def test_a_power_failure_loses_what_no_promise_covers(capsys: pytest.CaptureFixture[str]) -> None:
    named = ["--kafka", "3.9.2", "--power-failure", "--without-checkpoint", "--unclean", "--min-isr", "2", "--json"]
    assert main([*SMALL, *named, "--invariant", "NothingAcknowledgedIsLost"]) == 1
    assert json.loads(capsys.readouterr().out)["invariant"] == "NothingAcknowledgedIsLost"


def test_replicas_are_not_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--symmetry"]) == 2
    assert "not alike" in capsys.readouterr().err


ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
NEVER = (
    ("0.10.2.2", ZOOKEEPER, SearchBounds(), {"unclean election", "produce refused", "epoch lookup", "diverging fetch"}),
    ("2.6.3", ZOOKEEPER, SearchBounds(settings=TopicSettings(2, unclean_leader_election=True)), {"diverging fetch"}),
    ("3.9.2", KRAFT, SearchBounds(), {"unclean election", "produce refused", "epoch lookup"}),
    ("4.3.1", KRAFT, SearchBounds(acks=Acks.NONE), {"produce refused", "record acknowledged", "epoch lookup"}),
)


@pytest.mark.parametrize(("version", "mode", "bounds", "excluded"), NEVER, ids=[version for version, *_ in NEVER])
def test_a_place_that_rules_or_settings_exclude_is_not_asked_for_and_never_seen(
    version: str, mode: MetadataMode, bounds: SearchBounds, excluded: set[str]
) -> None:
    brokers = Brokers(rules_for(version, mode), bounds)
    assert excluded_coverage(brokers) == excluded
    found = search(brokers, ("LeaderIsInSync",), Limits(max_states=6000))
    assert excluded <= set(found.never_seen)


def test_no_warning_is_about_what_cannot_happen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--kafka", "3.9.2", "--epochs", "0"]) == 0
    (warning,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("NEVER SEEN"))
    never = set(warning.split(": ")[1].split(", "))
    assert "clean election" in never
    assert not {"unclean election", "produce refused", "epoch lookup"} & never


def test_the_invariants_on_offer_are_always_in_the_same_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--invariant", "None"]) == 2
    named = [*ALWAYS, *(name for name in ASKED if name not in ALWAYS)]
    assert f"it has: {', '.join(named)}\n" in capsys.readouterr().err
