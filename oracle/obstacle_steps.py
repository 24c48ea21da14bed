"""Which steps stand between brokers that live? Each stays in the way until a step of its own takes it back."""

# ruff: noqa: RUF009 - described() declares a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass

from oracle.step_fields import described
from oracle.vocabulary import BrokerId  # noqa: TC001 - schedule files are decoded by these types


@dataclass(frozen=True, slots=True)
class Cut:
    """Let no fetch of one broker reach another one: connections are reset, and again whenever they are tried."""

    follower: BrokerId = described("the broker whose fetches are lost", written="from")
    leader: BrokerId = described("the broker that they do not reach", written="to")


@dataclass(frozen=True, slots=True)
class Heal:
    """Take a cut back."""

    follower: BrokerId = described("as in the cut", written="from")
    leader: BrokerId = described("as in the cut", written="to")


@dataclass(frozen=True, slots=True)
class Isolate:
    """Cut every link of a broker to the other brokers and to the controller, both ways; clients still reach it.

    It hears no decision. In KRaft mode under timing: session the controller fences it; ZooKeeper keeps it registered.
    """

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Rejoin:
    """Let an isolated broker's links work again; ends registered, and when it has heard what was decided."""

    broker: BrokerId = described("an isolated broker")
