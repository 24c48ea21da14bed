"""Which steps are about frames between stock brokers? One is held and let go, delayed, or lost with its link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import Step, described, step
from oracle.vocabulary import FROM_CONTROLLER, LOOKUPS, TO_CONTROLLER, BrokerId, Offset, PointName, frame_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.steps.step import SoFar

LINK_POINTS_HELP = "fetch_request, fetch_response, or offsets_for_leader_epoch_request / _response (0.11 to 2.7)"
CONTROLLER_POINTS_HELP = (
    "between a broker and the controller: leader_and_isr, leader_and_isr_response, stop_replica (from 2.1), "
    "update_metadata (ZooKeeper mode), "
    "controller_fetch_request / _response (KRaft mode), alter_partition_request / _response (2.7 and newer)"
)
LINK = ("follower", "leader")
_DELAYS = re.compile("delay [0-9]+")


def name_of_delay(step: int) -> str:
    """Return what the gate calls the frame of a delay that is this step of its schedule, from 0."""
    return f"delay {step}"


@step("hold")
class Hold(Step):
    """Arm a gate that freezes the next matching frame between two stock brokers."""

    name: str = described("name of the hold, for await_hold, release, drop and close")
    point: PointName = described(f"{LINK_POINTS_HELP}; {CONTROLLER_POINTS_HELP}")
    follower: BrokerId | None = described("the broker that fetches", default=None)
    leader: BrokerId | None = described("the broker that it fetches from", default=None)
    fetch_offset: Offset | None = described("only a fetch at this offset (the follower's LEO)", default=None)
    nth: int = described("catch the n-th matching frame; await_hold must follow where it comes", default=1)
    broker: BrokerId | None = described("instead of follower and leader: the controller's counterpart", default=None)

    @property
    def brokers(self) -> tuple[BrokerId | None, ...]:
        """Return the brokers whose end discharges the hold."""
        return (self.follower, self.leader) if self.broker is None else (self.broker,)

    @override
    def check(self, so_far: SoFar) -> None:
        if self.name in so_far.holds:
            so_far.refuse("name", f"a hold named {self.name!r} exists already")
        if _DELAYS.fullmatch(self.name):
            so_far.refuse("name", f"a hold cannot be named {self.name!r}: the frame of a delay is called so")
        so_far.holds[self.name] = self.point
        if self.point in (*FROM_CONTROLLER, *TO_CONTROLLER):
            self._check_channel(so_far)
        else:
            self._check_link(so_far)

    def _check_link(self, so_far: SoFar) -> None:
        for name in LINK:
            if getattr(self, name) is None:
                so_far.refuse(name, f"hold needs {name!r}")
        if self.broker is not None:
            message = f"broker goes with points of the controller; {self.point.value} takes follower and leader"
            so_far.refuse("broker", message)
        _check_link(so_far, self)

    def _check_channel(self, so_far: SoFar) -> None:
        if self.broker is None:
            so_far.refuse("broker", f"hold at {self.point.value} needs 'broker'")
        so_far.require_brokers("broker", self.broker)
        for name, plain in (("follower", None), ("leader", None), ("fetch_offset", None), ("nth", 1)):
            if getattr(self, name) != plain:
                so_far.refuse(name, f"{name} does not go with {self.point.value}")

    @override
    def sentence(self) -> str:
        return f"arm the hold {self.name!r}: freeze {_frame(self, self.broker)}"


@step("delay", short="delay {delay_ms} ms")
class DelayFrame(Step):
    """Pass the next matching frame on later: no state may change but the time it takes."""

    point: PointName = described(LINK_POINTS_HELP)
    follower: BrokerId = described("the broker that fetches")
    leader: BrokerId = described("the broker that it fetches from")
    delay_ms: int = described("how long the frame waits in the gate")
    fetch_offset: Offset | None = described("only a fetch at this offset", default=None)
    nth: int = described("delay the n-th matching frame", default=1)

    @override
    def check(self, so_far: SoFar) -> None:
        _check_link(so_far, self)
        so_far.require_at_least("delay_ms", self.delay_ms, 0)

    @override
    def sentence(self) -> str:
        return f"delay {_frame(self, None)} by {self.delay_ms} ms"


class OfHold(Step):
    """A step about the frame of a hold."""

    __slots__ = ()
    name: str

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_known("name", {self.name}, so_far.holds)


class OfLink(Step):
    """A step about the link by which one broker fetches from another."""

    __slots__ = ()
    follower: BrokerId
    leader: BrokerId

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_link(self.follower, self.leader, ("from", "to"))


@step("await_hold", says="wait until the hold {name!r} has caught its frame", short="await {name}")
class AwaitHold(OfHold):
    """Wait until the gate has caught its frame."""

    name: str = described("name of an armed hold")


LATE_POINTS = (PointName.FETCH_REQUEST,)
"""Where a frame can be held that is delivered late."""


@step("release", leaves="hold_released")
class ReleaseHold(OfHold):
    """Pass a held frame on, unchanged, as it was when it was caught."""

    name: str = described("name of a hold that has caught its frame")
    late: bool = described(
        "deliver it after its sender's connection has ended: the sender was killed, or has taken another leader",
        default=False,
    )

    @override
    def check(self, so_far: SoFar) -> None:
        OfHold.check(self, so_far)
        point = so_far.holds[self.name]
        if self.late and point not in LATE_POINTS:
            so_far.refuse("late", f"only a held fetch_request is delivered late, not {point.value}")

    @override
    def sentence(self) -> str:
        how = "late: the connection that it came on has ended" if self.late else "unchanged"
        return f"release the frame held by {self.name!r}, {how}"


def late_holds(steps: Iterable[Step]) -> frozenset[str]:
    """Return the names of the holds whose frame a step delivers late."""
    return frozenset(step.name for step in steps if isinstance(step, ReleaseHold) and step.late)


@step("drop", says="throw away the frame held by {name!r}", leaves="hold_dropped")
class Drop(OfHold):
    """Throw a held frame away; its connection stays open and silent until a broker gives up on it."""

    name: str = described("name of a hold that has caught its frame")


@step("close", says="throw away the frame held by {name!r} and abort its connection", leaves="hold_closed")
class Close(OfHold):
    """Throw a held frame away and abort its connection; the follower connects again and fetches."""

    name: str = described("name of a hold that has caught its frame")


@step(
    "cut",
    says="cut the link by which broker {follower} fetches from broker {leader}",
    short="cut {follower} from {leader}",
    leaves="link_cut",
    fault="cut",
)
class CutLink(OfLink):
    """Let no fetch of one broker reach another one: connections are reset, and again whenever they are tried."""

    follower: BrokerId = described("the broker whose fetches are lost", written="from")
    leader: BrokerId = described("the broker that they do not reach", written="to")


@step(
    "heal",
    says="heal the link by which broker {follower} fetches from broker {leader}",
    short="heal {follower} to {leader}",
    leaves="link_healed",
    takes_back=("cut",),
)
class Heal(OfLink):
    """Take a cut back."""

    follower: BrokerId = described("as in the cut", written="from")
    leader: BrokerId = described("as in the cut", written="to")


def _check_link(so_far: SoFar, held: Hold | DelayFrame) -> None:
    so_far.require_link(held.follower, held.leader, LINK)
    if held.point in LOOKUPS and held.fetch_offset is not None:
        message = f"fetch_offset does not go with {held.point.value}: a lookup asks about an epoch, and has no offset"
        so_far.refuse("fetch_offset", message)
    so_far.require_at_least("nth", held.nth, 1)
    so_far.require_at_least("fetch_offset", held.fetch_offset or 0, 0)


def _frame(held: Hold | DelayFrame, broker: BrokerId | None) -> str:
    which = "next" if held.nth == 1 else f"{held.nth}th next"
    words = frame_words(held.point.value, held.fetch_offset)
    return f"the {which} {words} between {between_words(held.follower, held.leader, broker)}"


def between_words(follower: int | None, leader: int | None, broker: int | None) -> str:
    """Return between whom a frame is: a link's ends, or the controller and a broker, if that is given."""
    return f"follower {follower} and leader {leader}" if broker is None else f"broker {broker} and the controller"
