"""Is everything that the documents print true at this commit: commands, outputs, schedules, links and words?"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from conformance.cli import EPILOG, build_parser, main
from conformance.commands.choosing import Choice, rules_of
from conformance.commands.groups import GROUPS
from conformance.commands.predicted_promise import predicted_promise
from fault_injection.releases import MetadataMode, find_release
from oracle.predict import predict
from tests.conformance.selected import select_scenarios
from tests.project.documents import (
    ARCHITECTURE,
    BESIDE,
    CHANGELOG,
    CONTRIBUTING,
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
    shown_commands,
)
from tests.project.first_scenario import write_first_schedule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def words(command: str) -> list[str]:
    """Split a command as a shell would, without its comment."""
    return shlex.split(command, comments=True)


def told(documents: Iterable[Path]) -> tuple[str, ...]:
    """Return the commands of documents, each once, without their comments."""
    return tuple(dict.fromkeys(shlex.join(words(line)) for document in documents for line in commands(document)))


DOCUMENTS = (README, ARCHITECTURE, CHANGELOG, CONTRIBUTING, *PAGES)
COMMANDS = told(DOCUMENTS)
OURS = tuple(command for command in told((*DOCUMENTS, *BESIDE)) if command.startswith("kafka-conformance "))
IN_EXAMPLES = tuple(command for example in EXAMPLES for command in commented_commands(example))
IN_HELP = tuple(line.strip() for line in EPILOG.splitlines() if line.strip().startswith("kafka-conformance "))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXT = README.read_text(encoding="utf-8")
ACTIVATE = ". .venv/bin/activate"
SHOWN = tuple(shown for document in DOCUMENTS for shown in shown_commands(document))
ANSWERED = tuple(shown for shown in SHOWN if shown.command.startswith("kafka-conformance "))
"""What is shown of commands that need no broker; what `make` prints is measured."""
MEASURED = tuple(shown for shown in SHOWN if shown.command.startswith("make conformance"))
WRITTEN = re.findall(r"Save this as `([^`]+\.yaml)`", CONTRIBUTING.read_text(encoding="utf-8"))
"""Schedules that a document has its reader write; tests/project/test_contributing.py writes them too."""
LONG = 60
"""From how many letters on a line that stands twice is told twice."""


def test_the_readme_names_the_three_ways_to_run() -> None:
    assert "make conformance" in COMMANDS
    assert "make test" in COMMANDS
    assert any(command.startswith("make conformance KAFKA=") for command in COMMANDS)
    assert OURS
    assert IN_EXAMPLES
    assert IN_HELP
    assert ANSWERED
    assert len(MEASURED) == 2


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    assert len(TEXT.splitlines()) <= 200
    reached, found = {README}, [README]
    while found:
        more = {target for target in linked_files(found.pop()) if target.suffix == ".md"} - reached
        reached, found = reached | more, [*found, *more]
    assert [each for each in (*PAGES, *BESIDE) if each not in reached] == []


def test_the_first_screen_says_for_whom_it_is_and_leads_to_a_first_answer() -> None:
    screen = "\n".join(TEXT.splitlines()[:45])
    typed = [shown for shown in shown_commands(README) if shown.command in screen]
    first, second = (shown.command.split()[:2] for shown in typed[:2])
    assert (first, second) == (["pip", "install"], ["kafka-conformance", "guarantees"])
    assert typed[1].output
    needed = ("**You operate Kafka**", "**Not for**", "`make conformance` and `make test`")
    assert [words for words in needed if words not in screen] == []
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", TEXT)
    assert f"]({picture})" in screen
    assert (ROOT / picture).exists()


def test_nothing_is_told_twice() -> None:
    lines = [line for each in DOCUMENTS for line in each.read_text(encoding="utf-8").splitlines()]
    long = Counter(line for line in lines if len(line) >= LONG)
    again = [line for line, times in long.items() if times > 1]
    assert [line for line in again if "kafka-conformance" not in line] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_this_module_checks(command: str) -> None:
    assert command.split()[0] in {"kafka-conformance", "make", "pytest", "pip"} or command == ACTIVATE


@pytest.mark.parametrize("command", [*OURS, *IN_EXAMPLES])
def test_commands_and_their_files_exist(command: str) -> None:
    parsed = build_parser().parse_args(words(command)[1:])
    schedules: list[Path] = getattr(parsed, "schedule", [])
    assert all((ROOT / schedule).exists() or str(schedule) in WRITTEN for schedule in schedules)


@pytest.mark.parametrize(
    "name", ["run", "predict", "list", "explain", "judge", "report", "matrix", "guarantees", "explore"]
)
def test_the_help_of_what_the_readme_shows_teaches_by_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"kafka-conformance {name}" in TEXT
    with pytest.raises(SystemExit):
        build_parser().parse_args([name, "--help"])
    examples = [line.strip() for line in capsys.readouterr().out.partition("examples:\n")[2].splitlines()]
    ours = [line.partition("  ")[0] for line in examples if line.startswith("kafka-conformance ")]
    assert any(command.startswith(f"kafka-conformance {name}") for command in ours)
    for command in ours:
        build_parser().parse_args(words(command)[1:])


@pytest.mark.parametrize("name", [command.name for group in GROUPS.values() for command in group])
def test_every_command_is_shown_in_a_document(name: str) -> None:
    assert any(command.split()[1] == name for command in OURS)


@pytest.mark.parametrize("line", IN_HELP)
def test_commands_of_the_help_text_exist(line: str) -> None:
    command, _, _explanation = line.partition("  ")
    build_parser().parse_args(words(command)[1:])


@pytest.mark.parametrize("command", [command for command in (*OURS, *IN_EXAMPLES) if "--kafka" in command])
def test_commands_name_supported_releases(command: str) -> None:
    for name in (
        (build_parser().parse_args(words(command)[1:]).kafka or "newest").replace("ladder", "newest").split(",")
    ):
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
    if command == "pip install .":
        return  # this checkout
    assert re.search(rf"kafka[-_]conformance(?:-{re.escape(PROJECT['version'])}-py3-\S+\.whl)?\[|wheel .* \.$", command)
    assert set(re.findall(r"\[(\w+)\]", command)) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("shown", ANSWERED, ids=lambda shown: shown.command)
def test_shown_answers_are_what_is_answered(
    shown: Shown, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any(written in shown.command for written in WRITTEN):
        write_first_schedule(tmp_path)
        monkeypatch.chdir(tmp_path)
    assert main(words(shown.command)[1:]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert shown.output
    for line in shown.output:
        assert line in printed


@pytest.mark.parametrize("shown", MEASURED, ids=lambda shown: shown.command)
def test_shown_verdicts_are_of_the_quick_profile_and_as_predicted(shown: Shown) -> None:
    values = dict(word.split("=") for word in words(shown.command)[2:])
    rules = rules_of(Choice(kafka=values.get("KAFKA", "newest")))
    predicted = {one.name: predicted_promise(predict(one.schedule, rules))[0].value for one in select_scenarios()}
    verdicts = [line.split()[:3] for line in shown.output if not line.startswith("seed ")]
    assert verdicts
    assert verdicts == [[name, "CONFORMS", predicted[name]] for name, *_ in verdicts]


@pytest.mark.parametrize("document", [*DOCUMENTS, *BESIDE], ids=lambda document: document.name)
def test_linked_files_and_headings_exist(document: Path) -> None:
    assert [target for target in linked_files(document) if not target.exists()] == []
    assert [link for link in linked_headings(document) if link[1] not in anchors(link[0])] == []
