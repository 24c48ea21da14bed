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
    encode,
    release_name,
)
from oracle.brokers.model import Brokers
from oracle.brokers.questions import Faults, GuaranteeCell, SearchQuestion, cells, identity, question
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from oracle.state import PartitionState

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
    ("2.8.2", ZOOKEEPER, CLEAN),
    ("3.9.2", KRAFT, POWER),
    ("4.3.1", KRAFT, SAFE),
)
"""What every test run asks again; the whole table takes minutes: ``guarantees --regenerate``."""


def essence(found: SearchAnswer) -> tuple[tuple[int | None, int | None] | None, ...]:
    """Return what an answer says about records: the shortest path and schedule, or none within bounds."""
    findings = (found.lost, found.broken)
    return tuple(None if finding is None else (finding.actions, finding.steps) for finding in findings)


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


def test_no_cell_of_the_kept_table_says_safe() -> None:
    said = {found.words for row in kept_table().rows for found in row.answers.values()}
    assert not any("safe" in words for words in said)
    assert all("none found (" in words or "lost in" in words or words == "nothing is acknowledged" for words in said)


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
    table = build(releases, {2: 7, 3: 7}, ask, rows.append)
    assert [row.releases for row in table.rows] == [("2.8.1 zookeeper", "2.8.2 zookeeper"), ("3.7.2 zookeeper",)]
    assert rows == list(table.rows)
    assert len(asked) == len(set(map(identity, asked)))
    assert decode(json.loads(json.dumps(encode(table)))) == table


def test_the_minimum_is_asked_about_only_where_it_is_read() -> None:
    acks_1 = [
        GuaranteeCell(Acks.LEADER, minimum, unclean=False, replicas=2, faults=Faults.KILLS) for minimum in (1, 2, 3)
    ]
    for version, questions in (("2.8.2", 1), ("3.7.2", 2)):
        rules = rules_for(version, ZOOKEEPER)
        assert len({identity(question(rules, cell)) for cell in acks_1}) == questions


FOUND, NONE = (
    SearchResult(10, 3, is_complete=True, actions=2, steps=5, decided_by="why"),
    SearchResult(9, 4, is_complete=False),
)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (SearchAnswer(None), "nothing is acknowledged"),
        (SearchAnswer(SearchResult(9, 4, is_complete=True)), "none found (9 states, depth 4, all)"),
        (SearchAnswer(NONE), "none found (9 states, depth 4, capped)"),
        (SearchAnswer(SearchResult(10, 3, is_complete=True, actions=2)), "lost in 2 actions"),
        (SearchAnswer(FOUND), "lost in 2 actions, schedule of 5 steps: why"),
        (SearchAnswer(FOUND, FOUND), "promise broken: lost in 2 actions, schedule of 5 steps: why"),
        (
            SearchAnswer(FOUND, NONE),
            f"{FOUND.words}, as the settings allow; promise broken: {NONE.words}",
        ),
    ],
)
def test_answers_in_words(found: SearchAnswer, words: str) -> None:
    assert found.words == words


def test_with_acks_0_nothing_is_searched() -> None:
    cell = GuaranteeCell(Acks.NONE, 1, unclean=True, replicas=3, faults=Faults.KILLS)
    assert answer(question(rules_for("0.10.2.2", ZOOKEEPER), cell), 1) == SearchAnswer(None)


def test_a_cell_shows_its_broken_promise_or_its_allowed_loss_or_nothing() -> None:
    broken = shown(question(rules_for("2.0.0", ZOOKEEPER), UNCLEAN), 8000)
    allowed = shown(question(rules_for("2.8.2", ZOOKEEPER), UNCLEAN), 500)
    assert broken is not None
    assert allowed is not None
    assert len(allowed.steps) < len(broken.steps)
    assert shown(question(rules_for("2.8.2", ZOOKEEPER), SAFE), 100) is None


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
