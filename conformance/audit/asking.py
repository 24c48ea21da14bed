"""How is a connected cluster asked, of which any broker may be away? One by name, or those that answered last first.

A broker that does not answer, a request that the release does not know, or refuses, is ``NotSeen`` with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.errors import IncompatibleBrokerVersion, KafkaError

from conformance.audit.cluster import NotSeen
from conformance.audit.told import error_words, refused, request_name

if TYPE_CHECKING:
    from conformance.clients.connecting import Connection


class BrokerAsker:
    """Asks the brokers of one cluster.

    Args:
        manager: connected to it.

    Attributes:
        answered_by: the broker that gave the last answer; a word for one whose id is not known yet.
    """

    def __init__(self, manager: Connection) -> None:
        self._manager = manager
        self._silent: set[int | str] = set()
        self.answered_by: int | str | None = None

    def ask(self, request: Any, broker: int | None = None) -> Any:  # noqa: ANN401 - kafka-python makes its classes at import
        """Send a request, to any broker that answers if none is named, and return the answer, or why there is none."""
        brokers = self._by_trust() if broker is None else [broker]
        told = NotSeen("no broker is known")
        for one in brokers:
            answer = self._asked_of(one, request)
            if not isinstance(answer, _Silent):
                return answer
            told = NotSeen(answer.why)
        return told

    def _by_trust(self) -> list[int | str]:
        """Return every broker, those that answered the last question first."""
        known = [one.node_id for one in self._manager.cluster.brokers() or self._manager.cluster.bootstrap_brokers()]
        return sorted(known, key=lambda one: (one in self._silent, str(one)))

    def _asked_of(self, broker: int | str, request: Any) -> Any:  # noqa: ANN401
        try:
            answer = self._manager.run(self._manager.send, request, broker)
        except IncompatibleBrokerVersion:
            return NotSeen(f"the release has no {request_name(request)} that tells it")
        except KafkaError as error:
            self._silent.add(broker)
            return _Silent(f"broker {broker} did not answer {request_name(request)} ({error_words(error)})")
        self._silent.discard(broker)
        self.answered_by = broker
        if code := getattr(answer, "error_code", 0):
            return refused(request, code)
        return answer


class _Silent(NotSeen):
    """A broker that did not answer: another one may."""
