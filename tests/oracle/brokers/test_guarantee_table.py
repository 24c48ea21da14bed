"""Is the kept table what the explorer finds, and does it never say more than was searched?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conformance.commands.guarantees import known_releases
from conformance.kept_guarantees import kept_table
from oracle.brokers.answers import SearchAnswer, SearchResult, answer, shown
from oracle.brokers.guarantee_table import (
    MAX_STATES,
    GuaranteeRow,
    build,
    columns,
    decode,
    distinct,
    encode,
    release_name,
)
from oracle.brokers.model import Brokers
from oracle.brokers.questions import SEARCHED, Faults, GuaranteeCell, SearchQuestion, cells, identity, question
from oracle.brokers.shrinking import PartitionDefect, defects
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill
from oracle.steps.produce import Produce
from oracle.steps.waits import Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.rules.rule_set import RuleSet
    from oracle.state import PartitionState
    from oracle.steps.step import Step

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT
SAFE = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=2, faults=Faults.KILLS)
UNCLEAN = GuaranteeCell(Acks.ALL, 1, unclean=True, replicas=2, faults=Faults.KILLS)
CLEAN = GuaranteeCell(Acks.ALL, 1, unclean=False, replicas=2, faults=Faults.KILLS)
THREE = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=3, faults=Faults.KILLS)
POWER = GuaranteeCell(Acks.ALL, 2, unclean=False, replicas=2, faults=Faults.POWER_FAILURE)
SAMPLE = (
    ("0.10.2.2", ZOOKEEPER, UNCLEAN),
    ("0.10.2.2", ZOOKEEPER, THREE),
    ("0.11.0.3", ZOOKEEPER, UNCLEAN),
    ("2.0.0", ZOOKEEPER, UNCLEAN),
    ("2.0.1", ZOOKEEPER, UNCLEAN),
    ("2.8.0", ZOOKEEPER, CLEAN),
    ("2.8.2", ZOOKEEPER, THREE),
    ("3.9.2", KRAFT, POWER),
    ("4.3.1", KRAFT, SAFE),
)
"""What every test run asks again; the whole table takes most of an hour of one core: ``guarantees --regenerate``."""


def essence(found: SearchAnswer) -> tuple[tuple[int | None, tuple[Step, ...] | None, bool] | None, ...]:
    """Return what an answer says about records: the shortest path and schedule, or none, and whether that is all."""
    findings = (found.lost, found.broken)
    return tuple(None if one is None else (one.actions, one.schedule, one.is_complete) for one in findings)


@pytest.mark.slow
@pytest.mark.parametrize(("version", "mode", "cell"), SAMPLE, ids=lambda value: getattr(value, "settings", str(value)))
def test_a_sample_of_the_kept_table_is_what_the_explorer_finds(
    version: str, mode: MetadataMode, cell: GuaranteeCell
) -> None:
    rules = rules_for(version, mode)
    row = kept_table().row_of(release_name(rules))
    assert row is not None
    assert essence(row.answers[cell]) == essence(answer(question(rules, cell), MAX_STATES[cell.replicas]))


def test_the_kept_table_has_every_release_and_every_cell() -> None:
    table = kept_table()
    assert {name for row in table.rows for name in row.releases} == set(map(release_name, known_releases()))
    assert all(list(row.answers) == list(cells()) for row in table.rows)
    assert table.max_states == MAX_STATES


def test_no_cell_of_the_kept_table_says_safe_and_each_was_searched_whole() -> None:
    told = {(cell.replicas, one.words(cell.replicas)) for row in kept_table().rows for cell, one in row.answers.items()}
    assert not any("safe" in words for _, words in told)
    assert all(
        f"none found, RF {replicas} searched whole" in words or "lost in" in words or words == "nothing is acknowledged"
        for replicas, words in told
    )


def kept_schedules() -> dict[tuple[Step, ...], tuple[RuleSet, GuaranteeCell, SearchAnswer]]:
    """Return every schedule of the kept table, with the first release and cell that it is of."""
    found: dict[tuple[Step, ...], tuple[RuleSet, GuaranteeCell, SearchAnswer]] = {}
    for row in kept_table().rows:
        version, mode = row.releases[0].split()
        for cell, one in row.answers.items():
            schedule = shown(question(rules_for(version, MetadataMode(mode)), cell), one)
            if schedule is not None:
                found.setdefault(schedule.steps, (rules_for(version, MetadataMode(mode)), cell, one))
    return found


@pytest.mark.slow
def test_each_kept_schedule_loses_what_its_answer_says_and_not_without_its_faults() -> None:
    for steps, (rules, cell, found) in kept_schedules().items():
        schedule = shown(question(rules, cell), found)
        assert schedule is not None
        assert schedule.steps == steps
        is_broken = found.broken is not None and found.broken.actions is not None
        wanted = PartitionDefect.PROMISE_BROKEN if is_broken else PartitionDefect.ACKNOWLEDGED_LOST
        assert wanted in defects(predict(schedule, rules))
        bare = tuple(replace(one, expect=Expectation.ANY, error=None) for one in steps if isinstance(one, Produce))
        assert not defects(predict(replace(schedule, steps=(*bare, Checkpoint("end"))), rules))


def test_every_answer_that_loses_has_its_steps() -> None:
    for row in kept_table().rows:
        version, mode = row.releases[0].split()
        rules = rules_for(version, MetadataMode(mode))
        for cell, found in row.answers.items():
            is_lost = found.lost is not None and found.lost.actions is not None
            assert (shown(question(rules, cell), found) is not None) == is_lost


WRONG: dict[str, Callable[[RuleSet], RuleSet]] = {
    "cuts to the high watermark": lambda rules: replace(rules, truncation=rules_for("0.10.2.2", ZOOKEEPER).truncation),
    "joins without having caught up": lambda rules: replace(rules, joins_isr=lambda _offset, _watermark, _start: True),
}
"""Rules under which 2.8.2 would lose a record of three replicas: the controls of what was searched whole."""


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_rule_that_is_wrong_changes_an_answer_about_three_replicas(wrong: Callable[[RuleSet], RuleSet]) -> None:
    rules = rules_for("2.8.2", ZOOKEEPER)
    row = kept_table().row_of(release_name(rules))
    assert row is not None
    kept = row.answers[THREE].lost
    assert kept is not None
    assert (kept.actions, kept.is_complete) == (None, True)
    broken = answer(question(wrong(rules), THREE), MAX_STATES[3]).broken
    assert broken is not None
    assert broken.actions is not None


def test_last_replica_standing_ends_with_eligible_leader_replicas() -> None:
    table = kept_table()
    lost = {}
    for version in ("3.9.2", "4.3.1"):
        row = table.row_of(release_name(rules_for(version, KRAFT)))
        assert row is not None
        finding = row.answers[POWER].lost
        assert finding is not None
        lost[version] = finding.actions is not None
    assert lost == {"3.9.2": True, "4.3.1": False}


def test_a_release_that_the_table_lacks_has_no_row() -> None:
    assert kept_table().row_of("0.9.0 zookeeper") is None


def test_equal_questions_are_asked_once() -> None:
    asked: list[SearchQuestion] = []

    def ask(one: SearchQuestion, max_states: int) -> SearchAnswer:
        asked.append(one)
        if one.bounds.acks is Acks.NONE:
            return SearchAnswer(None)
        return SearchAnswer(SearchResult(max_states, 1, is_complete=False))

    rows: list[GuaranteeRow] = []
    releases = [rules_for(version, ZOOKEEPER) for version in ("2.8.1", "2.8.2", "3.7.2")]
    table = build(releases, dict.fromkeys(SEARCHED, 7), ask, rows.append)
    assert [row.releases for row in table.rows] == [("2.8.1 zookeeper", "2.8.2 zookeeper"), ("3.7.2 zookeeper",)]
    assert rows == list(table.rows)
    assert len(asked) == len(set(map(identity, asked)))
    assert [question(*one) for one in distinct(releases)] == asked
    assert decode(json.loads(json.dumps(encode(table)))) == table


def test_the_minimum_is_asked_about_only_where_it_is_read() -> None:
    acks_1 = [
        GuaranteeCell(Acks.LEADER, minimum, unclean=False, replicas=2, faults=Faults.KILLS) for minimum in (1, 2, 3)
    ]
    for version, questions in (("2.8.2", 1), ("3.7.2", 2)):
        rules = rules_for(version, ZOOKEEPER)
        assert len({identity(question(rules, cell)) for cell in acks_1}) == questions


FOUND, NONE = (
    SearchResult(10, 3, is_complete=True, actions=2, schedule=(Kill(BrokerId(1)), Checkpoint("end")), decided_by="why"),
    SearchResult(9, 4, is_complete=False),
)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (SearchAnswer(None), "nothing is acknowledged"),
        (SearchAnswer(SearchResult(9, 4, is_complete=True)), "none found, RF 2 searched whole (9 states, depth 4)"),
        (SearchAnswer(NONE), "none found in 9 states (9 states, depth 4)"),
        (SearchAnswer(SearchResult(10, 3, is_complete=True, actions=2)), "lost in 2 actions"),
        (SearchAnswer(FOUND), "lost in 2 actions, schedule of 2 steps: why"),
        (SearchAnswer(FOUND, FOUND), "promise broken: lost in 2 actions, schedule of 2 steps: why"),
        (
            SearchAnswer(FOUND, NONE),
            f"{FOUND.words(2)}, as the settings allow; promise broken: {NONE.words(2)}",
        ),
    ],
)
def test_answers_in_words(found: SearchAnswer, words: str) -> None:
    assert found.words(2) == words


def test_with_acks_0_nothing_is_searched() -> None:
    cell = GuaranteeCell(Acks.NONE, 1, unclean=True, replicas=3, faults=Faults.KILLS)
    assert answer(question(rules_for("0.10.2.2", ZOOKEEPER), cell), 1) == SearchAnswer(None)


def test_a_cell_shows_its_broken_promise_or_its_allowed_loss_or_nothing() -> None:
    two, one = (Kill(BrokerId(1)), Checkpoint("end")), (Checkpoint("end"),)
    broken = SearchResult(10, 3, is_complete=True, actions=2, schedule=two)
    allowed = SearchResult(10, 3, is_complete=True, actions=2, schedule=one)
    asked = question(rules_for("2.8.2", ZOOKEEPER), UNCLEAN)
    for found, steps in (
        (SearchAnswer(allowed, broken), two),
        (SearchAnswer(replace(allowed, schedule=None), broken), two),
        (SearchAnswer(allowed, NONE), one),
        (SearchAnswer(allowed), one),
    ):
        schedule = shown(asked, found)
        assert schedule is not None
        assert (schedule.steps, schedule.settings, schedule.replicas) == (steps, asked.bounds.settings, (1, 2))
    assert shown(asked, SearchAnswer(NONE)) is None
    assert shown(asked, SearchAnswer(None)) is None


def test_a_search_that_its_cap_ends_says_in_how_many_states_it_found_nothing() -> None:
    found = answer(question(rules_for("4.3.1", KRAFT), SAFE), 100)
    assert found.words(2).startswith("none found in 100 states (")


def test_the_kept_table_is_written_as_it_is_read_each_schedule_once() -> None:
    document = encode(kept_table())
    assert decode(json.loads(json.dumps(document))) == kept_table()
    written = [json.dumps(steps) for steps in document["schedules"]]
    assert len(set(written)) == len(written) >= len(kept_schedules())


def test_columns_are_the_kinds_of_faults() -> None:
    assert columns() == ("kills", "kills, no checkpoint", "stops, one power failure")


def test_an_interrupted_search_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_brokers: Brokers, _state: PartitionState) -> list[PartitionState]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Brokers, "successors", interrupt)
    with pytest.raises(KeyboardInterrupt):
        answer(question(rules_for("2.8.0", ZOOKEEPER), SAFE), 100)


def test_releases_share_a_row_of_the_kept_table_exactly_if_they_ask_the_same() -> None:
    nothing = build(known_releases(), ask=lambda _asked, _max_states: SearchAnswer(None))
    assert [row.releases for row in kept_table().rows] == [row.releases for row in nothing.rows]


def test_a_cell_names_its_settings_in_words_and_as_options() -> None:
    cell = GuaranteeCell(Acks.ALL, min_isr=2, unclean=True, replicas=3, faults=Faults.KILLS)
    assert cell.settings == "acks=all min.isr=2 unclean=on replicas=3"
    assert cell.options == "--acks all --min-isr 2 --unclean on --replicas 3"
    assert replace(cell, acks=Acks.LEADER, unclean=False).options == "--acks 1 --min-isr 2 --unclean off --replicas 3"
