"""How is a cluster read that somebody else runs? By requests that change nothing, and by no other.

Metadata, ApiVersions, DescribeConfigs, DescribeLogDirs, DescribeCluster, DescribeTopicPartitions, DescribeQuorum and
ListTransactions, each where the release has it. A broker that does not answer, a request that it does not know, or may
not answer to this user, is ``NotSeen`` with the reason; only if no broker answers at all there is no audit.
"""

from __future__ import annotations

from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    DescribeLogDirsRequest,
    DescribeQuorumRequest,
    DescribeTopicPartitionsRequest,
    ListTransactionsRequest,
)
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from conformance.audit.asking import BrokerAsker
from conformance.audit.cluster import MIN_ISR, UNCLEAN, BrokerSeen, ClusterSeen, NotSeen, QuorumSeen, Source, Spoken
from conformance.audit.own_topics import possible
from conformance.audit.told import (
    EligibleTold,
    directory_errors_told,
    hidden_told,
    refused,
    settings_told,
    topic_told,
    untold_directories,
)
from conformance.clients import CLIENT
from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import UnreadableClusterError, connected
from fault_injection.releases import UsageError
from oracle.vocabulary import TRANSACTION_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.audit.cluster import Settings
    from conformance.clients.connecting import Connection

TOPIC_SETTINGS = (MIN_ISR, UNCLEAN)
BROKER_SETTINGS = (
    "auto.create.topics.enable",
    "default.replication.factor",
    "log.flush.interval.messages",
    MIN_ISR,
    "offsets.topic.replication.factor",
    "replica.lag.time.max.ms",
)
"""Every release that tells settings has these, and checks read them."""
MORE_BROKER_SETTINGS = (
    "log.flush.interval.ms",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.replication.factor",
)
"""Without a value, or not on every release."""
_TOPIC, _BROKER = 2, 4  # resource types of DescribeConfigs
_LOG_DIRS = DescribeLogDirsRequest.API_KEY
TOPICS_AT_ONCE = 200
"""So many topics' settings are asked for in one request."""
PARTITIONS_AT_ONCE = 2000
"""As many as a broker answers for in one DescribeTopicPartitions (``max.request.partition.size.limit``)."""
PLAIN = ClientSettings()
PATIENCE_S = 5.0
"""So long one broker may take for one answer."""


@contextmanager
def cluster_reader(
    bootstrap: Sequence[str], client: ClientSettings = PLAIN, patience_s: float = PATIENCE_S
) -> Iterator[ClusterReader]:
    """Connect to a cluster to read it, and disconnect at the end; as ``connected``."""
    with connected(bootstrap, client, patience_s) as manager:
        yield ClusterReader(manager)


class ClusterReader:
    """Reads one cluster.

    Args:
        manager: connected to it.
    """

    def __init__(self, manager: Connection) -> None:
        self._asker = BrokerAsker(manager)

    def read(self, topics: Sequence[str] = ()) -> ClusterSeen:
        """Read all that an audit looks at.

        Args:
            topics: globs; only these topics, and Kafka's internal ones. Every topic if there is none.

        Raises:
            UnreadableClusterError: the cluster does not answer any more.
        """
        metadata = self._metadata()
        brokers = tuple(self._broker(one) for one in sorted(metadata.brokers, key=lambda one: one.node_id))
        found = [one for one in metadata.topics if _is_asked_for(one, topics)]
        if topics and not any(_is_named(one, topics) for one in found):
            raise UsageError(f"--topic {' '.join(topics)}: there is no such topic that this user may see.")
        names = [one.name for one in found if not one.error_code]
        eligible = self._eligible(names)
        settings = self._settings_of_topics(names)
        settings |= {one.name: refused(MetadataRequest, one.error_code) for one in found if one.error_code}
        listed = {one.name for one in metadata.topics}
        hidden = self._hidden([one for one in possible(brokers) if one not in listed])
        return ClusterSeen(
            id=metadata.cluster_id,
            brokers=brokers,
            topics=tuple(
                topic_told(one, settings[one.name], eligible) for one in sorted(found, key=lambda one: one.name)
            ),
            fenced=self._fenced(),
            quorum=self._quorum(),
            transactional_ids=self._transactional_ids(brokers, may_be=TRANSACTION_STATE in {*listed, *hidden}),
            eligible=eligible if isinstance(eligible, NotSeen) else None,
            hidden=hidden,
        )

    def _metadata(self) -> Any:  # noqa: ANN401 - kafka-python makes its classes when it is imported
        answer = self._asker.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False))
        if isinstance(answer, NotSeen):
            raise UnreadableClusterError(f"the cluster's metadata cannot be read: {answer.why}")
        return answer

    def _broker(self, node: Any) -> BrokerSeen:  # noqa: ANN401
        speaks = self._spoken(node.node_id)
        settings = speaks if isinstance(speaks, NotSeen) else self._settings_of(node.node_id)
        errors = speaks if isinstance(speaks, NotSeen) else self._directory_errors(node.node_id, speaks)
        return BrokerSeen(node.node_id, node.rack, speaks, settings, errors)

    def _spoken(self, broker: int) -> Spoken | NotSeen:
        asked = ApiVersionsRequest(client_software_name=CLIENT, client_software_version="1")
        answer = self._asker.ask(asked, broker)
        if isinstance(answer, NotSeen):
            return answer
        return Spoken(
            {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys},
            {one.name: one.max_version for one in answer.supported_features or ()},
            {one.name: one.max_version_level for one in answer.finalized_features or ()},
        )

    def _directory_errors(self, broker: int, speaks: Spoken) -> dict[str, str] | NotSeen:
        if _LOG_DIRS not in speaks.requests:
            return untold_directories(speaks)
        answer = self._asker.ask(DescribeLogDirsRequest(topics=[]), broker)
        return answer if isinstance(answer, NotSeen) else directory_errors_told(answer)

    def _settings_of(self, broker: int) -> Settings | NotSeen:
        return self._described([(_BROKER, str(broker), [*BROKER_SETTINGS, *MORE_BROKER_SETTINGS])], broker)[str(broker)]

    def _settings_of_topics(self, names: Sequence[str]) -> dict[str, Settings | NotSeen]:
        found: dict[str, Settings | NotSeen] = {}
        for at in range(0, len(names), TOPICS_AT_ONCE):
            asked = [(_TOPIC, name, list(TOPIC_SETTINGS)) for name in names[at : at + TOPICS_AT_ONCE]]
            found.update(self._described(asked))
        return found

    def _hidden(self, names: Sequence[str]) -> dict[str, NotSeen]:
        """Return which topics that Metadata does not list may be there all the same.

        Metadata is not asked for them by name: up to 2.7 brokers then create their own topics, although they are told
        not to. DescribeConfigs creates none; that there is no such topic it tells only who may DESCRIBE_CONFIGS it.
        """
        if not names:
            return {}
        asked = [(_TOPIC, name, list(TOPIC_SETTINGS)) for name in names]
        answer = self._asker.ask(DescribeConfigsRequest(resources=asked, include_synonyms=False))
        return dict.fromkeys(names, answer) if isinstance(answer, NotSeen) else hidden_told(answer, names)

    def _described(
        self, asked: list[tuple[int, str, list[str]]], broker: int | None = None
    ) -> dict[str, Settings | NotSeen]:
        answer = self._asker.ask(DescribeConfigsRequest(resources=asked, include_synonyms=broker is not None), broker)
        if isinstance(answer, NotSeen):
            return {name: answer for _, name, _ in asked}
        needed, source = (TOPIC_SETTINGS, Source.TOPIC) if broker is None else (BROKER_SETTINGS, Source.BROKER_FILE)
        told = {one.resource_name: settings_told(one, needed, source) for one in answer.results}
        return {name: told.get(name, NotSeen("DescribeConfigs does not tell of it")) for _, name, _ in asked}

    def _fenced(self) -> tuple[int, ...] | NotSeen:
        answer = self._asker.ask(DescribeClusterRequest(include_fenced_brokers=True, min_version=2))
        if isinstance(answer, NotSeen):
            return answer
        return tuple(sorted(one.broker_id for one in answer.brokers if one.is_fenced))

    def _quorum(self) -> QuorumSeen | NotSeen | None:
        topic = DescribeQuorumRequest.TopicData
        partition = topic.PartitionData(partition_index=0)
        asked = DescribeQuorumRequest(topics=[topic(topic_name="__cluster_metadata", partitions=[partition])])
        answer = self._asker.ask(asked)
        if isinstance(answer, NotSeen):
            return answer
        partitions = [one for topic in answer.topics for one in topic.partitions]
        if not partitions or partitions[0].error_code:
            none = NotSeen("DescribeQuorum tells of no quorum")
            return refused(asked, partitions[0].error_code) if partitions else none
        found = partitions[0]
        hosts = {node.node_id: node.listeners[0].host for node in answer.nodes or () if node.listeners}
        voters = tuple(sorted(one.replica_id for one in found.current_voters))
        return QuorumSeen(voters, {voter: hosts[voter] for voter in voters if voter in hosts})

    def _transactional_ids(self, brokers: Sequence[BrokerSeen], *, may_be: bool) -> tuple[str, ...] | NotSeen:
        """Return the transactional ids; brokers leave out what a user may not see.

        Args:
            brokers: all.
            may_be: whether there may be one, by the topic that is there once somebody had a transaction.
        """
        found: set[str] = set()
        for broker in brokers:
            answer = self._asker.ask(ListTransactionsRequest(state_filters=[], producer_id_filters=[]), broker.id)
            if isinstance(answer, NotSeen):
                return answer
            found.update(one.transactional_id for one in answer.transaction_states)
        if not found and may_be:
            return NotSeen("ListTransactions tells of no transactional id: there is none, or this user may see none")
        return tuple(sorted(found))

    def _eligible(self, names: Sequence[str]) -> dict[tuple[str, int], EligibleTold] | NotSeen:
        found: dict[tuple[str, int], EligibleTold] = {}
        request, cursor = DescribeTopicPartitionsRequest, None
        while names:
            topics = [request.TopicRequest(name=name) for name in names]
            asked = request(topics=topics, response_partition_limit=PARTITIONS_AT_ONCE, cursor=cursor)
            answer = self._asker.ask(asked)
            if isinstance(answer, NotSeen):
                return answer
            told = ((topic.name, one) for topic in answer.topics for one in topic.partitions)
            found.update({(name, one.partition_index): EligibleTold.of(one) for name, one in told})
            if answer.next_cursor is None:
                break
            after = answer.next_cursor
            cursor = request.Cursor(topic_name=after.topic_name, partition_index=after.partition_index)
            names = [name for name in sorted(names) if name >= after.topic_name]
        return found


def _is_asked_for(topic: Any, globs: Sequence[str]) -> bool:  # noqa: ANN401
    return not globs or topic.is_internal or _is_named(topic, globs)


def _is_named(topic: Any, globs: Sequence[str]) -> bool:  # noqa: ANN401
    return any(fnmatchcase(topic.name, glob) for glob in globs)
