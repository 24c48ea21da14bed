"""What do scripts predict, release by release? The numbers that somebody would look up first in the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.catalogue.examination import Examination
from conformance.puppet_scripts.acts import EPOCHS, ERRORS, NUMBERS, STATE
from conformance.puppet_scripts.client_acts import COMMITTED, FETCHED, LISTED, TOOK
from conformance.puppet_scripts.controller_acts import FILES, LEADER
from conformance.puppet_scripts.following_acts import FETCH_OFFSET, FIRST_REQUEST, IDLE_REQUESTS, RECORDS, REQUESTS
from conformance.puppet_scripts.leading_acts import APPENDED, CHECKPOINTED, DIVERGING, END, TOLD
from conformance.record.answers import Between
from conformance.scenarios.controller_requests.rm_01_obedience import BROKER_EPOCH, LEADER_EPOCH, REPLACED_CONTROLLER
from conformance.scenarios.controller_requests.rm_02_fetcher import FETCHERS
from conformance.scenarios.controller_requests.rm_03_stop_replica import OLD_DECISION, STOPPED
from conformance.scenarios.controller_requests.rm_04_update_metadata import STALE_METADATA
from conformance.scenarios.controller_requests.rm_05_fetch_limits import FETCH
from conformance.scenarios.controller_requests.rm_06_list_offsets import LIST_OFFSETS, READ_COMMITTED
from conformance.scenarios.high_watermark.hw_08_lowest_end_offset import LOWEST_END_OFFSET
from conformance.scenarios.high_watermark.hw_13_restart import RESTARTED_WITH_PUPPETS
from conformance.scenarios.high_watermark.hw_14_latest_offset import LATEST_OFFSET
from conformance.scenarios.in_sync_replicas.is_02_joins import JOIN
from conformance.scenarios.leader_epoch.le_03_end_of_epoch import EPOCH_ENDS, FENCED_QUESTIONS
from conformance.scenarios.leader_epoch.le_04_last_epoch import EMPTY_ANSWER
from conformance.scenarios.leader_epoch.le_05_zombies import FENCED_FETCHES, ZOMBIE
from conformance.scenarios.leader_epoch.le_06_leader_dies_unanswered import UNANSWERED
from conformance.scenarios.produce_path.ac_01_values_of_acks import INVALID_ACKS
from conformance.scenarios.produce_path.ac_03_parked_produce import TIMED_OUT
from conformance.scenarios.produce_path.ac_04_too_few_in_sync import TOO_FEW
from conformance.scenarios.truncation.tr_05_unreplicated_record import FORMER_LEADER
from conformance.scenarios.truncation.tr_06_end_of_epoch import CUTS, SAME_LEADER
from conformance.scenarios.truncation.tr_06_end_of_epoch import DIVERGING as DIVERGING_FETCH
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.conformance.puppet_scripts.scripts import LADDER, WITH_SCRIPTS, facts_of

if TYPE_CHECKING:
    from conformance.catalogue.questions import Expected

IDLE = "fetch at 3 after epoch 5"


def named(value: object) -> str | None:
    """Name an examination in a test's id; pytest names everything else."""
    return value.name if isinstance(value, Examination) else None


@pytest.mark.parametrize("examination", WITH_SCRIPTS, ids=named)
def test_every_script_is_predicted_wherever_it_exists(examination: Examination) -> None:
    for version in LADDER:
        if examination.where.reason_not_to_run(version, MetadataMode.ZOOKEEPER) is None:
            predicted = examination.subject.predict(rules_for(version, MetadataMode.ZOOKEEPER))
            asked = [answer.what for answer in predicted]
            assert len(asked) == len(set(asked)) >= len(examination.subject.steps())


@pytest.mark.parametrize("examination", WITH_SCRIPTS, ids=named)
def test_no_script_exists_without_zookeeper(examination: Examination) -> None:
    for version in ("3.4.1", "3.9.2", "4.0.1", "4.3.1"):
        reason = examination.where.reason_not_to_run(version, MetadataMode.KRAFT)
        assert reason is not None
        assert "ZooKeeper" in reason or "KRaft" in reason


@pytest.mark.parametrize(
    ("examination", "act", "fact", "expected"),
    [
        (REPLACED_CONTROLLER, 3, ERRORS, [11]),
        (REPLACED_CONTROLLER, 4, ERRORS, [0]),
        (REPLACED_CONTROLLER, 5, ERRORS, [11]),
        (REPLACED_CONTROLLER, 7, FILES, "all"),
        (REPLACED_CONTROLLER, 9, STATE, [2, 0, [1, 2]]),
        (REPLACED_CONTROLLER, 12, APPENDED, [6, None]),
        (LEADER_EPOCH, 3, ERRORS, [0, 11]),
        (LEADER_EPOCH, 5, ERRORS, [0, 11]),
        (LEADER_EPOCH, 8, APPENDED, [0, 3]),
        (FETCHERS, 2, FETCH_OFFSET, 2),
        (FETCHERS, 4, FETCH_OFFSET, None),
        (FETCHERS, 7, FETCH_OFFSET, 4),
        (FETCHERS, 8, FETCH_OFFSET, None),
        (STOPPED, 3, FILES, "all"),
        (STOPPED, 4, FETCH_OFFSET, None),
        (STOPPED, 5, FILES, "none"),
        (STALE_METADATA, 4, LEADER, 1),
        (STALE_METADATA, 5, APPENDED, [6, None]),
        (STALE_METADATA, 7, LEADER, 2),
        (FETCH, 7, FETCHED, [0, 0, 2, 3]),
        (FETCH, 9, TOOK, Between(490, 10_500, "ms")),
        (FETCH, 12, FETCHED, [0, 1, 1, 3]),
        (FETCH, 13, FETCHED, [1, None, None, None]),
        (LIST_OFFSETS, 8, LISTED, [0, 3]),
        (LIST_OFFSETS, 14, LISTED, [0, None]),
        (INVALID_ACKS, 3, APPENDED, [21, None]),
        (INVALID_ACKS, 5, STATE, [1, 0, [1, 2]]),
        (INVALID_ACKS, 6, APPENDED, [0, 1]),
        (TIMED_OUT, 2, APPENDED, [7, None]),
        (TIMED_OUT, 2, STATE, [1, 0, [1, 2]]),
        (TIMED_OUT, 3, STATE, [1, 1, [1, 2]]),
        (TOO_FEW, 3, APPENDED, [19, None]),
        (ZOMBIE, 5, APPENDED, [7, None]),
        (ZOMBIE, 7, RECORDS, ["a", "x"]),
        (FORMER_LEADER, 7, RECORDS, ["a", "x", "y"]),
        (RESTARTED_WITH_PUPPETS, 2, CHECKPOINTED, 1),
    ],
    ids=named,
)
def test_some_answers_are_the_same_on_every_release(
    examination: Examination, act: int, fact: str, expected: Expected
) -> None:
    for version in LADDER:
        assert facts_of(examination, version, act)[fact] == expected, version


@pytest.mark.parametrize(
    ("examination", "act", "fact", "by_release"),
    [
        (READ_COMMITTED, 7, LISTED, {"0.11.0.3": [0, 1], "3.9.2": [0, 1]}),
        (READ_COMMITTED, 8, COMMITTED, {"0.11.0.3": [0, 0, 0, 1], "3.9.2": [0, 0, 0, 1]}),
        (READ_COMMITTED, 11, LISTED, {"0.11.0.3": [0, 5], "3.9.2": [0, 5]}),
        (READ_COMMITTED, 13, LISTED, {"0.11.0.3": [0, 5], "3.9.2": [0, 5]}),
        (READ_COMMITTED, 16, COMMITTED, {"0.11.0.3": [0, 5, 6, 7], "3.9.2": [0, 5, 6, 7]}),
        (BROKER_EPOCH, 3, ERRORS, {"2.3.1": [77], "3.9.2": [77]}),
        (OLD_DECISION, 2, ERRORS, {"2.6.3": [0, 74], "3.9.2": [0, 74]}),
        (OLD_DECISION, 4, ERRORS, {"2.6.3": [0, 74], "3.2.3": [0, 74], "3.4.1": [0], "3.9.2": [0]}),
        (OLD_DECISION, 5, FETCH_OFFSET, {"2.6.3": 2, "3.2.3": 2, "3.4.1": None, "3.9.2": None}),
        (OLD_DECISION, 6, FILES, {"2.6.3": "none", "3.9.2": "none"}),
        (FETCH, 10, TOOK, {"3.6.2": Between(2_990, 13_000, "ms"), "3.9.2": Between(0, 2_989, "ms")}),
        (LOWEST_END_OFFSET, 8, TOLD, {"1.0.2": [0, 2, 0], "1.1.0": [0, 2, 1], "1.1.1": [0, 2, 0]}),
        (JOIN, 8, STATE, {"1.1.1": [2, 1, [1, 2, 3]], "2.0.1": [2, 1, [1, 2]]}),
        (EPOCH_ENDS, 6, END, {"1.1.1": [0, None, None], "2.0.1": [0, 3, 0]}),
        (EPOCH_ENDS, 8, END, {"0.11.0.3": [0, None, 2], "2.0.1": [0, 5, 2]}),
        (FENCED_QUESTIONS, 3, END, {"2.1.1": [74, None, None], "3.9.2": [74, None, None]}),
        (FENCED_FETCHES, 5, TOLD, {"2.0.1": [0, 1, 0], "2.1.1": [74, None, None]}),
        (FENCED_FETCHES, 7, STATE, {"2.0.1": [2, 1, [1, 2, 3]], "2.1.1": [2, 0, [1, 2, 3]]}),
        (DIVERGING_FETCH, 7, DIVERGING, {"2.7.2": None, "2.8.2": [5, 2]}),
        (LATEST_OFFSET, 4, LISTED, {"2.1.1": [0, 1], "2.3.1": [78, None]}),
        (TOO_FEW, 2, STATE, {"3.6.2": [1, 1, [1]], "3.9.2": [1, 0, [1]]}),
        (SAME_LEADER, 2, RECORDS, {"2.0.1": ["a", "x", "y", "z"], "1.1.1": ["a", "b", "c", "z"]}),
        (UNANSWERED, 2, FIRST_REQUEST, {"0.10.2.2": "fetch at 1", "2.7.2": "where does epoch 5 end"}),
        (UNANSWERED, 3, STATE, {"0.10.2.2": [1, 1, [1, 2]], "0.11.0.3": [4, 1, [1, 2]]}),
        (
            RESTARTED_WITH_PUPPETS,
            3,
            REQUESTS,
            {"0.10.2.2": ["fetch at 1", "fetch at 3"], "2.8.2": [IDLE]},
        ),
        (RESTARTED_WITH_PUPPETS, 5, EPOCHS, {"1.1.1": [[5, 0]], "2.0.1": [[5, 0], [7, 3]]}),
        (EMPTY_ANSWER, 3, IDLE_REQUESTS, {"3.4.1": ["fetch at 2 after epoch 5"], "3.6.2": ["fetch at 2"]}),
    ],
    ids=named,
)
def test_other_answers_change_with_the_release(
    examination: Examination, act: int, fact: str, by_release: dict[str, Expected]
) -> None:
    assert {version: facts_of(examination, version, act)[fact] for version in by_release} == by_release


def test_a_cut_is_seen_in_the_requests() -> None:
    asked = {version: facts_of(CUTS, version, 2) for version in ("0.10.2.2", "1.1.1", "2.7.2", "2.8.2")}

    assert {version: facts[NUMBERS] for version, facts in asked.items()} == {version: [5, 1] for version in asked}
    assert asked["0.10.2.2"][REQUESTS] == ["fetch at 1", "fetch at 5"]
    assert asked["2.7.2"][REQUESTS] == ["where does epoch 5 end", "fetch at 2", "fetch at 5"]
    assert asked["2.8.2"][REQUESTS] == [
        "fetch at 4 after epoch 5",
        "fetch at 2 after epoch 3",
        "fetch at 5 after epoch 8",
    ]
