"""Is every fault stamped and healed, and is one that did not fire found out?"""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.faults.account import FaultAccount, FaultAccountError, NotHealedError
from fault_injection.faults.fault import (
    AVAILABLE,
    TERMINATED,
    Availability,
    EndedProcess,
    Fault,
    FaultError,
    FaultEvent,
    FaultStage,
    FiredFrame,
    Proof,
    termination_raises,
)

REPOSITORY = Path(__file__).parents[3]
FRAME = FiredFrame(7, "Fetch", 31, "request", 2, 1_000)
DEEDS: list[str] = []
KILLED = Proof("broker 1 ended by SIGKILL", (EndedProcess(1, 137, 9, is_paused=False),))


@pytest.fixture(autouse=True)
def no_deeds() -> None:
    DEEDS.clear()


@dataclass
class Deed:
    """A fault on nothing: it notes what is asked of it."""

    name: str
    availability: Availability = AVAILABLE
    heal_error: BaseException | None = None

    def available(self, _cluster: Cluster) -> Availability:
        return self.availability

    def inject(self, _cluster: Cluster) -> str:
        DEEDS.append(f"{self.name} injected")
        return f"{self.name} injected"

    def heal(self, _cluster: Cluster) -> str | None:
        DEEDS.append(f"{self.name} healed")
        if self.heal_error is not None:
            raise self.heal_error
        return None


@dataclass
class Shown(Deed):
    proved: Proof | None = None

    def proof(self, _cluster: Cluster) -> Proof | None:
        return self.proved


@dataclass
class Wait(Deed):
    frames: list[FiredFrame] = field(default_factory=list)

    def fired(self) -> FiredFrame | None:
        return self.frames[0] if self.frames else None

    def awaited(self) -> str:
        return "a Fetch of broker 2 at offset 2"

    def came_instead(self) -> str:
        return "Fetch at offset 1 came 3 times"


def account(events: list[FaultEvent] | None = None) -> FaultAccount:
    seen: list[FaultEvent] = [] if events is None else events
    return FaultAccount(cast("Cluster", None), seen.append, checks_health=False)


def keep(*faults: Fault, events: list[FaultEvent] | None = None, ending: BaseException | None = None) -> None:
    """Inject faults in a context that ends at once, or by an exception."""
    with account(events) as kept:
        for fault in faults:
            kept.inject(fault)
        if ending is not None:
            raise ending


def stages(events: list[FaultEvent]) -> list[tuple[str, str]]:
    return [(event.fault, event.stage.value) for event in events]


def test_a_fault_that_fires_at_once_is_armed_fired_and_healed() -> None:
    events: list[FaultEvent] = []
    with account(events) as faults:
        faults.inject(Shown("kill", proved=KILLED))
    assert stages(events) == [("kill", "armed"), ("kill", "fired"), ("kill", "healed")]
    assert events[1].text == "kill injected; broker 1 ended by SIGKILL"
    assert [event.proof for event in events] == [None, KILLED, None]
    assert [event.at_ns for event in events] == sorted(event.at_ns for event in events)


def test_faults_are_healed_in_reverse_order_and_once() -> None:
    with account() as faults:
        faults.inject(Deed("a"))
        second = faults.inject(Deed("b"))
        faults.inject(Deed("c"))
        faults.heal(second)
        faults.heal(second)
        assert [entry.fault.name for entry in faults.standing] == ["a", "c"]
    assert DEEDS == ["a injected", "b injected", "c injected", "b healed", "c healed", "a healed"]


def test_a_fault_that_waits_fires_on_the_frame_that_proves_it() -> None:
    events: list[FaultEvent] = []
    with account(events) as faults:
        waiting = Wait("hold")
        faults.inject(waiting)
        faults.look()
        assert stages(events) == [("hold", "armed")]
        waiting.frames.append(FRAME)
        faults.look()
        faults.look()
    assert stages(events) == [("hold", "armed"), ("hold", "fired"), ("hold", "healed")]
    assert events[1].frame == FRAME
    assert events[1].at_ns == FRAME.at_ns
    assert events[1].text == "hold fired on Fetch request 31 of connection 7 at offset 2"


def test_a_fault_that_never_fires_is_an_error_that_says_what_came_instead() -> None:
    awaited = "hold never fired: it awaited a Fetch of broker 2 at offset 2; Fetch at offset 1 came 3 times"
    with pytest.raises(FaultAccountError) as failed, account() as faults:
        faults.inject(Wait("hold"))
    assert failed.value.complaints == (awaited,)
    assert DEEDS == ["hold injected", "hold healed"]


def test_a_fault_that_is_given_up_is_healed_and_told_of_once() -> None:
    awaited = "hold never fired: it awaited a Fetch of broker 2 at offset 2; Fetch at offset 1 came 3 times"
    with account() as faults:
        assert faults.give_up(faults.inject(Wait("hold"))) == awaited
        assert faults.give_up(faults.inject(Wait("caught", frames=[FRAME]))) is None
        assert faults.give_up(faults.inject(Deed("kill"))) is None
        assert faults.standing == ()


def test_a_fault_that_nothing_shows_is_an_error() -> None:
    with pytest.raises(FaultError, match="kill injected, but nothing shows it: kill did not fire"), account() as faults:
        faults.inject(Shown("kill"))
    assert DEEDS == ["kill injected", "kill healed"]


def test_a_fault_that_is_not_available_is_refused_with_the_reason_and_not_stamped() -> None:
    events: list[FaultEvent] = []
    with account(events) as faults, pytest.raises(FaultError, match="mount cannot be injected: nobody may mount here"):
        faults.inject(Deed("mount", Availability("nobody may mount here")))
    assert events == []
    assert DEEDS == []


def test_a_heal_that_fails_does_not_keep_the_next_one_from_being_tried() -> None:
    events: list[FaultEvent] = []
    with pytest.raises(NotHealedError, match="b could not be healed: the disk is gone") as failed:
        keep(Deed("a"), Deed("b", heal_error=OSError("the disk is gone")), Deed("c"), events=events)
    assert len(failed.value.complaints) == 1
    assert DEEDS[3:] == ["c healed", "b healed", "a healed"]
    assert FaultStage.HEAL_FAILED in [event.stage for event in events]


def test_a_failed_heal_is_a_note_of_the_error_that_ended_the_context() -> None:
    with pytest.raises(ZeroDivisionError) as failed:
        keep(Deed("a", heal_error=OSError("the disk is gone")), Wait("hold"), ending=ZeroDivisionError())
    assert failed.value.__notes__ == ["a could not be healed: the disk is gone"]
    assert DEEDS[2:] == ["hold healed", "a healed"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_while_healing_goes_on_when_all_are_healed(interruption: type[BaseException]) -> None:
    with pytest.raises(interruption):
        keep(Deed("a"), Deed("b", heal_error=interruption()))
    assert DEEDS[2:] == ["b healed", "a healed"]


@dataclass
class Blind(Wait):
    """A fault that cannot be looked at."""

    def fired(self) -> FiredFrame | None:
        raise OSError("nothing can be seen")


def test_a_look_that_fails_keeps_no_fault_standing() -> None:
    with pytest.raises(OSError, match="nothing can be seen"):
        keep(Deed("a"), Blind("b"))
    assert DEEDS == ["a injected", "b injected", "b healed", "a healed"]


def test_health_that_cannot_be_told_hides_no_other_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    def untold(_cluster: Cluster, when: str, _deadline_s: float, _excused: frozenset[int] = frozenset()) -> None:
        if when.startswith("after"):
            raise OSError("no ZooKeeper answers")

    monkeypatch.setattr("fault_injection.faults.account.require_untouched", lambda _: None)
    monkeypatch.setattr("fault_injection.faults.account.require_healthy", untold)
    with pytest.raises(FaultAccountError) as failed, FaultAccount(cast("Cluster", None)) as faults:
        faults.inject(Wait("hold"))
    assert failed.value.complaints[0].startswith("hold never fired")
    assert "cannot be told: OSError('no ZooKeeper answers')" in failed.value.complaints[1]


@pytest.mark.parametrize("is_used_again", [True, False])
def test_the_health_of_a_cluster_that_nobody_uses_again_is_not_awaited(
    monkeypatch: pytest.MonkeyPatch, *, is_used_again: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("fault_injection.faults.account.require_untouched", lambda _: None)
    monkeypatch.setattr("fault_injection.faults.account.require_healthy", lambda *told: asked.append(told[1]))
    with FaultAccount(cast("Cluster", None)) as faults:
        faults.inject(Deed("a"))
        if not is_used_again:
            faults.forgo_recovery()
    assert DEEDS == ["a injected", "a healed"]
    assert ("after all faults were healed" in asked) is is_used_again


@dataclass
class Late(Wait):
    """A fault whose frame comes in the moment before it is taken back."""

    def heal(self, cluster: Cluster) -> str | None:
        self.frames.append(FRAME)
        return super().heal(cluster)


def test_a_frame_that_comes_between_the_last_look_and_the_heal_counts() -> None:
    events: list[FaultEvent] = []
    keep(Late("hold"), events=events)
    assert stages(events) == [("hold", "armed"), ("hold", "fired"), ("hold", "healed")]


TESTER = f"""
import sys, threading
sys.path.insert(0, {str(REPOSITORY)!r})
from tests.fault_injection.faults.test_account import Deed, account
class Told(Deed):
    def heal(self, _cluster):
        print(self.name, "healed", flush=True)
with account() as faults:
    faults.inject(Told("a"))
    faults.inject(Told("b"))
    print("up", flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, TERMINATED), (signal.SIGINT, -signal.SIGINT)])
def test_all_is_healed_when_the_tester_is_told_to_end(number: int, code: int) -> None:
    with subprocess.Popen([sys.executable, "-c", TESTER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tester:
        assert tester.stdout is not None
        assert tester.stdout.readline() == b"up\n"
        os.kill(tester.pid, number)
        assert tester.stdout.read() == b"b healed\na healed\n"
        assert tester.wait(20) == code


def test_whoever_handles_sigterm_already_keeps_doing_so() -> None:
    def own(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with termination_raises():
            assert signal.getsignal(signal.SIGTERM) is own
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with termination_raises():
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_an_account_can_be_kept_in_another_thread() -> None:
    def work() -> None:
        with account() as faults:
            faults.inject(Deed("a"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert DEEDS == ["a injected", "a healed"]
