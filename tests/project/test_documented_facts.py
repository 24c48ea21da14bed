"""Are the numbers and names that the documents state those of the code? Counts, verdicts, exit codes, limits."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.examination import Basis, Examination, basis_of
from conformance.catalogue.ladder import LADDER
from conformance.catalogue.requirements import CHECKED_IN_EVERY_RUN, REQUIREMENTS
from conformance.catalogue.track_record import TRACK_RECORD
from conformance.cli import main
from conformance.commands.choosing import Choice, rules_of
from conformance.commands.exploring import EXITS
from conformance.judgement.verdicts import EXIT_CODES
from conformance.puppet_scripts.script import OneBroker, PuppetScript
from conformance.record.verdict import Conformance, PromiseKept
from conformance.registry import CATALOGUE, select
from fault_injection.releases import RELEASES, MetadataMode
from oracle.explorer.model import SearchVerdict
from oracle.points import check_points
from oracle.predict import predict
from oracle.properties import ALWAYS
from oracle.schedule import Schedule, check_structure
from oracle.steps.frames import Hold
from oracle.steps.step import ScheduleError
from oracle.steps.waits import Checkpoint
from oracle.tracing.invariants import Invariant
from oracle.vocabulary import BrokerId, PointName, Timing
from tests.project.documents import (
    README,
    ROOT,
    blocks,
    page,
    plain,
    shown_commands,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet

TEXT = README.read_text(encoding="utf-8")
LIMITS = page("limits").read_text(encoding="utf-8")
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
SMALLEST = Schedule("limits", "What can be predicted?", (), (BrokerId(1), BrokerId(2)), (Checkpoint("start"),))


def test_the_readme_counts_what_the_model_predicts_and_names_what_is_documented() -> None:
    counts, text = Counter(map(basis_of, CATALOGUE)), plain(README)
    from_model, computed, documented = (counts[basis] for basis in Basis)
    assert f"Of {len(CATALOGUE)} entries {from_model} are predicted by the model, {computed} computed by a" in text
    assert f"and {documented} lie outside replication" in text
    named = re.findall(r"`([A-Z]{2}-[^`]+)`", text.split("*documented*")[1].split(". ")[0])
    assert named == [entry.name for entry in CATALOGUE if basis_of(entry) is Basis.DOCUMENTED]


def test_the_catalogue_is_counted() -> None:
    text, areas = plain(page("catalogue")), Counter(one.id.partition("-")[0] for one in REQUIREMENTS)
    assert dict(re.findall(r"\| ([A-Z]{2}) \| (\d+) \|", text)) == {area: str(rows) for area, rows in areas.items()}
    assert len(REQUIREMENTS) == 78
    assert all("Seventy-eight documented behaviours" in each for each in (text, plain(README)))
    assert f"Three ({', '.join(CHECKED_IN_EVERY_RUN)}) are held against every replica" in text
    assert len(select()) == 11
    named = re.findall(r"eleven scenarios \(([^:]+):", text)
    assert [name.split(", ") for name in named] == [[entry.name for entry in select()]]
    assert all(
        "quick profile has eleven scenarios" in each or "profile of eleven" in each for each in (text, plain(README))
    )
    assert len(select(["EL-03"])) == 48


def test_the_catalogue_counts_what_the_newest_release_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    newest = RELEASES[-1].version
    assert main(["list", "--kafka", newest, "--not-run"]) == 0
    left_out = capsys.readouterr().out.split()[-1]
    assert f"says why: {left_out} entries on {newest}" in plain(page("catalogue"))


def test_the_readme_shows_the_number_of_import_contracts() -> None:
    (shown,) = [one for one in shown_commands(README) if one.command == "make test"]
    assert shown.output == (f"Contracts: {len(CONTRACTS)} kept, 0 broken.",)


def test_the_readme_counts_the_track_record() -> None:
    assert f"{len(TRACK_RECORD)} known defects and missing features" in plain(README)


def test_the_page_of_puppets_counts_its_entries() -> None:
    subjects = {one.name: one.subject for one in CATALOGUE if isinstance(one, Examination)}
    scripts = {name for name, subject in subjects.items() if isinstance(subject, PuppetScript)}
    families = {one.name.split("/")[0] for one in CATALOGUE}
    others = {one.name.split("/")[0] for one in CATALOGUE if one.name not in scripts}
    defects = [one for one in TRACK_RECORD if isinstance(subjects.get(one.scenario), OneBroker)]
    text = plain(page("puppets"))
    assert f"{len(scripts)} entries of the catalogue are such scripts" in text
    assert f"rows {' and '.join(', '.join(sorted(families - others)).rsplit(', ', 1))} have no other way" in text
    assert f"{len(defects)} defects of the [track record](track-record.md) show only on one broker" in text


def test_the_page_of_puppets_shows_a_script_as_it_stands() -> None:
    script, _ = blocks(page("puppets"), "python")
    assert script in (ROOT / "conformance/examining/one_broker.py").read_text(encoding="utf-8")


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
    for verdict, words in (
        (SearchVerdict.VIOLATED, "an invariant is violated"),
        (SearchVerdict.UNFINISHED, "unfinished"),
    ):
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
    """Return whether any of a few very different releases can predict a schedule."""
    for release in ("0.10.2.2", "0.11.0.3", "2.8.2", "4.3.1"):
        try:
            check(schedule, rules_of(Choice(kafka=release)))
        except ScheduleError:
            continue
        return True
    return False
