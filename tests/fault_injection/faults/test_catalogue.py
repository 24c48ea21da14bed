"""Is every fault in the catalogue, under the name that it carries, and does the command line tell it?"""

import json
import signal
from collections.abc import Iterator
from typing import get_args

import pytest

from conformance.cli import main
from fault_injection.faults import disk, network, process
from fault_injection.faults.catalogue import CATALOGUE
from fault_injection.wire.gate_events import Action
from fault_injection.wire.points import POINTS

CLASSES = {
    one.name
    for module in (process, disk, network)
    for one in vars(module).values()
    if isinstance(one, type) and isinstance(getattr(one, "name", None), str) and one.__module__ == module.__name__
}
NETWORK = {"cut", "isolate", "delay"}
NAMES = [entry.name for entry in CATALOGUE]


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_every_fault_is_in_the_catalogue_once() -> None:
    frames = {f"{action}_frame" for action in get_args(Action)} | {"late_frame"}
    assert set(NAMES) == CLASSES | NETWORK | frames
    assert len(NAMES) == len(set(NAMES))
    assert all(callable(getattr(network, name)) for name in NETWORK)


@pytest.mark.parametrize("entry", CATALOGUE, ids=NAMES)
def test_every_fault_is_told_in_one_sentence(entry: object) -> None:
    said = [getattr(entry, field) for field in ("does", "heals")]
    assert all(text[0].isupper() and text.endswith(".") and ". " not in text for text in said)


def test_the_command_line_lists_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {name}\n" in told for name in NAMES)
    assert "process and docker backends, " in told
    assert "Protocol points" not in told


@pytest.mark.parametrize(
    ("metadata", "present", "absent"), [("zookeeper", "leader_and_isr", "broker_heartbeat_request")]
)
def test_with_a_release_it_lists_its_protocol_points(
    capsys: pytest.CaptureFixture[str], metadata: str, present: str, absent: str
) -> None:
    assert main(["faults", "--kafka", "3.9", "--metadata", metadata]) == 0
    told = capsys.readouterr().out
    assert f"\n  {present}\n" in told
    assert f"\n  (no {absent}: " in told


def test_as_json_it_says_of_every_point_whether_the_release_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--kafka", "4.3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [fault["name"] for fault in told["faults"]] == NAMES
    assert told["points"].keys() == POINTS.keys()
    assert told["points"]["leader_and_isr"]
    assert told["points"]["broker_heartbeat_request"] is None


def test_a_release_that_is_not_known_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--kafka", "99"]) == 2
    assert "not a supported release" in capsys.readouterr().err
