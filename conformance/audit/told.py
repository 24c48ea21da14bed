"""What do brokers' answers say? Each as the data of ``cluster``, or as ``NotSeen`` if it is an error.

kafka-python makes the classes of its messages when it is imported, so that no annotation can name them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from kafka.errors import KafkaError, KafkaTimeoutError
from kafka.protocol.admin import DescribeConfigsRequest, DescribeLogDirsRequest

from conformance.audit.cluster import NotSeen, PartitionSeen, Setting, Source, TopicSeen
from conformance.audit.release_seen import LineSpeaks, is_fork
from oracle.error_codes import error_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from conformance.audit.cluster import Settings, Spoken

_NO_SOURCE = -1  # up to 1.0
_NO_SUCH_TOPIC = 3  # UNKNOWN_TOPIC_OR_PARTITION
_SOURCES = {
    1: Source.TOPIC,
    2: Source.BROKER,
    3: Source.CLUSTER_DEFAULT,
    4: Source.BROKER_FILE,
    5: Source.BUILT_IN,
}


@dataclass(frozen=True, slots=True)
class EligibleTold:
    """Who may lead a partition besides its ISR, as DescribeTopicPartitions tells it (KIP-966)."""

    eligible: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()

    @classmethod
    def of(cls, partition: Any) -> Self:  # noqa: ANN401
        """Return what an answer tells of a partition."""
        return cls(tuple(partition.eligible_leader_replicas or ()), tuple(partition.last_known_elr or ()))


NOBODY = EligibleTold()


def topic_told(
    topic: Any,  # noqa: ANN401
    settings: Settings | NotSeen,
    eligible: Mapping[tuple[str, int], EligibleTold] | NotSeen,
) -> TopicSeen:
    """Return a topic of a Metadata answer, with what DescribeConfigs and DescribeTopicPartitions told of it."""
    known = {} if isinstance(eligible, NotSeen) else eligible
    partitions = sorted(topic.partitions, key=lambda one: one.partition_index)
    seen = tuple(_partition(one, known.get((topic.name, one.partition_index), NOBODY)) for one in partitions)
    return TopicSeen(topic.name, bool(topic.is_internal), seen, settings)


def _partition(partition: Any, told: EligibleTold) -> PartitionSeen:  # noqa: ANN401
    return PartitionSeen(
        number=partition.partition_index,
        leader=partition.leader_id,
        replicas=tuple(partition.replica_nodes),
        isr=tuple(partition.isr_nodes),
        eligible=told.eligible,
        last_known=told.last_known,
    )


def settings_told(result: Any, needed: Collection[str], otherwise: Source) -> Settings | NotSeen:  # noqa: ANN401
    """Return the settings of a resource in a DescribeConfigs answer.

    Args:
        result: of one resource.
        needed: numbers and flags without which nothing is to be concluded.
        otherwise: where a value comes from that is no default; up to 1.0 brokers do not say.
    """
    if result.error_code:
        return refused(DescribeConfigsRequest, result.error_code)
    told = {one.name: Setting(one.value, _source(one, otherwise), _others(one)) for one in result.configs}
    for name in needed:
        value = told[name].value if name in told else None
        if value is None or not (value.lstrip("-").isdigit() or value in {"true", "false"}):
            return NotSeen(f"{name} is told as {value!r}" if value is not None else f"{name} is not told")
    return told


def _others(config: Any) -> tuple[Setting, ...]:  # noqa: ANN401
    synonyms = [(one.value, _SOURCES.get(one.source)) for one in config.synonyms or ()]
    return tuple(Setting(value, source) for value, source in synonyms[1:] if source is not None)


def _source(config: Any, otherwise: Source) -> Source:  # noqa: ANN401
    if config.config_source == _NO_SOURCE:
        return Source.NOT_TOLD if config.is_default else otherwise
    return _SOURCES.get(config.config_source, Source.NOT_TOLD)


def hidden_told(answer: Any, names: Collection[str]) -> dict[str, NotSeen]:  # noqa: ANN401
    """Return of which topics that Metadata does not list a DescribeConfigs answer does not say that there are none.

    Up to 1.1 brokers tell settings of topics that there are not.
    """
    told = {one.resource_name: one.error_code for one in answer.results}
    return {name: _hidden(told.get(name, 0)) for name in names if told.get(name) != _NO_SUCH_TOPIC}


def _hidden(code: int) -> NotSeen:
    return refused(DescribeConfigsRequest, code) if code else NotSeen("Metadata leaves it out, though it may be there")


def directory_errors_told(answer: Any) -> dict[str, str] | NotSeen:  # noqa: ANN401
    """Return the log directories that a DescribeLogDirs answer has an error for, with the error's name.

    Up to 2.8 who may not DESCRIBE the cluster is told of no directory, without an error.
    """
    if not answer.results:
        return not_allowed(f"{request_name(DescribeLogDirsRequest)} tells of no log directory")
    return {one.log_dir: error_name(one.error_code) for one in answer.results if one.error_code}


def untold_directories(speaks: Spoken) -> dict[str, str] | NotSeen:
    """Return what is known of the log directories of a broker that does not take DescribeLogDirs.

    None is given up where its release is known to lack the request: up to 0.11 it ends with the first (KIP-112).
    """
    unknown = NotSeen("it does not take DescribeLogDirs, and is of no release that is known to lack it")
    return unknown if is_fork(LineSpeaks.of(speaks)) else {}


def refused(request: Any, code: int) -> NotSeen:  # noqa: ANN401
    """Return why an error in an answer keeps something from being seen."""
    name = error_name(code)
    if name.endswith("AUTHORIZATION_FAILED"):
        return not_allowed(f"{request_name(request)} was refused with {name}")
    return NotSeen(f"{request_name(request)} was refused with {name}")


def not_allowed(what: str) -> NotSeen:
    """Return that this user may not see something."""
    return NotSeen(f"not allowed to see: {what}")


def request_name(request: Any) -> str:  # noqa: ANN401
    """Return how Kafka calls a request, such as ``DescribeConfigs``."""
    kind = request if isinstance(request, type) else type(request)
    return str(kind.__name__).removesuffix("Request")


def error_words(error: KafkaError) -> str:
    """Return what kept a request from its answer, in words."""
    if isinstance(error, KafkaTimeoutError):
        return "no answer in time"
    return str(error).strip() or type(error).__name__
