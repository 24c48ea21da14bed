"""Which broker do the puppets of a room surround? One for all examinations of a command, a child process always."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.run import PuppetRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.examining.room import Room

KEPT_AS = "puppets"


def puppet_run(room: Room) -> PuppetRun:
    """Return the room's broker with puppets, started when it is first asked for and ended with the laboratory.

    Raises:
        ClusterError: it does not come up.
        PuppetError: the brokers run from an image.
    """
    if not room.jars.files:
        raise PuppetError("puppets need a broker that is a child process, and the brokers' image brings their jars")

    def start(directory: Path) -> PuppetRun:
        room.progress("starting one broker among puppets")
        return PuppetRun.start(room.release.version, directory, jars=room.jars)

    if room.laboratory.kept(KEPT_AS, start).failures:
        discard(room)  # a puppet failed when its examination was over: that is nothing to this one
    return room.laboratory.kept(KEPT_AS, start)


@contextmanager
def puppets_of(room: Room, *, spoils_broker: bool = False) -> Iterator[PuppetRun]:
    """Have the room's broker with puppets for one examination; after one that failed nobody gets it any more.

    Args:
        room: where the examination is conducted.
        spoils_broker: the broker is of no use to anybody after it.

    Raises:
        PuppetError: one of the puppets could not answer the broker.
    """
    run = puppet_run(room)
    try:
        yield run
        _check_puppets(run)
    except Exception:
        discard(room)  # nobody knows what it is like now
        raise
    if spoils_broker:
        discard(room)


def _check_puppets(run: PuppetRun) -> None:
    """Hold an examination's puppets to account as long as it is known to be theirs.

    Raises:
        PuppetError: one of them could not answer the broker.
    """
    if run.failures:
        raise PuppetError(f"a puppet failed: {run.failures[-1]}")


def discard(room: Room) -> None:
    """End the room's broker with puppets; the next examination gets another one."""
    room.laboratory.discard(KEPT_AS)
