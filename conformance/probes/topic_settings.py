"""What are a topic's settings to its clients, and whose values are they? Asked by DescribeConfigs (KIP-133, 0.11).

A value that the topic has, or a dynamic default of the cluster, holds for every broker and controller. Any other is
what the broker that answers has: another broker, or a controller, may have another one. Whether replicas may be elected
that are not in sync is decided by the controller: a broker with ZooKeeper, a process of its own with KRaft.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kafka.protocol.admin import DescribeConfigsRequest

from conformance.audit.cluster import UNCLEAN, NotSeen, Source
from conformance.audit.told import settings_told
from conformance.record.attached import SettingsWatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.audit.asking import BrokerAsker
    from conformance.audit.cluster import Settings

_TOPIC = 2  # resource type of DescribeConfigs
SETTINGS = ("cleanup.policy", "min.insync.replicas", "retention.bytes", "retention.ms", UNCLEAN)
"""On which it rests what is promised of records, and whether they may be deleted."""
DECIDED_FOR_ALL = (Source.TOPIC, Source.CLUSTER_DEFAULT)
"""Where a value comes from that is the same for every broker and controller."""


def settings_seen(asker: BrokerAsker, topic: str, brokers: Sequence[int], *, is_kraft: bool | None) -> SettingsWatched:
    """Return the settings of a topic, or why they cannot be seen.

    Args:
        asker: of the cluster.
        topic: its name.
        brokers: all that are known: each is asked where its own value holds.
        is_kraft: as of ``SettingsWatched``.
    """
    now = time.time_ns()
    told = _settings_told(asker, topic)
    if isinstance(told, NotSeen):
        return SettingsWatched(now, why_not=told.why)
    is_for_all = UNCLEAN not in told or told[UNCLEAN].source in DECIDED_FOR_ALL
    return SettingsWatched(
        now,
        {name: one.value for name, one in sorted(told.items())},
        sources={name: one.source.value for name, one in sorted(told.items())},
        is_kraft=is_kraft,
        unclean_by_broker={} if is_for_all else {one: _unclean_of(asker, topic, one) for one in brokers},
    )


def _settings_told(asker: BrokerAsker, topic: str, broker: int | None = None) -> Settings | NotSeen:
    answer = asker.ask(DescribeConfigsRequest(resources=[(_TOPIC, topic, list(SETTINGS))]), broker)
    return answer if isinstance(answer, NotSeen) else settings_told(answer.results[0], (), Source.TOPIC)


def _unclean_of(asker: BrokerAsker, topic: str, broker: int) -> str | None:
    told = _settings_told(asker, topic, broker)
    return None if isinstance(told, NotSeen) or UNCLEAN not in told else told[UNCLEAN].value
