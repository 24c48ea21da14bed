"""Which partitions does an incremental fetch leave out, and what holds for them?

With fetch sessions (KIP-227, Fetch v7+) a request lists only partitions whose fetch changed and a
response only those with news. One ``FetchSession`` follows one connection and completes both, so that
whoever looks at a frame sees every partition of the session; what was added is marked as not listed.

Choices: a session is followed per connection although a broker knows it by id: a follower opens a new
one after every disconnect. A response with a top-level error is not completed: it says nothing.
"""

from dataclasses import replace
from uuid import UUID

from fault_injection.wire.views import FetchedPartition, FetchPartition, FetchRequestView, FetchResponseView

FIRST_EPOCH = 0

PartitionKey = tuple[str | UUID | None, int]


class FetchSession:
    """What is known of the fetch session on one connection."""

    def __init__(self) -> None:
        self._asked: dict[PartitionKey, FetchPartition] = {}
        self._given: dict[PartitionKey, FetchedPartition] = {}

    def complete_request(self, request: FetchRequestView) -> FetchRequestView:
        """Return the request with all partitions of its session; to be called in the order of arrival."""
        if request.session_epoch <= FIRST_EPOCH:
            self._asked = {_key(asked): asked for asked in request.partitions}
            self._given = {}
            return request
        for forgotten in request.forgotten:
            self._asked.pop(forgotten, None)
            self._given.pop(forgotten, None)
        listed = {_key(asked): asked for asked in request.partitions}
        self._asked.update(listed)
        complete = (asked if key in listed else replace(asked, is_listed=False) for key, asked in self._asked.items())
        return replace(request, partitions=tuple(complete))

    def complete_response(self, request: FetchRequestView, response: FetchResponseView) -> FetchResponseView:
        """Return the response with all partitions of the completed request it answers.

        A partition left out has no error, no records and the high watermark it had before.
        """
        if response.error:
            return response
        for given in response.partitions:
            self._given[_key(given)] = given
        if request.session_epoch <= FIRST_EPOCH:
            return response
        listed = {_key(given) for given in response.partitions}
        omitted = (_key(asked) for asked in request.partitions if _key(asked) not in listed)
        added = tuple(_without_news(self._given[key]) for key in omitted if key in self._given)
        return replace(response, partitions=response.partitions + added)


def _key(entry: FetchPartition | FetchedPartition) -> PartitionKey:
    return entry.topic_id or entry.topic, entry.partition


def _without_news(given: FetchedPartition) -> FetchedPartition:
    return replace(given, error=0, record_bytes=0, epochs=(), diverging_epoch=None, metadata=(), is_listed=False)
