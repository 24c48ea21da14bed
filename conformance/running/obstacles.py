"""How are brokers paused, links cut, and both taken back? And whom does that keep from what meanwhile?

A paused or isolated broker is *unreachable*: no wait asks it what was decided. A paused one answers nobody at all; its
numbers are those of its files. Under ``timing: session`` the controller notices a pause as it does a death, and in
KRaft mode an isolation too; ZooKeeper goes on hearing an isolated broker.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from conformance.interruption import HarnessError
from conformance.record.timeline import Event
from conformance.running.lag_time import await_return
from fault_injection.faults import network, process
from fault_injection.waiting import until
from fault_injection.wire import impairments
from fault_injection.wire.impairments import LinkDirection, around
from oracle.steps.brokers import Isolate, Pause, Rejoin, Resume
from oracle.steps.frames import CutLink, Heal
from oracle.vocabulary import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conformance.running.holding import Holding
    from conformance.running.recorder import Recorder
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.account import FaultAccount, FaultEntry
    from fault_injection.faults.fault import Fault
    from fault_injection.wire.proxy import GateProxy
    from oracle.vocabulary import BrokerId

    Obstacle = Pause | Resume | CutLink | Heal | Isolate | Rejoin

LOST_FRAME_DEADLINE_S = 10.0
"""Within this time a KRaft broker sends something to the controller, which it does every half second."""
STANDSTILL_S = 0.7
"""How long a paused follower's last fetch may wait at its leader: longer than any replica.fetch.wait.max.ms imposed."""


class RaisedObstacles:
    """What stands between the brokers of one run.

    Args:
        cluster: the brokers.
        gate: what every link goes through.
        recorder: gets every deed onto the timeline.
        timing: who notices that a broker is silent.
        faults: keeps account of everything that is put in the way, and heals it however the run ends.
        holding: is told of holds whose connections a cut ends.
        await_reaction: waits until the controller has removed a broker.

    Attributes:
        paused: the brokers that are frozen.
        isolated: the brokers that reach no other node.
    """

    def __init__(
        self,
        cluster: Cluster,
        gate: GateProxy,
        recorder: Recorder,
        timing: Timing,
        *,
        faults: FaultAccount,
        holding: Holding,
        await_reaction: Callable[[BrokerId], None],
    ) -> None:
        self._cluster = cluster
        self._gate = gate
        self._recorder = recorder
        self._faults = faults
        self._holding = holding
        self._await_reaction = await_reaction
        self._is_session = timing is Timing.SESSION
        self.paused: frozenset[BrokerId] = frozenset()
        self.isolated: frozenset[BrokerId] = frozenset()
        self._cuts: dict[tuple[BrokerId, BrokerId], float] = {}
        self._silent_since: dict[BrokerId, float] = {}

    def take(self, step: Obstacle) -> None:
        """Put something in the way or take it away, and wait for what follows from it."""
        match step:
            case Pause(broker):
                self._pause(broker)
            case Resume(broker):
                self._resume(broker)
            case CutLink(follower, leader):
                self._cuts[follower, leader] = time.monotonic()
                self._faults.inject(self._cut(follower, leader))
                self._holding.discharge_link(follower, leader)
                self._mark_link(Event.LINK_CUT, follower, leader, "no fetch of broker {} reaches broker {}")
            case Heal(follower, leader):
                self._heal(self._cut(follower, leader))
                del self._cuts[follower, leader]
                self._mark_link(Event.LINK_HEALED, follower, leader, "fetches of broker {} reach broker {}")
            case Isolate(broker):
                self._isolate(broker)
            case Rejoin(broker):
                self._rejoin(broker)

    def _mark_link(self, event: Event, follower: BrokerId, leader: BrokerId, text: str) -> None:
        self._recorder.mark(event, follower, text.format(follower, leader), follower=follower, leader=leader)

    def severed(self) -> frozenset[tuple[int, int]]:
        """Return the links (follower, leader) that are cut."""
        return frozenset(self._cuts)

    def unreachable(self) -> frozenset[int]:
        """Return the brokers that hear no decision."""
        return self.paused | self.isolated

    def unhearing(self) -> frozenset[int]:
        """Return the brokers that hear no decision, by an obstacle or by a hold, which may catch one at any time."""
        return self.unreachable() | self._holding.unreachable()

    def unlisted(self) -> frozenset[int]:
        """Return the brokers that the controller cannot hear: a KRaft controller fences them; ZooKeeper hears all."""
        return self.isolated if self._cluster.zookeeper_address is None else frozenset()

    def silent_since(self) -> dict[BrokerId, float]:
        """Return since when (monotonic seconds) which brokers' fetches have not reached a leader."""
        cut_since: dict[BrokerId, float] = {}
        for (follower, _), since in self._cuts.items():
            cut_since[follower] = min(since, cut_since.get(follower, since))
        return cut_since | self._silent_since

    def discharge(self, broker: BrokerId) -> None:
        """Forget that a broker was paused: it has died."""
        self.paused -= {broker}
        if broker not in self.isolated:
            self._silent_since.pop(broker, None)

    def _cut(self, follower: BrokerId, leader: BrokerId) -> network.ImpairedNetwork:
        """Return the fault that resets every connection by which a broker fetches from another one."""
        way = LinkDirection(follower, leader, "replication", opened_by="sender")
        return network.ImpairedNetwork("cut", self._gate, impairments.LinkCut((way,), "reset"))

    def _heal(self, fault: Fault) -> None:
        """Take a fault back.

        Raises:
            HarnessError: it does not stand, although the schedule was predicted to have it.
        """
        entry = self._faults.find(fault)
        if entry is None:
            raise HarnessError(f"{fault.name} is to be healed, and it does not stand")
        self._faults.heal(entry)

    def _pause(self, broker: BrokerId) -> None:
        self._silent_since[broker] = time.monotonic()
        self._faults.inject(process.PauseProcess(broker))
        self.paused |= {broker}
        self._recorder.mark(Event.BROKER_PAUSED, broker, f"broker {broker} paused (SIGSTOP)")
        if self._is_session:
            self._await_reaction(broker)
        else:
            end = time.monotonic() + STANDSTILL_S
            until(lambda: time.monotonic() >= end, deadline_s=2 * STANDSTILL_S, what="its last fetch to be answered")

    def _resume(self, broker: BrokerId) -> None:
        self._heal(process.PauseProcess(broker))
        self.paused -= {broker}
        self._silent_since.pop(broker)
        self._recorder.mark(Event.BROKER_RESUMED, broker, f"broker {broker} resumed (SIGCONT)")
        self._await_return(broker)

    def _isolate(self, broker: BrokerId) -> None:
        self._silent_since[broker] = time.monotonic()
        standing = [self._faults.inject(fault) for fault in isolation(self._cluster, self._gate, broker)]
        self.isolated |= {broker}
        self._holding.discharge(broker)
        self._recorder.mark(
            Event.BROKER_ISOLATED, broker, f"broker {broker} reaches no other node, and none reaches it"
        )
        if self._is_session and self._cluster.zookeeper_address is None:
            self._await_reaction(broker)
        what = f"a frame between broker {broker} and the controller to be lost"
        until(partial(self._have_fired, standing[1:]), deadline_s=LOST_FRAME_DEADLINE_S, what=what)

    def _have_fired(self, standing: Sequence[FaultEntry]) -> bool:
        """Look whether frames have met faults: a broker that rejoins before they do was never cut off."""
        self._faults.look()
        return all(entry.has_fired for entry in standing)

    def _rejoin(self, broker: BrokerId) -> None:
        for fault in isolation(self._cluster, self._gate, broker):
            self._heal(fault)
        self.isolated -= {broker}
        self._silent_since.pop(broker, None)
        self._recorder.mark(Event.BROKER_REJOINED, broker, f"the links of broker {broker} work again")
        self._await_return(broker)

    def _await_return(self, broker: BrokerId) -> None:
        """Wait until a broker that runs is registered; one that died, or is still in the way of it, is not."""
        is_kept = broker in self.paused | self.unlisted()
        if self._cluster.is_alive(broker) and not is_kept:
            await_return(self._cluster, broker, unreachable=self.unhearing, unlisted=self.unlisted)


def isolation(cluster: Cluster, gate: GateProxy, broker: BrokerId | int) -> tuple[network.ImpairedNetwork, ...]:
    """Return the faults that cut a broker off from every other node, and not from clients.

    Its connections to a KRaft controller stay, and nothing passes: from 3.9 on a broker that has to connect anew goes
    to the address that the controller has told it, past the gate (KIP-853).
    """
    reset = impairments.LinkCut(around(broker, "replication"), "reset")
    links = network.ImpairedNetwork("isolate", gate, reset)
    if cluster.zookeeper_address is not None:
        return (links,)
    silent = impairments.LinkCut(around(broker, "controller"), "blackhole")
    return links, network.ImpairedNetwork("isolate", gate, silent)
