"""When is the partition at rest? Defined without looking at the prediction (contract 2).

On every follower link that no hold blocks, two fetch rounds begun after the step carried no record,
no error and the same numbers; all live brokers name the same leader as the controller; every live
broker's checkpoint file holds its high watermark. For a bounded grace, since a broker may have
reasons the model does not know, also: no caught-up follower still waits to join the ISR, and the
leader's partition already obeys the ISR that its metadata shows (KRaft publishes metadata first).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.interruption import InconclusiveError
from conformance.probes.connection import ProbeError
from conformance.probes.replica import Admission
from conformance.record.observations import MeasuredCheckpoint, MeasuredNumbers, ReplicaSeen
from fault_injection.waiting import DeadlineExceededError, NotYetError, until
from oracle.vocabulary import BrokerId

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from conformance.probes.controller import CommittedPartition
    from conformance.probes.replica_probe import ProbedNumbers, ReplicaProbe
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.wire.proxy import GateProxy
    from fault_injection.wire.rounds import Round

REST_DEADLINE_S = 30.0
JOIN_GRACE_S = 8.0
DEAF_S = 1.0
"""How long a broker that hears no decision is given to do what it does in its old role: ten fetch waits."""
QUIET_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class Link:
    """A follower fetching from the current leader."""

    follower: BrokerId
    leader: BrokerId


class Rest:
    """Waits for rest and measures at rest; one per run."""

    def __init__(
        self,
        cluster: Cluster,
        gate: GateProxy,
        probe: ReplicaProbe,
        topic: str,
        replicas: tuple[BrokerId, ...],
        *,
        checks_checkpoint_files: bool,
        min_insync_replicas: int,
    ) -> None:
        self._cluster = cluster
        self._gate = gate
        self._probe = probe
        self._topic = topic
        self.replicas = replicas
        self._wanted: tuple[BrokerId, ...] | None = None
        self._checks_checkpoint_files = checks_checkpoint_files
        self.min_insync_replicas = min_insync_replicas
        self._is_kraft = cluster.zookeeper_address is None
        self.blocked: Callable[[], frozenset[tuple[int, int]]] = frozenset
        self.unreachable: Callable[[], frozenset[int]] = frozenset
        self.idle: Callable[[], frozenset[int]] = frozenset
        self.paused: Callable[[], frozenset[int]] = frozenset
        self.pending: Callable[[], frozenset[int]] = frozenset
        self.undecided: Callable[[], frozenset[int]] = frozenset

    def expect_replicas(self, wanted: tuple[BrokerId, ...]) -> None:
        """Look at the replicas that brokers name from now on: the partition is on its way to other ones."""
        self._wanted = wanted

    def has_begun(self) -> bool:
        """Return whether the brokers know of the reassignment: the wanted replicas come first, then the others."""
        wanted = self._wanted or ()
        try:
            return self._assigned()[: len(wanted)] == wanted
        except ProbeError as unanswered:
            raise NotYetError(str(unanswered)) from unanswered

    def _assigned(self) -> tuple[BrokerId, ...]:
        """Return the assigned replicas, on which all brokers that run and hear the controller agree."""
        unreachable = self.unreachable()
        named = self._probe.assigned([BrokerId(b) for b in self._cluster.live_brokers if b not in unreachable])
        if len(named) != 1:
            raise NotYetError(f"brokers name the replicas {sorted(named)}")
        return tuple(map(BrokerId, *named))

    def alive(self) -> dict[BrokerId, bool]:
        """Tell which of the partition's brokers run."""
        return {broker: self._cluster.is_alive(broker) for broker in self.replicas}

    def answering(self) -> dict[BrokerId, bool]:
        """Tell which of the partition's brokers answer: they run and are not paused."""
        paused = self.paused()
        return {broker: alive and broker not in paused for broker, alive in self.alive().items()}

    def view(self) -> CommittedPartition:
        """Return the controller's committed partition state: all that run and hear it are asked.

        A replica that has just got what a hold kept from it knows less than the others, until it has applied that.

        Raises:
            NotYetError: while nobody knows the partition.
        """
        unreachable = self.unreachable()
        view = self._probe.controller_view([BrokerId(b) for b in self._cluster.live_brokers if b not in unreachable])
        if view is None:
            raise NotYetError("no broker knows the partition")
        return view

    def wait(self, deadline_s: float = REST_DEADLINE_S) -> None:
        """Wait until the partition is at rest.

        Raises:
            InconclusiveError: if it is not within the deadline; says what still moved.
        """
        since = time.monotonic_ns()
        grace_until = time.monotonic() + JOIN_GRACE_S
        try:
            until(
                lambda: self._is_at_rest(since, grace_until),
                deadline_s=deadline_s,
                what="replication to come to rest",
            )
        except DeadlineExceededError as late:
            raise InconclusiveError(str(late)) from late

    def _is_at_rest(self, since: int, grace_until: float) -> bool:
        self._cluster.check_alive()
        try:
            view = self.view()
            if self._wanted is not None:
                self._follow_reassignment(view, self._wanted, grace_until)
            self._require_one_leader(view)
            links = self._links(view)
            rounds = {link: self._quiet_rounds(link, since) for link in links}
            self._require_calm(view, since)
            if self._checks_checkpoint_files:
                self._require_checkpoints()
            if time.monotonic() < grace_until and view.leader not in self.unreachable() | self.pending():
                self._require_joined(view, rounds)
                self._require_obeyed(view)
        except ProbeError as unanswered:
            raise NotYetError(str(unanswered)) from unanswered
        return True

    def _follow_reassignment(self, view: CommittedPartition, wanted: tuple[BrokerId, ...], grace_until: float) -> None:
        """Look at the replicas assigned now; for a grace, wait for the end of a reassignment that nothing delays."""
        self.replicas = self._assigned()
        is_due = set(wanted) <= set(view.isr) and self.replicas != wanted
        if is_due and time.monotonic() < grace_until:
            raise NotYetError(f"the replicas are {self.replicas}, although all that are wanted are in sync")

    def _require_one_leader(self, view: CommittedPartition) -> None:
        unreachable = self.unreachable()
        for broker, alive in self.alive().items():
            seen = self._probe.metadata(broker) if alive and broker not in unreachable else None
            if seen is not None and seen.leader != view.leader:
                raise NotYetError(f"broker {broker} names leader {seen.leader}, the controller {view.leader}")
            if seen is not None and self._is_kraft and sorted(seen.isr) != sorted(view.isr):
                raise NotYetError(f"broker {broker} names the ISR {sorted(seen.isr)}, another one {sorted(view.isr)}")

    def await_isr_told(self, broker: BrokerId, is_caught: Callable[[], bool] = lambda: False) -> None:
        """Wait until a broker has heard who is in sync: with ZooKeeper it hears seconds later how an ISR has changed.

        Source: ReplicaManager.maybePropagateIsrChanges.

        Args:
            broker: one that runs and hears the controller.
            is_caught: whether a hold has what would tell it.

        Raises:
            DeadlineExceededError: it is not told.
            ProbeError: it does not answer.
        """

        def is_told() -> bool:
            if is_caught():
                return True
            seen, view = self._probe.metadata(broker), self.view()
            if seen is not None and view.leader is not None and sorted(seen.isr) != sorted(view.isr):
                raise NotYetError(f"it names {sorted(seen.isr)}, and the ISR is {sorted(view.isr)}")
            return True

        until(is_told, deadline_s=REST_DEADLINE_S, what=f"broker {broker} to be told the ISR")

    def _links(self, view: CommittedPartition) -> list[Link]:
        alive = self.alive()
        leader = next((b for b, lives in alive.items() if lives and b == view.leader), None)
        if leader is None:
            return []
        unreachable = self.unreachable()
        links = [
            Link(b, leader) for b, lives in alive.items() if lives and b != leader and not {b, leader} & unreachable
        ]
        return [link for link in links if (link.follower, link.leader) not in self.blocked()]

    def _quiet_rounds(self, link: Link, since: int) -> Round:
        """Return the last of two equal, empty rounds on a link."""
        last = self._rounds(link, since)[-QUIET_ROUNDS:]
        if len(last) < QUIET_ROUNDS or len({one.numbers for one in last}) > 1 or not last[-1].is_empty:
            raise NotYetError(f"broker {link.follower} has not fetched twice in vain from broker {link.leader}")
        return last[-1]

    def _require_calm(self, view: CommittedPartition, since: int) -> None:
        """Let followers that may ask the wrong leader, or ask in vain, try a few times: records must not move.

        An unreachable broker goes on in its old role, on links that nobody decided; a paused or isolated one has none.
        """
        unreachable = self.unreachable() - self.idle()
        if not unreachable:
            return
        if time.monotonic_ns() - since < DEAF_S * 1e9:
            raise NotYetError(f"brokers {sorted(unreachable)} hear no decision: waiting for what they do all the same")
        alive = [broker for broker, lives in self.alive().items() if lives]
        involved = {b for b in alive if b in unreachable or view.leader in unreachable}
        blocked = self.blocked()  # what a hold keeps back brings nothing more, whatever came before it
        for follower in involved:
            last = self._gate.rounds_since(since, topic=self._topic, partition=0, follower=follower)[-1:]
            if any(one.record_bytes and (follower, one.leader) not in blocked for one in last):
                raise NotYetError(f"broker {follower} still gets records")

    def _rounds(self, link: Link, since: int) -> list[Round]:
        """Return the finished rounds of a link whose requests came after a monotonic time."""
        rounds = self._gate.rounds_since(since, topic=self._topic, partition=0, follower=link.follower)
        return [one for one in rounds if one.leader == link.leader]

    def _require_checkpoints(self) -> None:
        for broker, answers in self.answering().items():
            if not answers:
                continue
            high_watermark = self._probe.numbers({broker: True}, self.unreachable())[broker].high_watermark
            on_disk = self._probe.checkpointed_high_watermark(broker) or 0
            if on_disk != high_watermark:
                raise NotYetError(f"broker {broker} has high watermark {high_watermark}, its checkpoint {on_disk}")

    def _require_joined(self, view: CommittedPartition, rounds: dict[Link, Round]) -> None:
        for link, last in rounds.items():
            if link.follower not in view.isr and last.fetch_offset >= last.high_watermark:
                raise NotYetError(f"broker {link.follower} is caught up but not in the ISR {list(view.isr)}")

    def _require_obeyed(self, view: CommittedPartition) -> None:
        """Wait until the leader's partition obeys the leadership and ISR that its metadata already shows.

        Of an ISR of all replicas that is below the minimum releases differ (KAFKA-15583): there either answer will do.
        """
        leader = next((b for b, lives in self.alive().items() if lives and b == view.leader), None)
        if leader is None:
            return
        in_sync, minimum = len(view.isr), self.min_insync_replicas
        may_admit, may_refuse = in_sync >= min(minimum, len(self.replicas)), in_sync < minimum
        obeys = {Admission.ADMITTED: may_admit, Admission.TOO_FEW_IN_SYNC: may_refuse, Admission.NOT_LEADER: False}
        admission = self._probe.admission(leader)
        if not obeys[admission]:
            raise NotYetError(f"broker {leader} answers a produce with {admission.value} at ISR {list(view.isr)}")

    def measure(self, name: str, deadline_s: float = REST_DEADLINE_S) -> MeasuredCheckpoint:
        """Probe, let one more round pass, probe again: equal twice is the measurement.

        Raises:
            InconclusiveError: if the numbers never repeat.
        """

        def equal_twice() -> MeasuredCheckpoint:
            self.wait(deadline_s)
            first = self.numbers()
            self._await_another_round()
            second = self.numbers()
            if first != second:
                raise NotYetError([first, second])
            return self._checkpoint(name, second)

        try:
            return until(equal_twice, deadline_s=deadline_s, what="two equal probes")
        except DeadlineExceededError as late:
            raise InconclusiveError(str(late)) from late

    def _checkpoint(self, name: str, numbers: MeasuredNumbers) -> MeasuredCheckpoint:
        written = self._probe.written_down(self.answering())
        return MeasuredCheckpoint(
            name=name,
            settled=True,
            replicas=numbers.replicas,
            leader=numbers.leader,
            leader_epoch=numbers.leader_epoch,
            isr=numbers.isr,
            elr=numbers.elr,
            remote_log_end_offsets=numbers.remote_log_end_offsets,
            or_if_diverging_counts=numbers.or_if_diverging_counts,
            epoch_files=written.epoch_files,
            isr_notices=written.isr_notices,
            told_leaders=self._told_leaders(),
        )

    def _told_leaders(self) -> dict[int, int | None]:
        """Ask every live broker who leads, unreachable ones and the witness too; who cannot say is left out."""
        told: dict[int, int | None] = {}
        for broker in self._cluster.live_brokers:
            with suppress(ProbeError):
                seen = self._probe.metadata(BrokerId(broker))
                told[broker] = None if seen is None else seen.leader
        return told

    def _await_another_round(self) -> None:
        """Let one more round pass on every link; one that a hold catches meanwhile is waited for no longer."""
        since = time.monotonic_ns()
        links = self._links(self.view())

        def has_passed() -> bool:
            free = (link for link in links if (link.follower, link.leader) not in self.blocked())
            waiting = [link.follower for link in free if not self._rounds(link, since)]
            if waiting:
                raise NotYetError(f"no fetch round of brokers {waiting}")
            return True

        until(has_passed, deadline_s=REST_DEADLINE_S, what="another fetch round on every free link")

    def numbers(self) -> MeasuredNumbers:
        """Read every replica's numbers and the controller's view."""
        view = until(self.view, deadline_s=REST_DEADLINE_S, what="the controller's view")
        numbers, alive = self._probe.numbers(self.answering(), self.unreachable()), self.alive()
        known, instead = self._remote_log_end_offsets(view, numbers)
        return MeasuredNumbers(
            replicas={
                broker: ReplicaSeen(n.log_end_offset, n.high_watermark, alive[broker], n.log_start_offset)
                for broker, n in numbers.items()
            },
            leader=view.leader,
            leader_epoch=view.leader_epoch,
            isr=tuple(sorted(view.isr)),
            elr=tuple(sorted(view.elr)),
            remote_log_end_offsets=known,
            or_if_diverging_counts=instead,
        )

    def _remote_log_end_offsets(
        self, view: CommittedPartition, numbers: Mapping[BrokerId, ProbedNumbers]
    ) -> tuple[dict[int, int | None], dict[int, int]]:
        """Derive what the leader knows of its followers; its high watermark may show that a diverging fetch counted."""
        known: dict[int, int | None] = {}
        instead: dict[int, int] = {}
        leader = next((broker for broker in numbers if broker == view.leader), None)
        if leader is None:
            return {}, {}
        counted = self._counted_by(leader)
        for broker in (broker for broker, lives in self.alive().items() if lives and broker != leader):
            if broker not in counted:
                known[broker] = None
                continue
            certain = self._gate.last_forwarded_fetch_offset(broker, leader, self._topic, 0)
            diverging = self._gate.diverging_fetch_offset(broker, leader, self._topic, 0)
            high_watermark = numbers[leader].high_watermark  # a leader that has counted no fetch inherited it
            shows = certain is not None and broker in view.isr and high_watermark > certain
            known[broker] = diverging if diverging is not None and shows else certain
            if diverging is not None and not shows:
                instead[broker] = diverging
        return known, instead

    def _counted_by(self, leader: BrokerId) -> Sequence[int]:
        """Return the replicas that a leader counts: those it has heard of, though it answers others, too."""
        seen = self._probe.metadata(leader) if leader in self.undecided() else None
        return self.replicas if seen is None else seen.replicas
