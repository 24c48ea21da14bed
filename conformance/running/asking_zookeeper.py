"""How does the tester ask through ZooKeeper, as the operators' tools of its time do? By a session of its own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from conformance.interruption import HarnessError
from fault_injection.cluster.readiness import zookeeper

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_S = 15.0


@contextmanager
def asking_zookeeper(address: str, failure: str) -> Iterator[Any]:
    """Give a connected client.

    Args:
        address: ZooKeeper's.
        failure: what it means if ZooKeeper cannot be reached or refuses, in words.

    Raises:
        HarnessError: ZooKeeper cannot be reached or refuses; begins with ``failure``.
    """
    try:
        with zookeeper(address, DEADLINE_S) as client:
            yield client
    except (KazooException, KazooTimeoutError) as failed:
        raise HarnessError(f"{failure}: {failed!r}") from failed
