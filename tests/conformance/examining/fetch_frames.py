"""A fetch of broker 2 at broker 1, made by hand."""

from __future__ import annotations

from conformance.wire_trace.fetches import FollowerFetch


def fetch(connection: int, fetcher: int, *asked: int, given: int | None = None) -> FollowerFetch:
    """Return a fetch of partitions of the topic "turns", answered with one record of one of them."""
    gave = () if given is None else ((("turns", given), 1),)
    return FollowerFetch(2, 1, connection, fetcher, 0, tuple(("turns", partition) for partition in asked), gave)
