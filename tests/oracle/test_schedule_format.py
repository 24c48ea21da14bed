"""Writing a schedule down and reading it back changes nothing; what is not understood is named."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given

from conformance.registry import SCENARIOS
from conformance.scenarios.vocabulary import brokers
from conformance.schedules.topic_settings import topic_configs
from oracle.schedule_format import SINGLE_FIELD, decode, decode_step, encode, encode_step
from oracle.steps.brokers import Kill, KillTogether
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.steps.questions import Consume, SendTo
from oracle.steps.step import STEP_CLASSES, ScheduleError, Step, written_name
from oracle.steps.topic import MESSAGE_FORMAT, Alter
from oracle.steps.waits import AwaitIsr, AwaitLeader, Checkpoint
from oracle.vocabulary import Acks, BrokerId, Expectation, Label, PointName
from tests.conformance.example_steps import SCHEDULES

if TYPE_CHECKING:
    from oracle.schedule import Schedule

WHOLE: dict[str, Any] = {"id": "a/b", "requirement": "It holds.", "replicas": [1, 2], "steps": [{"kill": 2}]}
EXAMPLE: dict[str, Any] = {
    "records": ["m0"],
    "name": "gap",
    "point": "fetch_request",
    "follower": 2,
    "leader": 1,
    "from": 2,
    "to": 1,
    "delay_ms": 5,
    "count": 3,
    "broker": 2,
    "brokers": [1, 2],
    "isr": [1, 2],
    "followers": [2],
    "min.insync.replicas": 1,
    "unclean.leader.election.enable": True,
    "replicas": [3, 1],
    "offset": 1,
    "kind": "preferred",
    "spec": "latest",
    "leadership": 0,
    "record": "m0",
}


@given(SCHEDULES)
def test_any_schedule_comes_back_from_json_and_yaml(schedule: Schedule) -> None:
    document = encode(schedule)

    assert decode(json.loads(json.dumps(document))) == schedule
    assert decode(yaml.safe_load(yaml.safe_dump(document, allow_unicode=True))) == schedule


@pytest.mark.parametrize("schedule", [s.schedule for s in SCENARIOS], ids=[s.name for s in SCENARIOS])
def test_every_schedule_of_the_catalogue_comes_back(schedule: Schedule) -> None:
    assert decode(json.loads(json.dumps(encode(schedule)))) == schedule


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ({"kill": 2}, Kill(BrokerId(2))),
        ({"kill": {"broker": 2}}, Kill(BrokerId(2))),
        ({"kill": [1, 2]}, KillTogether(brokers(1, 2))),
        ({"await_leader": "none"}, AwaitLeader(None)),
        ({"await_leader": None}, AwaitLeader(None)),
        ({"await_isr": [1, 2]}, AwaitIsr(brokers(1, 2))),
        ({"await_isr": 1}, AwaitIsr(brokers(1))),
        ({"checkpoint": "end"}, Checkpoint("end")),
        ({"alter": {"min.insync.replicas": 2}}, Alter(2)),
        ({"alter": {"unclean.leader.election.enable": True}}, Alter(None, unclean_leader_election=True)),
        ({"produce": {"records": "m0", "acks": "all"}}, Produce((Label("m0"),))),
        ({"send_to": {"record": "m0", "broker": 1, "acks": "all"}}, SendTo(Label("m0"), BrokerId(1), -1)),
        ({"send_to": {"record": "m0", "broker": 1, "acks": 7}}, SendTo(Label("m0"), BrokerId(1), 7)),
        ({"consume": {}}, Consume()),
        ({"produce": {"records": ["m0"], "acks": 1}}, Produce((Label("m0"),), Acks.LEADER)),
        (
            {"produce": {"records": ["m0"], "expect": "refused", "error": "none"}},
            Produce((Label("m0"),), Acks.ALL, Expectation.REFUSED, "none"),
        ),
        (
            {"hold": {"name": "gap", "point": "fetch_response", "follower": 2, "leader": 1}},
            Hold("gap", PointName.FETCH_RESPONSE, BrokerId(2), BrokerId(1)),
        ),
    ],
)
def test_steps_have_short_forms(written: dict[str, Any], step: Step) -> None:
    assert decode_step(0, written) == step


def test_settings_have_one_name_wherever_they_are_written() -> None:
    altered = encode_step(Alter(2, unclean_leader_election=True))
    assert altered == {"alter": {"min.insync.replicas": 2, "unclean.leader.election.enable": True}}
    with pytest.raises(ScheduleError, match=r"^unknown field 'min_insync_replicas'; known: min\.insync\.replicas, "):
        decode_step(0, {"alter": {"min_insync_replicas": 2}})


def test_an_older_message_format_and_a_longer_fetch_wait_are_kept() -> None:
    document = encode(decode(WHOLE))
    assert MESSAGE_FORMAT not in document["settings"], "the release's own format is not written"
    document["settings"][MESSAGE_FORMAT] = "0.10.2"
    document["fetch_wait_max_ms"] = 500
    schedule = decode(document)
    assert (schedule.settings.message_format_version, schedule.fetch_wait_max_ms) == ("0.10.2", 500)
    assert encode(schedule) == document
    assert topic_configs(schedule)[MESSAGE_FORMAT] == "0.10.2"
    assert MESSAGE_FORMAT not in topic_configs(decode(WHOLE))


def _complete(word: str) -> dict[str, Any]:
    return {written_name(field): EXAMPLE[written_name(field)] for field in _required(word)}


def _required(word: str) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(STEP_CLASSES[word]) if field.default is dataclasses.MISSING]


FIELDS = [(word, written_name(field)) for word, step in STEP_CLASSES.items() for field in dataclasses.fields(step)]
REQUIRED = [(word, written_name(field)) for word in STEP_CLASSES for field in _required(word)]


@pytest.mark.parametrize(("word", "field"), FIELDS)
@pytest.mark.parametrize("wrong", [{}, 1.5], ids=["mapping", "fraction"])
def test_a_field_of_the_wrong_kind_is_named_with_its_step(word: str, field: str, wrong: object) -> None:
    with pytest.raises(ScheduleError, match=f"^{field} must be ") as caught:
        decode_step(3, {word: _complete_or_leader(word) | {field: wrong}})

    assert (caught.value.step, caught.value.field) == (3, field)


def _complete_or_leader(word: str) -> dict[str, Any]:
    return {"leader": 1} if word == "await_leader" else _complete(word)


@pytest.mark.parametrize(("word", "field"), REQUIRED)
def test_a_missing_field_is_named_with_its_step(word: str, field: str) -> None:
    fields = _complete_or_leader(word)
    del fields[field]

    with pytest.raises(ScheduleError, match=f"^{word} needs '{field}'$") as caught:
        decode_step(3, {word: fields})
    assert (caught.value.step, caught.value.field) == (3, field)


@pytest.mark.parametrize("word", STEP_CLASSES)
def test_an_unknown_field_is_named_with_those_there_are(word: str) -> None:
    with pytest.raises(ScheduleError, match=r"^unknown field 'sped'; known: ") as caught:
        decode_step(3, {word: _complete_or_leader(word) | {"sped": 1}})

    assert (caught.value.step, caught.value.field) == (3, "sped")


@pytest.mark.parametrize("word", sorted(set(STEP_CLASSES) - set(SINGLE_FIELD)))
def test_a_step_of_many_fields_lists_them_when_it_gets_none(word: str) -> None:
    with pytest.raises(ScheduleError, match=f"^{word} takes fields: ") as caught:
        decode_step(3, {word: 5})

    assert caught.value.step == 3


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("kill", "one word with its fields"),
        ({"kill": 1, "start": 1}, "one word with its fields"),
        ({}, "one word with its fields"),
        ({"kil": 1}, "unknown step 'kil'; did you mean kill? steps: produce, "),
        ({"list_offset": 1}, "did you mean list_offsets? steps: "),
        ({"rol": [1, 2]}, "unknown step 'rol'; did you mean roll"),
        ({5: 1}, "unknown step 5; steps: produce, "),
        ({"consume": None}, "consume takes fields: broker, offset, version; as it is: `consume: {}`"),
        ({"send_to": None}, "send_to takes fields: record, broker, acks, timeout_ms"),
        ({"send_to": {"record": "m0", "broker": 1, "acks": "some"}}, "acks must be a whole number or all, not 'some'"),
        ({"send_to": {"record": "m0", "broker": 1, "acks": True}}, "acks must be a whole number or all, not True"),
        ({"send_to": {"record": "m0", "broker": "all"}}, "broker must be a whole number, not 'all'"),
        ({"kill": True}, "broker must be a whole number, not True"),
        ({"kill": "2"}, "broker must be a whole number, not '2'"),
        ({"kill": None}, "broker must be a whole number, not None"),
        ({"produce": {"records": ["m0"], "acks": 2}}, "acks must be one of 0, 1, all, not 2"),
        ({"produce": {"records": ["m0"], "acks": True}}, "acks must be one of 0, 1, all, not True"),
        ({"produce": {"records": [1]}}, "records must be a text, not 1"),
        ({"produce": {"records": ["m0"], "expect": "fine"}}, "expect must be one of acknowledged, refused, "),
        ({"hold": {**EXAMPLE, "point": "fetch"}}, "unknown field 'records'"),
    ],
)
def test_what_is_no_step_is_refused_with_its_number(step: object, message: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        decode(WHOLE | {"steps": [{"kill": 1}, step]})

    assert message in str(caught.value)
    assert caught.value.step == 1


@pytest.mark.parametrize(
    ("change", "message", "field"),
    [
        ({"id": None}, "'id' must be a text", "id"),
        ({"id": " "}, "'id' must be a text", "id"),
        ({"requirement": 5}, "'requirement' must be a text", "requirement"),
        ({"steps": "kill"}, "steps must be a list", "steps"),
        ({"steps": None}, "steps must be a list", "steps"),
        ({"replicas": ["1"]}, "replicas must be a whole number, not '1'", "replicas"),
        ({"replicas": [0, 1]}, "replicas are broker ids from 1 to 9", "replicas"),
        ({"replicas": [1, 100]}, "replicas are broker ids from 1 to 9", "replicas"),
        ({"steps": [{"reassign": [1, 10]}]}, "replicas are broker ids from 1 to 9", "replicas"),
        ({"sources": 1.5}, "sources is a list", "sources"),
        ({"sources": None}, "sources is a list", "sources"),
        ({"sources": [{}]}, "sources is a list", "sources"),
        ({"settings": [1]}, "settings is a mapping", "settings"),
        ({"settings": {"acks": 1}}, "unknown field 'acks'; known: min.insync.replicas, ", "acks"),
        ({"settings": {"min.insync.replicas": "1"}}, "min.insync.replicas must be a whole", "min.insync.replicas"),
        (
            {"settings": {"unclean.leader.election.enable": 1}},
            "unclean.leader.election.enable must be true or false, not 1",
            "unclean.leader.election.enable",
        ),
        ({"timing": "slow"}, "timing must be one of session, lag, not 'slow'", "timing"),
        ({"checkpointing": 5}, "checkpointing must be one of prompt, never, not 5", "checkpointing"),
        ({"step": []}, "unknown field 'step'; known: id, ", "step"),
    ],
)
def test_a_wrong_field_of_the_whole_is_named(change: dict[str, Any], message: str, field: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        decode(WHOLE | change)

    assert message in str(caught.value)
    assert (caught.value.step, caught.value.field) == (None, field)


@pytest.mark.parametrize("field", ["id", "requirement", "replicas", "steps"])
def test_a_missing_field_of_the_whole_is_named(field: str) -> None:
    with pytest.raises(ScheduleError, match=f"^'{field}' is missing$") as caught:
        decode({name: value for name, value in WHOLE.items() if name != field})

    assert caught.value.field == field


@pytest.mark.parametrize("document", [None, [], "text", 5])
def test_what_is_no_mapping_is_no_schedule(document: object) -> None:
    with pytest.raises(ScheduleError, match="a schedule is a mapping with id, "):
        decode(document)


def test_one_source_may_stand_alone_and_numbers_are_texts() -> None:
    assert decode(WHOLE | {"sources": "KIP-101"}).sources == ("KIP-101",)
    assert decode(WHOLE | {"sources": ["TR-01", 7]}).sources == ("TR-01", "7")
