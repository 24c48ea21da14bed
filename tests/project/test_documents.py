"""Is everything that the documents print true at this commit: commands, outputs, schedules, links and words?"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.examination import Basis, basis_of
from conformance.catalogue.ladder import LADDER
from conformance.cli import EPILOG, build_parser, main
from conformance.commands.choosing import Choice, rules_of
from conformance.commands.exploring import EXITS
from conformance.judgement.verdicts import EXIT_CODES, Conformance, PromiseKept
from conformance.registry import CATALOGUE
from fault_injection.releases import RELEASES, MetadataMode, find_release
from oracle.explorer.exploration import Verdict
from oracle.points import check_points
from oracle.predict import predict
from oracle.properties import ALWAYS
from oracle.schedule import Schedule, ScheduleError
from oracle.steps import Checkpoint, Hold
from oracle.structure import check_structure
from oracle.tracing.invariants import Invariant
from oracle.vocabulary import BrokerId, PointName, Timing
from tests.project.documents import (
    ARCHITECTURE,
    CHANGELOG,
    EXAMPLES,
    README,
    ROOT,
    Shown,
    commands,
    commented_commands,
    linked_files,
    shown_commands,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from oracle.rules.rule_set import RuleSet


def words(command: str) -> list[str]:
    """Split a command as a shell would, without its comment."""
    return shlex.split(command, comments=True)


DOCUMENTS = (README, ARCHITECTURE, CHANGELOG)
COMMANDS = tuple(dict.fromkeys(shlex.join(words(line)) for document in DOCUMENTS for line in commands(document)))
OURS = tuple(command for command in COMMANDS if command.startswith("kafka-conformance "))
IN_EXAMPLES = tuple(command for example in EXAMPLES for command in commented_commands(example))
IN_HELP = tuple(line.strip() for line in EPILOG.splitlines() if line.strip().startswith("kafka-conformance "))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TEXT = README.read_text(encoding="utf-8")
LIMITS = TEXT.partition("## Limits")[2].partition("\n## ")[0]
SMALLEST = Schedule("limits", "What can be predicted?", (), (BrokerId(1), BrokerId(2)), (Checkpoint("start"),))
PREDICTED = tuple(shown for shown in shown_commands(README) if shown.command.startswith("kafka-conformance predict"))


def test_the_readme_counts_what_the_model_predicts_and_names_what_is_documented() -> None:
    counts, text = Counter(map(basis_of, CATALOGUE)), " ".join(TEXT.split())
    from_model, computed, documented = (counts[basis] for basis in Basis)
    assert f"Of {len(CATALOGUE)} entries {from_model} are predicted by the model, {computed} computed by a" in text
    assert f"and {documented} lie outside replication" in text
    named = re.findall(r"`([A-Z]{2}-[^`]+)`", text.split("*documented*")[1].split(". ")[0])
    assert named == [entry.name for entry in CATALOGUE if basis_of(entry) is Basis.DOCUMENTED]


def test_the_readme_names_the_three_ways_to_run() -> None:
    assert "make conformance" in COMMANDS
    assert "make test" in COMMANDS
    assert any(command.startswith("make conformance KAFKA=") for command in COMMANDS)
    assert OURS
    assert IN_EXAMPLES
    assert IN_HELP
    assert PREDICTED


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_this_module_checks(command: str) -> None:
    assert command.split()[0] in {"kafka-conformance", "make", "pytest", "."}


@pytest.mark.parametrize("command", [*OURS, *IN_EXAMPLES])
def test_commands_and_their_files_exist(command: str) -> None:
    parsed = build_parser().parse_args(words(command)[1:])
    schedules: list[Path] = getattr(parsed, "schedule", [])
    assert all((ROOT / schedule).is_file() for schedule in schedules)


@pytest.mark.parametrize("line", IN_HELP)
def test_commands_of_the_help_text_exist(line: str) -> None:
    command, _, _explanation = line.partition("  ")
    build_parser().parse_args(words(command)[1:])


@pytest.mark.parametrize("command", [command for command in (*OURS, *IN_EXAMPLES) if "--kafka" in command])
def test_commands_name_supported_releases(command: str) -> None:
    for name in build_parser().parse_args(words(command)[1:]).kafka.split(","):
        version, _, mode = name.partition("/")
        release = find_release(version)
        assert not mode or MetadataMode(mode) in release.metadata_modes


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("make ")])
def test_make_targets_and_variables_exist(command: str) -> None:
    target, *variables = words(command)[1:]
    assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.MULTILINE)
    values = dict(variable.split("=", 1) for variable in variables)
    for name in values:
        assert re.search(rf"^{name} \?=", MAKEFILE, re.MULTILINE)
    if target == "conformance":
        build_parser().parse_args(["run", *shlex.split(values.get("ARGS", ""))])
        find_release(values.get("KAFKA", "newest"))


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("pytest ")])
def test_pytest_options_are_the_plugins(command: str, pytestconfig: pytest.Config) -> None:
    known = pytestconfig._parser.parse_known_args(words(command)[1:])
    options = [word for word in words(command) if word.startswith(("--kafka", "--conformance"))]
    assert options
    for option in options:
        assert hasattr(known, option[2:].replace("-", "_"))


@pytest.mark.parametrize("shown", PREDICTED, ids=lambda shown: shown.command)
def test_shown_predictions_are_what_is_predicted(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(shown.command)[1:]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert shown.output
    for line in shown.output:
        assert line in printed


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_linked_files_exist(document: Path) -> None:
    missing = [target for target in linked_files(document) if not (ROOT / target).exists()]
    assert missing == []


def test_the_readme_explains_every_verdict_and_exit_code() -> None:
    text = README.read_text(encoding="utf-8")
    for verdict in (*Conformance, *PromiseKept):
        assert f"`{verdict.value}`" in text
    for code in {*EXIT_CODES.values(), 2}:
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE)


@pytest.mark.parametrize("point", list(PointName))
def test_the_limits_name_exactly_the_points_that_cannot_be_predicted(point: PointName) -> None:
    on_link = Hold("held", point, follower=BrokerId(2), leader=BrokerId(1))
    on_channel = Hold("held", point, broker=BrokerId(2))
    can_hold = any(can_predict(replace(SMALLEST, steps=(hold,)), check=checked) for hold in (on_link, on_channel))
    assert (f"`{point.value}`" in LIMITS) is not can_hold


def test_the_limits_say_whether_lag_is_predicted() -> None:
    assert ("`timing: lag`" in LIMITS) is not can_predict(replace(SMALLEST, timing=Timing.LAG))


def test_the_readme_says_which_lines_are_not_on_the_ladder() -> None:
    on_it = Counter(each.release for each in LADDER)
    lines = {release.line for release in on_it}
    *left_out, last = [release.line for release in RELEASES if release.line not in lines]
    assert f"prints the {len(LADDER)} releases with their modes" in TEXT
    assert f"On the ladder are {len(on_it)} releases, three of them in both metadata modes" in " ".join(TEXT.split())
    assert sum(count == len(MetadataMode) for count in on_it.values()) == 3
    assert f"Of the {len(RELEASES)} lines of `versions`, {', '.join(left_out)} and {last} are not on it" in TEXT


def test_the_readme_says_how_explore_ends() -> None:
    for verdict, words in ((Verdict.VIOLATED, "an invariant is violated"), (Verdict.UNFINISHED, "unfinished")):
        assert re.search(rf"^\| {EXITS[verdict]} \|.*`explore`: {words}", TEXT, re.MULTILINE)


def test_the_readme_numbers_the_invariants_of_the_model_before_those_of_the_wire() -> None:
    first = int(min(Invariant))
    assert f"The wire's invariants are numbered from {first}; 1 to {len(ALWAYS)} are the model's own" in TEXT
    assert first == len(ALWAYS) + 1


def test_the_limits_count_the_release_lines() -> None:
    assert f"lists {len(RELEASES)} release lines" in LIMITS


def checked(schedule: Schedule, rules: RuleSet) -> None:
    """Check what a schedule names, not whether it comes."""
    check_structure(schedule)
    check_points(schedule, rules)


def can_predict(schedule: Schedule, check: Callable[[Schedule, RuleSet], object] = predict) -> bool:
    """Tell whether any of a few very different releases can predict a schedule."""
    for release in ("0.10.2.2", "0.11.0.3", "2.8.2", "4.3.1"):
        try:
            check(schedule, rules_of(Choice(kafka=release)))
        except ScheduleError:
            continue
        return True
    return False
