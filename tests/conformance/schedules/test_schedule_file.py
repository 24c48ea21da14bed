"""A schedule file that cannot be used is refused with its line, step and field, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.schedules.schedule_file import ScheduleFileError, locate, read_schedule
from oracle.steps.brokers import Kill
from oracle.steps.frames import Hold
from oracle.steps.produce import Produce
from oracle.steps.step import ScheduleError
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
# a comment
id: mine/one-crash
requirement: A crash loses nothing.
sources: [KIP-101]
replicas: [1, 2]
settings:
  min.insync.replicas: 1
  unclean.leader.election.enable: true
steps:
  - produce: {records: [m0]}
  - hold: {name: gap, point: fetch_response, follower: 2, leader: 1}
  - await_hold: gap
  - kill: 2
  - checkpoint: end
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(ScheduleFileError) as caught:
        read_schedule(path)
    return str(caught.value).removeprefix(str(path))


def test_a_good_file_becomes_a_scenario_named_after_its_id(tmp_path: Path) -> None:
    scenario = read_schedule(write(tmp_path, GOOD))

    assert scenario.name == "mine/one-crash"
    assert scenario.schedule.settings.unclean_leader_election
    assert [type(step) for step in scenario.schedule.steps[:2]] == [Produce, Hold]
    assert scenario.schedule.steps[3] == Kill(BrokerId(2))
    assert scenario.explanation == "from mine.yaml"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("kill: 2", "kil: 2", ":13: step 4:", "unknown step 'kil'; did you mean kill? steps: produce, "),
        ("kill: 2", "end_offset_for_epoch: 2", ":13: step 4:", "; did you mean end_offset_of_epoch? steps: produce, "),
        ("kill: 2", "explode: 2", ":13: step 4:", "unknown step 'explode'; steps: produce, "),
        ("kill: 2", "consume:", ":13: step 4:", "takes fields: broker, offset, version; as it is: `consume: {}`"),
        (
            "kill: 2",
            "send_to: {record: x, broker: 1, acks: 40000}",
            ":13: step 4: field 'acks':",
            "acks must be from -32768 to 32767 (int16), not 40000",
        ),
        (
            "kill: 2",
            "send_to: {record: x, broker: 1, acks: some}",
            ":13: step 4: field 'acks':",
            "acks must be a whole number or all, not 'some'",
        ),
        ("kill: 2", "kill: two", ":13: step 4: field 'broker':", "broker must be a whole number, not 'two'"),
        ("kill: 2", "kill: 3", ":13: step 4: field 'broker':", "names what the schedule does not have: 3"),
        (
            "await_hold: gap",
            "await_hold: gp",
            ":12: step 3: field 'name':",
            "names what the schedule does not have: gp",
        ),
        ("leader: 1}", "leader: 2}", ":11: step 2: field 'leader':", "follower and leader are the same broker"),
        (
            "point: fetch_response",
            "point: fetch",
            ":11: step 2: field 'point':",
            "point must be one of fetch_request, ",
        ),
        ("{records: [m0]}", "{}", ":10: step 1: field 'records':", "produce needs 'records'"),
        ("{records: [m0]}", "{records: []}", ":10: step 1: field 'records':", "produce needs at least one label"),
        ("{records: [m0]}", "{records: [m0, m0]}", ":10: step 1: field 'records':", "label 'm0' is produced twice"),
        ("min.insync.replicas: 1", "min.insync.replicas: one", ":7: field 'min.insync.replicas':", "whole number"),
        ("min.insync.replicas: 1", "min.insync.replicas: 0", ":6: field 'settings':", "must be at least 1"),
        ("min.insync.replicas", "min.isr", ":7: field 'min.isr':", "unknown field 'min.isr'; known: min.insync"),
        ("replicas: [1, 2]\n", "replicas: [1, 1]\n", ":5: field 'replicas':", "distinct broker ids"),
        ("replicas: [1, 2]\n", "replicas: [1, 10]\n", ":5: field 'replicas':", "broker ids from 1 to 9"),
        ("requirement: A crash loses nothing.", "timing: fast", ":2: field 'requirement':", "'requirement' is missing"),
        ("sources: [KIP-101]", "timing: fast", ":4: field 'timing':", "timing must be one of session, lag, not 'fast'"),
        ("sources: [KIP-101]", "source: KIP-101", ":4: field 'source':", "unknown field 'source'; known: id, "),
        (
            "  - kill: 2\n",
            "  - {kill: 2, kill: 1}\n",
            ":13:",
            "'kill' stands twice in one mapping; the first is in line 13",
        ),
        ("steps:", "replicas: [1]\nsteps:", ":9:", "'replicas' stands twice in one mapping; the first is in line 5"),
        (
            "follower: 2,",
            "follower: 2, name: other,",
            ":11:",
            "'name' stands twice in one mapping; the first is in line 11",
        ),
        ("  - checkpoint: end", "  - checkpoint", ":14: step 5:", "a step is one word with its fields"),
        (
            "  - kill: 2",
            "  - checkpoint: end",
            ":14: step 5: field 'name':",
            "checkpoint names must differ; repeated: end",
        ),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, old: str, new: str, place: str, message: str) -> None:
    assert old in GOOD
    said = refusal(tmp_path, GOOD.replace(old, new))

    assert said.startswith(place + " ")
    assert message in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: a schedule is a mapping"),
        ("- 1\n- 2\n", ":1: a schedule is a mapping"),
        ("id: [unclosed\n", ": not valid YAML: "),
        ("id: a\n\tsteps: []\n", ": not valid YAML: "),
        ("a: 1\n---\nb: 2\n", ": not valid YAML: "),
        (GOOD[: GOOD.index("  - produce")] + "  []\n", "a schedule needs at least one step"),
    ],
    ids=["empty", "list", "unclosed", "tab", "two documents", "no steps"],
)
def test_what_is_no_schedule_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    said = refusal(tmp_path, text)

    assert message in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "place"),
    [("id: [unclosed\n", "line 2, column 1"), ("id: \a\n", "position 4")],
    ids=["no YAML", "no character of YAML"],
)
def test_what_is_no_yaml_is_said_to_be_in_the_file(tmp_path: Path, text: str, place: str) -> None:
    said = refusal(tmp_path, text)

    assert f'in "mine.yaml", {place}' in said
    assert "unicode string" not in said


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"id: \xff\xfe")

    with pytest.raises(ScheduleFileError, match="not valid YAML"):
        read_schedule(path)


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScheduleFileError, match=r"none\.yaml: No such file or directory"):
        read_schedule(tmp_path / "none.yaml")
    with pytest.raises(ScheduleFileError, match="Is a directory"):
        read_schedule(tmp_path)


@pytest.mark.parametrize(
    ("error", "place"),
    [
        (ScheduleError("no.", step=3), ":13: step 4: no."),
        (ScheduleError("no.", step=1, field="follower"), ":11: step 2: field 'follower': no."),
        (ScheduleError("no.", step=99), ":2: step 100: no."),
        (ScheduleError("no.", field="nowhere"), ":2: field 'nowhere': no."),
    ],
)
def test_an_error_found_later_is_placed_in_the_file(tmp_path: Path, error: ScheduleError, place: str) -> None:
    path = write(tmp_path, GOOD)

    assert locate(path, error) == f"{path}{place}"
