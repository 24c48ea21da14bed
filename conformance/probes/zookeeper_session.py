"""How does the tester read ZooKeeper without a session per question and without noise?"""

import logging
from types import TracebackType
from typing import Any, Self

from kazoo.client import KazooClient
from kazoo.handlers.threading import KazooTimeoutError

from conformance.probes.errors import ProbeError

TIMEOUT_S_DEFAULT = 10.0
_LOG = logging.getLogger("conformance.probes.zookeeper")
_LOG.addHandler(logging.NullHandler())  # a lost connection shows in the probe that needed it
_LOG.propagate = False


class ZooKeeperSession:
    """One read-only-by-habit ZooKeeper client per cluster, connected when first used."""

    def __init__(self, address: str, timeout_s: float = TIMEOUT_S_DEFAULT) -> None:
        self.address = address
        self._timeout_s = timeout_s
        self._client: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def client(self) -> Any:  # noqa: ANN401 - kazoo is untyped
        """Give the connected client.

        Raises:
            ProbeError: ZooKeeper cannot be reached in time.
        """
        if self._client is None:
            client = KazooClient(hosts=self.address, timeout=self._timeout_s, logger=_LOG)
            try:
                client.start(timeout=self._timeout_s)
            except KazooTimeoutError as failed:
                client.stop()
                client.close()
                raise ProbeError(self.address, "ZooKeeper cannot be reached") from failed
            self._client = client
        return self._client

    def close(self) -> None:
        """End the session and its threads."""
        if self._client is not None:
            self._client.stop()
            self._client.close()
            self._client = None
