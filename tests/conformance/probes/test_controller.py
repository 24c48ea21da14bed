"""Is the committed state read as controllers write it, and a malformed one refused?"""

from typing import Any

import pytest
from kazoo.exceptions import ConnectionLoss, NoNodeError

from conformance.probes.connection import ProbeError
from conformance.probes.controller import (
    CommittedPartition,
    ZooKeeperSession,
    newest,
    zookeeper_replicas,
    zookeeper_view,
)

PATH = "/brokers/topics/t/partitions/0/state"


class Nodes:
    """ZooKeeper's nodes as a dictionary: what a broken one holds cannot be had from a real controller."""

    def __init__(self, nodes: dict[str, bytes | Exception]) -> None:
        self._nodes = nodes

    def get(self, path: str) -> tuple[bytes, Any]:
        content = self._nodes.get(path, NoNodeError())
        if isinstance(content, Exception):
            raise content
        return content, None


def view(monkeypatch: pytest.MonkeyPatch, content: bytes | Exception | None) -> CommittedPartition | None:
    session = ZooKeeperSession("127.0.0.1:2181")
    nodes: dict[str, bytes | Exception] = {} if content is None else {PATH: content}
    monkeypatch.setattr(session, "client", lambda: Nodes(nodes))
    return zookeeper_view(session, "t", 0)


@pytest.mark.parametrize(
    ("content", "state"),
    [
        (
            b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":3,"isr":[2,1]}',
            CommittedPartition(1, 3, (1, 2)),
        ),
        (
            b'{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":4,"isr":[1]}',
            CommittedPartition(None, 4, (1,)),
        ),
        (None, None),
    ],
)
def test_the_state_in_zookeeper(
    monkeypatch: pytest.MonkeyPatch, content: bytes | None, state: CommittedPartition | None
) -> None:
    assert view(monkeypatch, content) == state


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"leader":1,"leader_epoch":0,"isr":null}', b"\xff"])
def test_a_malformed_state_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    with pytest.raises(ProbeError, match=f"{PATH} holds"):
        view(monkeypatch, content)


def test_a_lost_connection_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProbeError, match="no answer: ConnectionLoss"):
        view(monkeypatch, ConnectionLoss())


def replicas(monkeypatch: pytest.MonkeyPatch, content: bytes | Exception) -> tuple[int, ...]:
    session = ZooKeeperSession("127.0.0.1:2181")
    monkeypatch.setattr(session, "client", lambda: Nodes({"/brokers/topics/t": content}))
    return zookeeper_replicas(session, "t", 0)


def test_the_assignment_in_zookeeper_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replicas(monkeypatch, b'{"version":1,"partitions":{"0":[3,1,2]}}') == (3, 1, 2)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"partitions":{"1":[1]}}', b'{"partitions":{"0":null}}'])
def test_a_malformed_assignment_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    with pytest.raises(ProbeError, match=r"/brokers/topics/t (holds|has no partition 0)"):
        replicas(monkeypatch, content)


def test_an_assignment_that_is_not_answered_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProbeError, match="no answer: ConnectionLoss"):
        replicas(monkeypatch, ConnectionLoss())


def test_zookeeper_that_is_not_there_is_told() -> None:
    with ZooKeeperSession("127.0.0.1:1", timeout_s=0.3) as session, pytest.raises(ProbeError, match="reached"):
        session.client()


def test_the_newest_view_has_the_highest_leader_epoch() -> None:
    old, new = CommittedPartition(1, 3, (1, 2)), CommittedPartition(2, 4, (2,))
    assert newest([old, None, new]) == newest([new, old]) == new
    assert newest([None]) is None
