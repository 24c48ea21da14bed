"""When is a broker up, registered and caught up, and when is it gone?

A broker is *registered* when the controller counts it as alive: in ZooKeeper mode its node under
``/brokers/ids`` is there, in KRaft mode it is unfenced. What a broker believes shows in its own Metadata
answers, which list the brokers that it takes for alive; in KRaft they follow the metadata log, so a broker
that lists another one knows it to be unfenced. Nothing here writes anything or passes through a relay.
"""

import logging
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from fault_injection.waiting import NotYetError, until

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster


_ASK_TIMEOUT_S = 2.0
_METADATA_VERSION = 1
_ZOOKEEPER_TIMEOUT_S = 10.0
DEADLINE_S = 90.0

Views = dict[int, frozenset[int]]
"""For each broker that answers, the brokers that it takes for alive."""

Unreachable = Callable[[], frozenset[int]]
"""Tells which brokers hear nothing from the controller just now, and are therefore not asked."""

_KAZOO_LOG = logging.getLogger("fault_injection.zookeeper")
_KAZOO_LOG.addHandler(logging.NullHandler())  # a server that is not up yet is no news


def brokers_known_to(address: str, timeout_s: float = _ASK_TIMEOUT_S) -> frozenset[int] | None:
    """Return the ids of the brokers that a broker takes for alive, or None when it does not answer."""
    try:
        answer = ask(address, MetadataRequest[_METADATA_VERSION](topics=[]), MetadataResponse, timeout_s)
    except OSError:
        return None
    return frozenset(int(broker.node_id) for broker in answer.brokers)


def is_serving(address: str) -> bool:
    """Return whether a broker answers requests at an address."""
    return brokers_known_to(address) is not None


def is_hung(cluster: "Cluster", broker: int) -> bool:
    """Return whether a broker's process is there and registered, and its port is closed.

    A broker that starts opens its port before it registers; one whose shutdown hangs has closed it and not gone on.
    """
    is_there = cluster.is_alive(broker) and broker in registered_brokers(cluster)
    return is_there and not is_serving(cluster.client_address(broker))


@contextmanager
def zookeeper(address: str, deadline_s: float = DEADLINE_S) -> Iterator[Any]:
    """Return a ZooKeeper client of its own, connected within a deadline."""
    client = KazooClient(hosts=address, timeout=_ZOOKEEPER_TIMEOUT_S, logger=_KAZOO_LOG)
    try:
        client.start(timeout=deadline_s)
        yield client
    finally:
        client.stop()
        client.close()


def registered_brokers(cluster: "Cluster") -> frozenset[int]:
    """Return the ids of the registered brokers.

    ZooKeeper's own list, or in KRaft those that every answering broker takes for alive.
    """
    with _registry(cluster) as registered:
        return registered(_views(cluster))


def await_unregistered(
    cluster: "Cluster", broker: int, deadline_s: float = DEADLINE_S, *, unreachable: Unreachable = frozenset
) -> None:
    """Wait until a broker's registration is gone and every live broker that is not unreachable knows it.

    Raises:
        DeadlineExceededError: it is still registered.
    """
    with _registry(cluster) as registered:

        def is_gone() -> bool:
            views = _views(cluster, unreachable)
            if broker in registered(views) or any(broker in view for view in views.values()):
                raise _not_yet(views)
            return True

        until(is_gone, deadline_s=deadline_s, what=f"broker {broker} to be unregistered")


def await_registered(
    cluster: "Cluster",
    *brokers: int,
    deadline_s: float = DEADLINE_S,
    unreachable: Unreachable = frozenset,
    unlisted: Unreachable = frozenset,
    is_needless: Callable[[], bool] = lambda: False,
) -> None:
    """Wait until brokers are registered and every live broker that is not unreachable lists every live broker.

    A live broker that reaches no other node is *unlisted*: a KRaft controller fences it, so nobody need list it. Once
    it ``is_needless`` to know nothing is waited for any more.

    Raises:
        DeadlineExceededError: somebody is missing.
        NodeDiedError: a broker ended by itself meanwhile.
    """
    with _registry(cluster) as registered:

        def is_complete() -> bool:
            if is_needless():
                return True
            cluster.check_alive(*brokers)
            asked = frozenset(cluster.live_brokers) | frozenset(brokers)
            expected = (asked - unlisted()) | frozenset(brokers)
            views = _views(cluster, unreachable)
            is_known = views.keys() == asked - unreachable() and all(expected <= view for view in views.values())
            if not is_known or not expected <= registered(views):
                raise _not_yet(views)
            return True

        until(is_complete, deadline_s=deadline_s, what=f"brokers {list(brokers)} to be registered")


def _views(cluster: "Cluster", unreachable: Unreachable = frozenset) -> Views:
    hearing = frozenset(cluster.live_brokers) - unreachable()
    asked = {broker: brokers_known_to(cluster.client_address(broker)) for broker in hearing}
    return {broker: known for broker, known in asked.items() if known is not None}


def _not_yet(views: Views) -> NotYetError:
    return NotYetError({viewer: sorted(view) for viewer, view in sorted(views.items())})


@contextmanager
def _registry(cluster: "Cluster") -> Iterator[Callable[[Views], frozenset[int]]]:
    """Return a function that tells who is registered; in KRaft it reads that from the brokers' views."""
    if cluster.zookeeper_address is None:
        yield lambda views: frozenset.intersection(*views.values()) if views else frozenset()
        return
    with zookeeper(cluster.zookeeper_address) as client:
        yield lambda _: _children(client, "/brokers/ids")


def _children(client: Any, path: str) -> frozenset[int]:  # noqa: ANN401 - untyped library
    try:
        return frozenset(map(int, client.get_children(path)))
    except NoNodeError:
        return frozenset()


# How is one broker asked one question, on a connection of its own?


_LENGTH = struct.Struct(">i")


def ask(address: str, request: Any, response_class: Any, timeout_s: float) -> Any:  # noqa: ANN401 - untyped library
    """Send one kafka-python request to a broker and decode the answer.

    Args:
        address: ``host:port`` of a listener.
        request: a request with its version set.
        response_class: the class of the answer.
        timeout_s: seconds for connecting, and again for each part of the answer.

    Raises:
        OSError: the broker does not answer.
    """
    host, port = address.rsplit(":", 1)
    request.with_header(correlation_id=1, client_id="kafka-conformance")
    with socket.create_connection((host, int(port)), timeout=timeout_s) as connection:
        connection.sendall(request.encode(header=True, framed=True))
        length = _LENGTH.unpack(_received(connection, _LENGTH.size))[0]
        body = _received(connection, length)
    return response_class.decode(body, version=request.API_VERSION, header=True)


def _received(connection: socket.socket, length: int) -> bytes:
    parts = b""
    while len(parts) < length:
        part = connection.recv(length - len(parts))
        if not part:
            raise ConnectionResetError(f"closed after {len(parts)} of {length} bytes")
        parts += part
    return parts
