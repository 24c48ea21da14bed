"""What do faults of network and disk say of a cluster on paper, before they are injected?"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from fault_injection.cluster.spec import Node, ProcessRole
from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import Fault, FaultError
from fault_injection.faults.network import cut
from fault_injection.faults.storage import FullLogDirectory, ReadOnlyLogDirectory
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster

FULL = "tmpfs rw,size=8k on data"


@dataclass
class Storage:
    """A backend whose directories are ordinary unless it says what they lie on."""

    on: dict[str, str] = field(default_factory=dict)

    def storage_proof(self, _node: Node, directory: str) -> str | None:
        return self.on.get(directory)

    def storage_obstacle(self) -> str | None:
        return None


@dataclass
class Paper:
    """As much of a cluster as a fault of a disk asks for: its only broker is down."""

    backend: Storage

    def is_alive(self, _broker: int) -> bool:
        return False

    def node(self, broker: int) -> Node:
        return Node(ProcessRole.BROKER, broker)


@pytest.mark.parametrize("fault", [FullLogDirectory(1), ReadOnlyLogDirectory(1)], ids=["full", "read-only"])
def test_a_directory_that_is_impaired_already_is_left_alone(fault: Fault) -> None:
    cluster = cast("Cluster", Paper(Storage({"data": FULL})))
    assert fault.available(cluster).obstacle == f"broker 1 has {FULL} already"
    assert fault.available(cast("Cluster", Paper(Storage({"data2": FULL}))))


def test_a_cut_that_was_never_imposed_has_not_fired() -> None:
    with GateProxy() as gate:
        assert cut(gate, 1, 2).fired() is None


def test_all_is_healed_after_a_cut_that_could_not_be_imposed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise FaultError("refused")

    def cut_twice(gate: GateProxy) -> None:
        with FaultAccount(cast("Cluster", Paper(Storage())), checks_health=False) as faults:
            faults.inject(cut(gate, 1, 2))
            monkeypatch.setattr(gate.network, "impose", refused)
            faults.inject(cut(gate, 2, 1))

    monkeypatch.setattr("fault_injection.faults.network._obstacle", lambda *_: "")
    with GateProxy() as gate:
        with pytest.raises(FaultError, match="refused"):
            cut_twice(gate)
        assert not gate.network.imposed()
