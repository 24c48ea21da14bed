"""What are a topic's settings to its clients, and whose values are they? Asked by DescribeConfigs (KIP-133, 0.11).

A value that the topic has, or a dynamic default of the cluster, holds for every broker and controller. Any other is
what the broker that answers has: another broker, or a controller, may have another one. Whether replicas may be elected
that are not in sync is decided by the controller: a broker with ZooKeeper, a process of its own with KRaft, and also
while brokers still have ZooKeeper but are migrated (KIP-866, 3.4 to 3.9): their own setting says whether they may be.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from kafka.protocol.admin import DescribeConfigsRequest

from conformance.audit.cluster import UNCLEAN, NotSeen, Source
from conformance.audit.told import settings_told
from conformance.record.attached import SettingsWatched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.audit.asking import BrokerAsker
    from conformance.audit.cluster import Settings

_TOPIC, _BROKER = 2, 4  # resource types of DescribeConfigs
_MIGRATION = "zookeeper.metadata.migration.enable"
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
    seen = SettingsWatched(
        now,
        {name: one.value for name, one in sorted(told.items())},
        sources={name: one.source.value for name, one in sorted(told.items())},
        is_kraft=is_kraft,
    )
    return seen if is_for_all else _with_brokers_own(seen, asker, topic, brokers)


def _with_brokers_own(seen: SettingsWatched, asker: BrokerAsker, topic: str, brokers: Sequence[int]) -> SettingsWatched:
    """Add what each broker has; whether any decides is not known where one may be migrated, or does not tell it."""
    told = {one: _unclean_of(asker, topic, one) for one in brokers}
    may_be_migrated = any(may_be for _, may_be in told.values())
    is_kraft = None if seen.is_kraft is False and may_be_migrated else seen.is_kraft
    return replace(seen, is_kraft=is_kraft, unclean_by_broker={one: value for one, (value, _) in told.items()})


def _settings_told(asker: BrokerAsker, topic: str) -> Settings | NotSeen:
    answer = asker.ask(DescribeConfigsRequest(resources=[(_TOPIC, topic, list(SETTINGS))]))
    return answer if isinstance(answer, NotSeen) else settings_told(answer.results[0], (), Source.TOPIC)


def _unclean_of(asker: BrokerAsker, topic: str, broker: int) -> tuple[str | None, bool]:
    """Return what a broker has, and whether a controller may decide instead; of one that is away, neither is told."""
    asked = [(_TOPIC, topic, [UNCLEAN]), (_BROKER, str(broker), [_MIGRATION])]
    answer = asker.ask(DescribeConfigsRequest(resources=asked), broker)
    if isinstance(answer, NotSeen):
        return None, False
    told = {one.resource_type: settings_told(one, (), Source.TOPIC) for one in answer.results}  # in any order up to 2.5
    of_topic, of_broker = told.get(_TOPIC), told.get(_BROKER)
    value = of_topic[UNCLEAN].value if isinstance(of_topic, Mapping) and UNCLEAN in of_topic else None
    if not isinstance(of_broker, Mapping):
        return value, True
    return value, _MIGRATION in of_broker and of_broker[_MIGRATION].value != "false"
