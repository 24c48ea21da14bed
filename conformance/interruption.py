"""Why did a run end early? Each class says with which verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fault_injection.cluster.lost_nodes import first_cause

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.waiting import DeadlineExceededError

GIVEN_UP = "GIVEN_UP"
"""The error of a record whose producer was still waiting when the run ended: no answer of a broker."""


class RunInterruption(Exception):  # noqa: N818 - an interruption is not always an error of ours
    """A run could not go on.

    Attributes:
        verdict: the conformance verdict this interruption means.
    """

    verdict = "HARNESS_ERROR"


class AwaitedStateMissingError(RunInterruption):
    """The brokers did not reach a state the model says they reach, although all of them run."""

    verdict = "DEVIATES"


class InconclusiveError(RunInterruption):
    """The run shows nothing: no rest before the deadline, a race that ended otherwise, a tester that was too slow."""

    verdict = "INCONCLUSIVE"


STALL_S = 5.0
"""A gap between two questions above which the tester, not the brokers, stood still."""


def missed(late: DeadlineExceededError, causes: str = "") -> RunInterruption:
    """Return what a missed deadline means: the brokers' failure, unless the tester stood still meanwhile.

    Args:
        late: the deadline.
        causes: what the nodes' logs say, to be added to the sentence.
    """
    if late.longest_gap_s > STALL_S:
        return InconclusiveError(f"the tester stood still for {late.longest_gap_s:.1f} s while it waited: {late}")
    return AwaitedStateMissingError(f"{late}{causes}")


class HarnessError(RunInterruption):
    """The tester itself failed: a fault that did not fire, a crashed helper, a lost broker."""


class NodeEndedError(RunInterruption):
    """A node of the cluster ended by itself, on a machine that did nothing to it, and no rule says that it does."""

    verdict = "DEVIATES"


class NodeLostError(HarnessError):
    """Somebody else, or the machine, ended a node of the cluster: what was seen since says nothing of the brokers."""


class HoldNeverCaughtError(HarnessError):
    """A gate was armed and no matching frame came."""


def ended(cluster: Cluster) -> RunInterruption | None:
    """Return what it means that nodes ended although nobody ended them; None if every node runs that should.

    One that was ended by somebody else's signal, or by the machine, comes first: the others may have followed it.
    """
    lost = cluster.lost_nodes()
    for node in lost:
        if node.foreign_cause is not None:
            return NodeLostError(f"{node.name} {node.foreign_cause}")
    if not lost:
        return None
    words = "; ".join(f"{node.name} ended by itself ({node.state.text})" for node in lost)
    return NodeEndedError(f"{words}, every other process and link being healthy{causes_in(cluster)}")


def causes_in(cluster: Cluster) -> str:
    """Quote the first thing that went wrong in each node's log since it was started, to be added to a sentence."""
    causes = ((name, first_cause(log)) for name, log in cluster.logs_since_launch().items())
    return "".join(f"; {name} logged first: {cause}" for name, cause in causes if cause is not None)
