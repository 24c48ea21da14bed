"""May a broker that has ended by itself be down in the end, and nobody else?"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.faults.account import FaultAccount, FaultAccountError
from tests.fault_injection.cluster.conftest import spec_of

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster


@dataclass
class Processes:
    """The processes of a cluster of three brokers, of which some have ended."""

    ended: set[str] = field(default_factory=set)
    spec: ClusterSpec = field(default_factory=lambda: spec_of("2.8.2"))

    @property
    def backend(self) -> "Processes":
        return self

    def is_running(self, node: Node) -> bool:
        return node.name not in self.ended

    def is_alive(self, broker: int) -> bool:
        return self.is_running(Node(ProcessRole.BROKER, broker))

    def is_paused(self, broker: int) -> bool:
        return f"paused-{broker}" in self.ended


def complaints_of(monkeypatch: pytest.MonkeyPatch, *ended: str) -> tuple[str, ...]:
    """Return what is complained about when processes have ended in the end, and broker 2 is excused."""
    monkeypatch.setattr("fault_injection.faults.account.require_untouched", lambda _: None)
    monkeypatch.setattr("fault_injection.cluster.health._at_work", lambda *_: ())
    cluster = Processes()
    try:
        with FaultAccount(cast("Cluster", cluster), recovery_s=0.01) as faults:
            faults.excuse(2)
            cluster.ended.update(ended)
    except FaultAccountError as failed:
        return failed.complaints
    return ()


def test_a_broker_that_has_ended_by_itself_may_be_down_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints_of(monkeypatch, "broker-2") == ()


@pytest.mark.parametrize("other", ["broker-1", "broker-3", "broker-100", "zookeeper-0", "paused-3"])
def test_that_one_broker_is_excused_excuses_no_other_node(monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    (complaint,) = complaints_of(monkeypatch, "broker-2", other)
    said = "broker 3 is paused" if other == "paused-3" else f"{other} does not run"
    assert complaint == f"the cluster is not healthy after all faults were healed: {said}"


def test_a_broker_that_healing_starts_may_end_by_itself_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fault_injection.faults.account.require_untouched", lambda _: None)
    monkeypatch.setattr("fault_injection.cluster.health._at_work", lambda *_: ())
    cluster = Processes()

    def ends_meanwhile(_: object, down: frozenset[int]) -> tuple[str, ...]:
        cluster.ended.add("broker-2")
        return () if down == {2} else ("broker 2 is not registered",)

    with FaultAccount(cast("Cluster", cluster), recovery_s=5) as faults:
        monkeypatch.setattr("fault_injection.cluster.health._at_work", ends_meanwhile)
        faults.excuse(2)
