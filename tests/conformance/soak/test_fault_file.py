"""A file of faults becomes a timeline, or is refused with its line and field, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectory
from conformance.record.soak_faults import CutBy, FaultKind, HeldFrame, PlannedFault, write_faults
from conformance.soak.fault_file import FaultFileError, read_fault_file
from conformance.soak.fault_timeline import SoakShape, drawn

if TYPE_CHECKING:
    from pathlib import Path

SHAPE = SoakShape((1, 2, 3), partitions=12, replicas=3)
GOOD = """\
# what is to come
faults:
  - {at_s: 30, kind: second_leader, partition: 4, for_s: 2}
  - {at_s: 5, kind: kill, broker: 2, for_s: 3.5}
  - {at_s: 10, kind: cut, follower: 1, leader: 3, for_s: 2, by: reset}
  - at_s: 15
    kind: hold
    partition: 0
    for_s: 1
    frame: answer
  - {at_s: 20, kind: roll}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "faults.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_becomes_a_timeline_in_the_order_of_time(tmp_path: Path) -> None:
    timeline = read_fault_file(write(tmp_path, GOOD), SHAPE)
    assert timeline.faults == (
        PlannedFault(5, FaultKind.KILL, 3.5, broker=2),
        PlannedFault(10, FaultKind.CUT, 2, follower=1, leader=3, by=CutBy.RESET),
        PlannedFault(15, FaultKind.HOLD, 1, partition=0, frame=HeldFrame.ANSWER),
        PlannedFault(20, FaultKind.ROLL),
        PlannedFault(30, FaultKind.SECOND_LEADER, 2, partition=4),
    )
    assert timeline.seed is None


@pytest.mark.parametrize("is_provoking", [False, True])
def test_the_faults_of_one_soak_can_be_given_to_another(tmp_path: Path, is_provoking: bool) -> None:
    timeline = drawn(11, 600, SHAPE, is_provoking=is_provoking)
    write_faults(RunDirectory(tmp_path), timeline)
    assert read_fault_file(tmp_path / "faults.json", SHAPE).faults == timeline.faults


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("kind: kill", "kind: explode", ":4: fault 2: field 'kind':", "Invalid enum value 'explode'; known: kill, "),
        ("at_s: 5,", "at_s: soon,", ":4: fault 2: field 'at_s':", "Expected `float`, got `str`"),
        ("at_s: 5,", "at_s: -1,", ":4: fault 2: field 'at_s':", "seconds since load began, not -1"),
        ("at_s: 5, ", "", ":4: fault 2:", "'at_s' is missing"),
        ("kind: kill, ", "", ":4: fault 2:", "'kind' is missing"),
        ("broker: 2", "broker: 7", ":4: fault 2: field 'broker':", "there is no broker 7; there are 1, 2, 3"),
        ("broker: 2", "borker: 2", ":4: fault 2: field 'borker':", "unknown field 'borker'; known: at_s, kind, "),
        ("broker: 2, ", "", ":4: fault 2:", "kill is about broker or partition"),
        ("broker: 2", "leader: 2", ":4: fault 2: field 'leader':", "kill is about broker or partition"),
        ("for_s: 3.5", "for_s: 0", ":4: fault 2: field 'for_s':", "kill lasts some seconds, not 0"),
        (", by: reset", ", by: axe", ":5: fault 3: field 'by':", "Invalid enum value 'axe'"),
        ("leader: 3", "leader: 1", ":5: fault 3: field 'leader':", "follower and leader are the same broker"),
        ("follower: 1, ", "", ":5: fault 3: field 'leader':", "cut is about follower and leader or partition"),
        ("broker: 2,", "broker: 2, by: reset,", ":4: fault 2: field 'by':", "'by' says something of cut, and nothing"),
        ("partition: 0", "partition: 12", ":8: fault 4: field 'partition':", "there is no partition 12; there are 12"),
        ("{at_s: 20, kind: roll}", "roll", ":11: fault 5:", "a fault is a mapping such as {at_s: 5, kind: kill"),
        ("kind: roll", "kind: roll, broker: 1", ":11: fault 5: field 'broker':", "roll is about all brokers"),
        ("broker: 2,", "broker: 2, broker: 3,", ":4:", "'broker' stands twice in one mapping"),
        ("faults:", "fautls:", ":1:", "it has no list 'faults', such as faults: [{at_s: 5"),
        ("faults:", "sede: 7\nfaults:", ":2:", "unknown field 'sede'; known: faults, seed, is_provoking"),
        ("# what is to come", "{", ":", "not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_field(
    tmp_path: Path, old: str, new: str, place: str, message: str
) -> None:
    assert old in GOOD
    path = write(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(FaultFileError) as caught:
        read_fault_file(path, SHAPE)
    said = str(caught.value).removeprefix(str(path))
    assert said.startswith(place)
    assert message in said


def test_what_has_no_room_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "faults: [{at_s: 1, kind: second_leader, partition: 0, for_s: 1}]")
    with pytest.raises(FaultFileError, match="field 'kind': second_leader needs more than 2 replicas"):
        read_fault_file(path, SoakShape((1, 2, 3), partitions=1, replicas=2))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FaultFileError, match=r"absent\.yaml: No such file"):
        read_fault_file(tmp_path / "absent.yaml", SHAPE)
