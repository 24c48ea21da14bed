"""Is everything that the documents print true at this commit: commands, outputs, schedules, links and words?"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.examination import Basis, basis_of
from conformance.catalogue.ladder import LADDER
from conformance.catalogue.requirements import CHECKED_IN_EVERY_RUN, REQUIREMENTS
from conformance.cli import EPILOG, build_parser, main
from conformance.commands.choosing import Choice, rules_of
from conformance.commands.exploring import EXITS
from conformance.commands.foretold_promise import foretold_promise
from conformance.judgement.verdicts import EXIT_CODES, Conformance, PromiseKept
from conformance.registry import CATALOGUE, select, select_scenarios
from conformance.scenarios.regressions.track_record import TRACK_RECORD
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
    BESIDE,
    CHANGELOG,
    EXAMPLES,
    PAGES,
    README,
    ROOT,
    Shown,
    anchors,
    commands,
    commented_commands,
    linked_files,
    linked_headings,
    page,
    plain,
    shown_commands,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from oracle.rules.rule_set import RuleSet


def words(command: str) -> list[str]:
    """Split a command as a shell would, without its comment."""
    return shlex.split(command, comments=True)


def told(documents: Iterable[Path]) -> tuple[str, ...]:
    """Return the commands of documents, each once, without their comments."""
    return tuple(dict.fromkeys(shlex.join(words(line)) for document in documents for line in commands(document)))


DOCUMENTS = (README, ARCHITECTURE, CHANGELOG, *PAGES)
COMMANDS = told(DOCUMENTS)
OURS = tuple(command for command in told((*DOCUMENTS, *BESIDE)) if command.startswith("kafka-conformance "))
IN_EXAMPLES = tuple(command for example in EXAMPLES for command in commented_commands(example))
IN_HELP = tuple(line.strip() for line in EPILOG.splitlines() if line.strip().startswith("kafka-conformance "))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
TEXT = README.read_text(encoding="utf-8")
LIMITS = page("limits").read_text(encoding="utf-8")
SMALLEST = Schedule("limits", "What can be predicted?", (), (BrokerId(1), BrokerId(2)), (Checkpoint("start"),))
SHOWN = tuple(shown for document in DOCUMENTS for shown in shown_commands(document))
ANSWERED = tuple(shown for shown in SHOWN if shown.command.startswith("kafka-conformance "))
"""What is shown of commands that need no broker; what `make` prints is measured."""
MEASURED = tuple(shown for shown in SHOWN if shown.command.startswith("make conformance"))
LONG = 60
"""From how many letters on a line that stands twice is told twice."""


def test_the_readme_counts_what_the_model_predicts_and_names_what_is_documented() -> None:
    counts, text = Counter(map(basis_of, CATALOGUE)), plain(README)
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
    assert ANSWERED
    assert len(MEASURED) == 2


def test_the_catalogue_is_counted() -> None:
    text, areas = plain(page("catalogue")), Counter(one.id.partition("-")[0] for one in REQUIREMENTS)
    assert dict(re.findall(r"\| ([A-Z]{2}) \| (\d+) \|", text)) == {area: str(rows) for area, rows in areas.items()}
    assert len(REQUIREMENTS) == 65
    assert all("Sixty-five documented behaviours" in each for each in (text, plain(README)))
    assert f"Three ({', '.join(CHECKED_IN_EVERY_RUN)}) are held against every replica" in text
    assert len(select()) == 11
    assert all(
        "quick profile has eleven scenarios" in each or "profile of eleven" in each for each in (text, plain(README))
    )
    assert len(select(["EL-03"])) == 36


def test_the_catalogue_counts_what_the_newest_release_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    newest = RELEASES[-1].version
    assert main(["list", "--kafka", newest, "--not-run"]) == 0
    left_out = capsys.readouterr().out.split()[-1]
    assert f"says why: {left_out} entries on {newest}" in plain(page("catalogue"))


def test_the_readme_shows_the_number_of_import_contracts() -> None:
    (shown,) = [one for one in SHOWN if one.command == "make test"]
    assert shown.output == (f"Contracts: {len(SETTINGS['tool']['importlinter']['contracts'])} kept, 0 broken.",)


def test_the_readme_counts_the_track_record() -> None:
    assert f"{len(TRACK_RECORD)} known defects and missing features" in plain(README)


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    assert len(TEXT.splitlines()) <= 200
    reached, found = {README}, [README]
    while found:
        more = {target for target in linked_files(found.pop()) if target.suffix == ".md"} - reached
        reached, found = reached | more, [*found, *more]
    assert [each for each in (*PAGES, *BESIDE) if each not in reached] == []


def test_nothing_is_told_twice() -> None:
    lines = [line for each in DOCUMENTS for line in each.read_text(encoding="utf-8").splitlines()]
    long = Counter(line for line in lines if len(line) >= LONG)
    again = [line for line, times in long.items() if times > 1]
    assert [line for line in again if "kafka-conformance" not in line] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_this_module_checks(command: str) -> None:
    assert command.split()[0] in {"kafka-conformance", "make", "pytest", "pip"}


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
    for name in build_parser().parse_args(words(command)[1:]).kafka.replace("ladder", "newest").split(","):
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


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("pip ")])
def test_what_pip_installs_is_this_version_and_its_extras(command: str) -> None:
    assert re.search(rf"kafka[-_]conformance(?:-{re.escape(PROJECT['version'])}-py3-\S+\.whl)?\[|wheel .* \.$", command)
    assert set(re.findall(r"\[(\w+)\]", command)) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("shown", ANSWERED, ids=lambda shown: shown.command)
def test_shown_answers_are_what_is_answered(shown: Shown, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(shown.command)[1:]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert shown.output
    for line in shown.output:
        assert line in printed


@pytest.mark.parametrize("shown", MEASURED, ids=lambda shown: shown.command)
def test_shown_verdicts_are_of_the_quick_profile_and_as_predicted(shown: Shown) -> None:
    values = dict(word.split("=") for word in words(shown.command)[2:])
    rules = rules_of(Choice(kafka=values.get("KAFKA", "newest")))
    predicted = {one.name: foretold_promise(predict(one.schedule, rules))[0].value for one in select_scenarios()}
    verdicts = [line.split()[:3] for line in shown.output if not line.startswith("seed ")]
    assert verdicts
    assert verdicts == [[name, "CONFORMS", predicted[name]] for name, *_ in verdicts]


@pytest.mark.parametrize("document", [*DOCUMENTS, *BESIDE], ids=lambda document: document.name)
def test_linked_files_and_headings_exist(document: Path) -> None:
    assert [target for target in linked_files(document) if not target.exists()] == []
    assert [link for link in linked_headings(document) if link[1] not in anchors(link[0])] == []


def test_the_readme_explains_every_verdict_and_exit_code() -> None:
    for verdict in (*Conformance, *PromiseKept):
        assert f"`{verdict.value}`" in TEXT
    for code in {*EXIT_CODES.values(), 2}:
        assert re.search(rf"^\| {code} \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize("point", list(PointName))
def test_the_limits_name_exactly_the_points_that_cannot_be_predicted(point: PointName) -> None:
    on_link = Hold("held", point, follower=BrokerId(2), leader=BrokerId(1))
    on_channel = Hold("held", point, broker=BrokerId(2))
    can_hold = any(can_predict(replace(SMALLEST, steps=(hold,)), check=checked) for hold in (on_link, on_channel))
    assert (f"`{point.value}`" in LIMITS) is not can_hold


def test_the_limits_say_whether_lag_is_predicted() -> None:
    assert ("`timing: lag`" in LIMITS) is not can_predict(replace(SMALLEST, timing=Timing.LAG))


def test_the_catalogue_says_which_lines_are_not_on_the_ladder() -> None:
    text = plain(page("catalogue"))
    on_it = Counter(each.release for each in LADDER)
    lines = {release.line for release in on_it}
    *left_out, last = [release.line for release in RELEASES if release.line not in lines]
    assert f"prints the {len(LADDER)} releases with their modes" in text
    assert f"On the ladder are {len(on_it)} releases, three of them in both metadata modes" in text
    assert sum(count == len(MetadataMode) for count in on_it.values()) == 3
    assert f"Of the {len(RELEASES)} lines of `versions`, {', '.join(left_out)} and {last} are not on it" in text


def test_the_readme_says_how_explore_ends() -> None:
    for verdict, words in ((Verdict.VIOLATED, "an invariant is violated"), (Verdict.UNFINISHED, "unfinished")):
        assert re.search(rf"^\| {EXITS[verdict]} \|.*`explore`: {words}", TEXT, re.MULTILINE)


def test_the_invariants_of_the_model_are_numbered_before_those_of_the_wire() -> None:
    first = int(min(Invariant))
    assert f"The wire's invariants are numbered from {first}; 1 to {len(ALWAYS)} are" in plain(page("wire-check"))
    assert f"the model's own invariants, 1 to {len(ALWAYS)}," in plain(page("guarantees"))
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
