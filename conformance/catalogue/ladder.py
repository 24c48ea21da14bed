"""Which releases is the whole catalogue run on? The ladder: one line for each release whose rules differ.

A line is a release in a metadata mode. Beside the newest patch of a release line there are single releases that
are on the ladder for one rule of their own: 1.1.0 answers a fetch with the high watermark that this fetch raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.line import Line, line_named
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from conformance.run_options import OwnKafka


def lines(text: str, own: OwnKafka | None = None) -> tuple[Line, ...]:
    """Return the lines of a list such as ``0.10.2.2,3.9.2/zookeeper,3.9.2/kraft``, each once, in its order.

    Raises:
        UsageError: there is none, or one that is not supported, or that the user's own Kafka is not of.
    """
    found = tuple(dict.fromkeys(line_named(each.strip(), own=own) for each in text.split(",") if each.strip()))
    if not found:
        raise UsageError(f"{text!r} names no release; give some, such as 2.8.2,3.9.2/zookeeper.")
    return found


_LADDER = (
    "0.10.2.2/zookeeper",
    "0.11.0.3/zookeeper",
    "1.0.2/zookeeper",
    "1.1.0/zookeeper",
    "1.1.1/zookeeper",
    "2.0.1/zookeeper",
    "2.1.1/zookeeper",
    "2.3.1/zookeeper",
    "2.4.1/zookeeper",
    "2.6.3/zookeeper",
    "2.7.2/zookeeper",
    "2.8.2/zookeeper",
    "3.2.3/zookeeper",
    "3.4.1/zookeeper",
    "3.4.1/kraft",
    "3.6.2/zookeeper",
    "3.6.2/kraft",
    "3.7.2/kraft",
    "3.9.2/zookeeper",
    "3.9.2/kraft",
    "4.0.1/kraft",
    "4.1.2/kraft",
    "4.2.2/kraft",
    "4.3.1/kraft",
    "4.4.0/kraft",
)
LADDER: tuple[Line, ...] = tuple(line_named(text) for text in _LADDER)
"""The ladder, oldest release first."""
