"""Is a broker that was never told of its replica read from its files, and only that one?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from conformance.probes.connection import ProbeError
from conformance.probes.replica_probe import ProbedNumbers, ReplicaProbe
from oracle.vocabulary import BrokerId

ONE, TWO = BrokerId(1), BrokerId(2)
BOTH = {ONE: True, TWO: True}


class _Cluster:
    zookeeper_address = None


class _Probe(ReplicaProbe):
    """A probe of two replicas: broker 1 answers, broker 2 refuses."""

    refusal: str | None = "NOT_LEADER_OR_FOLLOWER"

    def live_numbers(self, broker: BrokerId) -> ProbedNumbers:
        if broker == TWO:
            raise ProbeError("127.0.0.1:1", f"ListOffsets was answered with {self.refusal}", self.refusal)
        return ProbedNumbers(3, 3, alive=True)

    def resting_numbers(self, broker: BrokerId) -> ProbedNumbers:
        assert broker == TWO, "a broker that answers is not read from its files"
        return ProbedNumbers(2, 1, alive=False)


def probe() -> _Probe:
    return _Probe(cast("Any", _Cluster()), "t")


def test_an_untold_replica_has_the_numbers_of_its_files() -> None:
    assert probe().numbers(BOTH, frozenset({TWO})) == {
        ONE: ProbedNumbers(3, 3, alive=True),
        TWO: ProbedNumbers(2, 1, alive=True),
    }


def test_one_that_was_told_has_to_answer() -> None:
    with pytest.raises(ProbeError, match="NOT_LEADER_OR_FOLLOWER"):
        probe().numbers(BOTH, frozenset({ONE}))


@pytest.mark.parametrize("refusal", [None, "LEADER_NOT_AVAILABLE"])
def test_no_answer_is_never_taken_for_an_untold_replica(refusal: str | None) -> None:
    silent = probe()
    silent.refusal = refusal
    with pytest.raises(ProbeError):
        silent.numbers(BOTH, frozenset({TWO}))
