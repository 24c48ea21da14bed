"""What do faults of the network say that were never imposed, on a cluster on paper?"""

from typing import TYPE_CHECKING, cast

import pytest

from fault_injection.faults.account import FaultAccount
from fault_injection.faults.fault import FaultError
from fault_injection.faults.network import cut
from fault_injection.wire.proxy import GateProxy

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster


def test_a_cut_that_was_never_imposed_has_not_fired() -> None:
    with GateProxy() as gate:
        assert cut(gate, 1, 2).fired() is None


def test_all_is_healed_after_a_cut_that_could_not_be_imposed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise FaultError("refused")

    def cut_twice(gate: GateProxy) -> None:
        with FaultAccount(cast("Cluster", object()), checks_health=False) as faults:
            faults.inject(cut(gate, 1, 2))
            monkeypatch.setattr(gate.network, "impose", refused)
            faults.inject(cut(gate, 2, 1))

    monkeypatch.setattr("fault_injection.faults.network._obstacle", lambda *_: "")
    with GateProxy() as gate:
        with pytest.raises(FaultError, match="refused"):
            cut_twice(gate)
        assert not gate.network.imposed()
