"""What do brokers' answers say? Each as the data of ``cluster``, or as ``NotSeen`` if it is an error.

kafka-python makes the classes of its messages when it is imported, so that no annotation can name them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.protocol.admin import DescribeConfigsRequest

from conformance.audit.cluster import NotSeen, PartitionSeen, Setting, Source, TopicSeen
from oracle.error_codes import error_name

if TYPE_CHECKING:
    from conformance.audit.cluster import Settings

_SOURCES = {
    1: Source.TOPIC,
    2: Source.BROKER,
    3: Source.CLUSTER_DEFAULT,
    4: Source.BROKER_FILE,
    5: Source.BUILT_IN,
}


def topic_told(
    topic: Any,  # noqa: ANN401
    settings: Settings | NotSeen,
    eligible: dict[tuple[str, int], Any] | NotSeen,
) -> TopicSeen:
    """Return a topic of a Metadata answer, with what DescribeConfigs and DescribeTopicPartitions told of it."""
    known = {} if isinstance(eligible, NotSeen) else eligible
    partitions = sorted(topic.partitions, key=lambda one: one.partition_index)
    seen = tuple(_partition(one, known.get((topic.name, one.partition_index))) for one in partitions)
    return TopicSeen(topic.name, bool(topic.is_internal), seen, settings)


def _partition(partition: Any, detailed: Any) -> PartitionSeen:  # noqa: ANN401
    return PartitionSeen(
        number=partition.partition_index,
        leader=partition.leader_id,
        replicas=tuple(partition.replica_nodes),
        isr=tuple(partition.isr_nodes),
        eligible=tuple((detailed and detailed.eligible_leader_replicas) or ()),
        last_known=tuple((detailed and detailed.last_known_elr) or ()),
    )


def settings_told(result: Any) -> Settings | NotSeen:  # noqa: ANN401
    """Return the settings of a resource in a DescribeConfigs answer."""
    if result.error_code:
        return refused(DescribeConfigsRequest, result.error_code)
    return {one.name: Setting(one.value, _source(one), _others(one)) for one in result.configs}


def _others(config: Any) -> tuple[Setting, ...]:  # noqa: ANN401
    synonyms = [(one.value, _SOURCES.get(one.source)) for one in config.synonyms or ()]
    return tuple(Setting(value, source) for value, source in synonyms[1:] if source is not None)


def _source(config: Any) -> Source:  # noqa: ANN401
    """Return where a value comes from; up to 1.0 brokers only say whether it is a default."""
    if config.config_source in _SOURCES:
        return _SOURCES[config.config_source]
    return Source.BUILT_IN if config.is_default else Source.TOPIC


def refused(request: Any, code: int) -> NotSeen:  # noqa: ANN401
    """Return why an error in an answer keeps something from being seen."""
    name = error_name(code)
    if name.endswith("AUTHORIZATION_FAILED"):
        return NotSeen(f"not allowed to see: {request_name(request)} was refused with {name}")
    return NotSeen(f"{request_name(request)} was refused with {name}")


def request_name(request: Any) -> str:  # noqa: ANN401
    """Return how Kafka calls a request, such as ``DescribeConfigs``."""
    kind = request if isinstance(request, type) else type(request)
    return str(kind.__name__).removesuffix("Request")


def error_words(error: KafkaError) -> str:
    """Return what kept a request from its answer, in words."""
    if isinstance(error, KafkaTimeoutError):
        return "no answer in time"
    return str(error).strip() or type(error).__name__
