"""Did every fault fire, and was every one healed?

A ``FaultAccount`` is a context around everything that is done to one cluster. It makes sure that the cluster is healthy
before the first fault; stamps each fault when it is armed, has fired and is healed; heals what stands when the context
ends, the last one first, however it ends; and makes sure that the cluster is healthy again.

A fault that was armed and never fired is an error of the tester: what was to be tried was not tried. So is a heal that
fails, and it does not keep the next one from being tried. A broker that has ended by itself, as it may, is excused from
being healthy; nobody else is. When the context ends by an exception, that exception goes on with what else went wrong
in its notes.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.health import RECOVERY_DEADLINE_S, UnhealthyClusterError, require_healthy
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.faults.fault import (
    Fault,
    FaultError,
    FaultEvent,
    FaultStage,
    FiredFrame,
    Proof,
    Proven,
    Waiting,
    require_untouched,
    termination_raises,
)
from fault_injection.faults.gate_faults import GateFault

_SETTLE_S = 3.0
"""How long followers may take to be in sync again after what was before, such as a topic that was just made."""


class FaultAccountError(ClusterError):
    """A fault did not fire, was not healed, or left the cluster unhealthy: an error of the tester.

    Attributes:
        complaints: each in words.
    """

    def __init__(self, complaints: list[str]) -> None:
        super().__init__("; ".join(complaints))
        self.complaints = tuple(complaints)


class NotHealedError(FaultAccountError):
    """Every fault fired, and one was not healed, or the cluster did not become healthy afterwards."""


@dataclass(slots=True)
class FaultEntry:
    """One fault of an account, and whether it has fired and was healed.

    Attributes:
        number: counted from 1 in the order of injection.
        fault: the fault.
        done: what injecting it did, in words.
        is_given_up: whether nobody waits for it to fire any more.
    """

    number: int
    fault: Fault
    done: str = ""
    has_fired: bool = False
    is_healed: bool = False
    is_given_up: bool = False


class FaultAccount:
    """Keeps account of all faults that are injected into one cluster; a context manager that heals them.

    Args:
        cluster: the cluster.
        on_event: told of each stage that a fault reaches, when it is noticed.
        checks_health: whether the cluster must be healthy before, and again after ``recovery_s`` seconds at most.
        recovery_s: seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        on_event: Callable[[FaultEvent], None] = lambda _: None,
        *,
        checks_health: bool = True,
        recovery_s: float = RECOVERY_DEADLINE_S,
    ) -> None:
        self._cluster = cluster
        self._on_event = on_event
        self._checks_health = checks_health
        self._recovery_s = recovery_s
        self._entries: list[FaultEntry] = []
        self._excused: set[int] = set()
        self._termination = ExitStack()

    def __enter__(self) -> Self:
        """Make sure that the cluster is healthy and no fault is left over.

        Raises:
            UnhealthyClusterError: it is not, and what is wrong.
        """
        if self._checks_health:
            require_untouched(self._cluster)
            require_healthy(self._cluster, "before the first fault", _SETTLE_S)
        self._termination.enter_context(termination_raises())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Heal what stands, the last one first.

        Raises:
            NotHealedError: all fired; one was not healed, or the cluster does not become healthy.
            FaultAccountError: a fault did not fire.
        """
        with self._termination:
            failed, interruption = self._heal_all()
            unfired = [] if error is not None else self._unfired()
            complaints = [*unfired, *failed]
            if error is None and interruption is None and not failed:
                complaints += self._unhealthy()
        ending = interruption or error
        if ending is not None:
            for complaint in complaints:
                ending.add_note(complaint)
        if interruption is not None:
            raise interruption from error
        if error is None and complaints:
            raise (FaultAccountError if unfired else NotHealedError)(complaints)

    # What is done

    def inject(self, fault: Fault) -> FaultEntry:
        """Inject a fault and keep account of it.

        Raises:
            FaultError: it cannot be injected, or nothing shows that it fired.
        """
        self.look()
        available = fault.available(self._cluster)
        if not available:
            raise FaultError(f"{fault.name} cannot be injected: {available.obstacle}")
        entry = FaultEntry(len(self._entries) + 1, fault)
        self._entries.append(entry)
        what = f"awaits {fault.awaited()}" if isinstance(fault, Waiting) else repr(fault)
        self._stamp(entry, FaultStage.ARMED, f"{fault.name} armed: {what}")
        entry.done = fault.inject(self._cluster)
        if isinstance(fault, Waiting):
            self.look()
        else:
            proof = self._proof(fault, entry.done)
            self._fired(entry, entry.done if proof is None else f"{entry.done}; {proof.text}", proof=proof)
        return entry

    def heal(self, entry: FaultEntry) -> None:
        """Take a fault back; does nothing if that was done. What keeps it from being healed is stamped and raised."""
        if entry.is_healed:
            return
        try:
            self.look()
        finally:  # a look that fails keeps no fault standing
            self._take_back(entry)

    def give_up(self, entry: FaultEntry) -> str | None:
        """Take a fault back, and say in words that it never fired; None if it did.

        That is no complaint at the end any more: whoever gives it up tells of it.
        """
        self.heal(entry)
        entry.is_given_up = True
        return None if entry.has_fired else _complaint(entry.fault)

    def look(self) -> None:
        """Stamp the faults that have fired on a frame since the last look."""
        for entry in self.standing:
            self._look_at(entry)

    def excuse(self, broker: int) -> None:
        """Note that a broker has ended by itself, as it may: while it is down health is asked of the others."""
        self._excused.add(broker)

    def expect(self, broker: int) -> None:
        """Note that a broker that had ended by itself was started again: it is excused no more."""
        self._excused.discard(broker)

    def forgo_recovery(self) -> None:
        """Note that nobody will use the cluster again: what stands is healed, and no health is awaited after it."""
        self._checks_health = False

    # What is known

    @property
    def standing(self) -> tuple[FaultEntry, ...]:
        """Return the faults that were injected and not healed, in the order of injection."""
        return tuple(entry for entry in self._entries if not entry.is_healed)

    def find(self, fault: Fault) -> FaultEntry | None:
        """Return the entry of a fault that stands, or None."""
        return next((entry for entry in self.standing if entry.fault == fault), None)

    def _look_at(self, entry: FaultEntry) -> None:
        fault = entry.fault
        if entry.has_fired or not isinstance(fault, Waiting):
            return
        if (frame := fault.fired()) is not None:
            self._fired(entry, f"{fault.name} fired on {frame.text}", frame=frame)

    # How it ends

    def _take_back(self, entry: FaultEntry) -> None:
        try:
            healed = entry.fault.heal(self._cluster)
        except BaseException as error:
            self._stamp(entry, FaultStage.HEAL_FAILED, f"{entry.fault.name} could not be healed: {error!r}")
            raise
        entry.is_healed = True
        self._look_at(entry)  # a frame may have come since the look before
        self._stamp(entry, FaultStage.HEALED, healed or f"{entry.fault.name}: there was nothing to take back")

    def _unfired(self) -> list[str]:
        waited = (it.fault for it in self._entries if not (it.has_fired or it.is_given_up))
        return [said for fault in waited if (said := _complaint(fault)) is not None]

    def _heal_all(self) -> tuple[list[str], BaseException | None]:
        """Heal what stands; return what failed, and an interruption that came meanwhile and must go on."""
        failed: list[str] = []
        interruption: BaseException | None = None
        for entry in reversed(self.standing):
            try:
                self.heal(entry)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next one is to be healed
                failed.append(f"{entry.fault.name} could not be healed: {error}")
            except BaseException as error:  # noqa: BLE001 - likewise; it is raised again when all are healed
                failed.append(f"{entry.fault.name} was interrupted while it was healed")
                interruption = error
        return failed, interruption

    def _unhealthy(self) -> list[str]:
        if not self._checks_health:
            return []
        try:
            excused = frozenset(self._excused)
            require_healthy(self._cluster, "after all faults were healed", self._recovery_s, excused)
        except UnhealthyClusterError as unhealthy:
            return [str(unhealthy)]
        except Exception as error:  # noqa: BLE001 - it must not hide what else is complained about
            return [f"whether the cluster is healthy cannot be told: {error!r}"]
        return []

    def _proof(self, fault: Fault, done: str) -> Proof | None:
        if not isinstance(fault, Proven):
            return None
        proof = fault.proof(self._cluster)
        if proof is None:
            raise FaultError(f"{done}, but nothing shows it: {fault.name} did not fire")
        return proof

    def _fired(
        self, entry: FaultEntry, text: str, *, frame: FiredFrame | None = None, proof: Proof | None = None
    ) -> None:
        entry.has_fired = True
        self._stamp(entry, FaultStage.FIRED, text, frame, proof)

    def _stamp(
        self,
        entry: FaultEntry,
        stage: FaultStage,
        text: str,
        frame: FiredFrame | None = None,
        proof: Proof | None = None,
    ) -> None:
        at_ns = time.monotonic_ns() if frame is None else frame.at_ns
        hold = entry.fault.hold if isinstance(entry.fault, GateFault) else None
        self._on_event(FaultEvent(entry.number, entry.fault.name, stage, at_ns, text, frame, proof, hold))


def _complaint(fault: Fault) -> str | None:
    """Say in words that a fault never fired; None if it waits for nothing."""
    if not isinstance(fault, Waiting):
        return None
    return f"{fault.name} never fired: it awaited {fault.awaited()}; {fault.came_instead()}"
