"""Is what a user may not see told by each check that looks at it, and never taken for fine? By brokers' own refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from conformance.audit.audit import CHECKS, audit
from conformance.audit.audited import Audited
from conformance.audit.cluster import NotSeen
from conformance.audit.reading import cluster_reader
from conformance.audit.release_seen import release_seen
from conformance.clients.client_settings import client_settings
from fault_injection.releases import MetadataMode, find_release
from fault_injection.waiting import NotYetError, until
from tests.conformance.audit.seeded_clusters import GOOD, QUIET
from tests.conformance.secured_cluster import Secured, secured_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.audit.audit import Audit

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]

AUTHORIZERS = {
    MetadataMode.ZOOKEEPER: "kafka.security.authorizer.AclAuthorizer",
    MetadataMode.KRAFT: "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}
CARELESS = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}
TOPICS = {"shown": CARELESS, "named": CARELESS, "hidden": CARELESS, "__consumer_offsets": {}}
OWN_TOPICS = {"topic __consumer_offsets", "topic __transaction_state"}
SHARES = "__share_group_state"
"""There is none, as nobody has shared anything."""
OF_SETTINGS = {
    "min-isr-1",
    "min-isr-equals-replicas",
    "min-isr-above-replicas",
    "two-replicas",
    "unclean-election",
    "under-min-isr",
    "at-min-isr",
    "roll-margin",
    "known-defect",
}
OF_BROKERS = {"auto-create", "lag-time", "unflushed-in-one-room", "log-directory-offline"}
OF_KRAFT = {"controller-quorum", "broker-min-isr-unheeded"}


@pytest.fixture(scope="module", params=["2.8.2", "4.4.0"])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A cluster whose users may do what ACLs say; only the brokers, and who needs no password, may do everything.

    Somebody had a transaction; __consumer_offsets has three replicas, though brokers would create it with one.
    """
    mode = find_release(request.param).default_metadata_mode
    own = {**GOOD, "authorizer.class.name": AUTHORIZERS[mode], "super.users": "User:ANONYMOUS"}
    own["offsets.topic.replication.factor"] = "1"
    features = {"transaction.version": 1} if mode is MetadataMode.KRAFT else {}
    with secured_cluster(request.param, tmp_path_factory.mktemp("refusing"), own, features=features) as cluster:
        admin = _admin(cluster)
        asked = [NewTopic(name, 1, 3, config=config) for name, config in TOPICS.items()]
        for created in admin.create_topics(asked).values():
            created.result(30)
        producer = Producer({"bootstrap.servers": cluster.cluster.bootstrap, "transactional.id": "hidden", **QUIET})
        producer.init_transactions(60)
        yield cluster


def _admin(secured: Secured) -> AdminClient:
    return AdminClient({"bootstrap.servers": secured.cluster.bootstrap, **QUIET})


def _allow(secured: Secured, *granted: tuple[ResourceType, str, AclOperation]) -> None:
    """Let alice do this, and nothing else."""
    admin = _admin(secured)
    every = AclBindingFilter(
        ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
    )
    for removed in admin.delete_acls([every]).values():
        removed.result(30)
    asked = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, "User:alice", "*", operation, AclPermissionType.ALLOW)
        for kind, name, operation in granted
    ]
    for created in admin.create_acls(asked).values() if asked else ():
        created.result(30)


def _audited(secured: Secured, is_as_allowed: Callable[[Audit], bool]) -> Audit:
    """Return what alice's audit tells, once brokers know what she may do."""
    client = client_settings(secured.client_file())

    def told() -> Audit:
        with cluster_reader(secured.bootstrap.split(","), client) as reader:
            seen = reader.read()
        found = audit(Audited(seen, release_seen(seen)))
        if not is_as_allowed(found):
            raise NotYetError([one.name for one in seen.topics])
        return found

    return until(told, deadline_s=60, what="brokers know the ACLs", interval_s=0.5)


def _names(found: Audit) -> set[str]:
    return {one.name for one in found.audited.cluster.topics}


def _refused(found: Audit) -> dict[str, set[str]]:
    """Return of each check whom it was not allowed to look at."""
    told: dict[str, set[str]] = {}
    for one in found.unseen:
        if one.why.startswith("not allowed to see: "):
            told.setdefault(one.check, set()).update(one.subjects)
    return told


def test_who_may_see_nothing_is_told_so_by_every_check_that_could_find_something(secured: Secured) -> None:
    _allow(secured)
    found = _audited(secured, lambda found: not found.audited.cluster.topics)
    unseen = {one.check for one in found.unseen}
    blind = {one.id for one in CHECKS if one.is_of_topics} | OF_BROKERS | {"internal-topics"}
    if secured.cluster.spec.is_kraft:
        blind |= OF_KRAFT
    assert unseen >= blind
    assert not found.rows
    refused, brokers = _refused(found), {f"broker {one}" for one in secured.cluster.spec.broker_ids}
    assert [refused[check] for check in ("auto-create", "lag-time", "log-directory-offline")] == [brokers] * 3
    if secured.cluster.spec.is_kraft:
        assert refused["controller-quorum"] == {"cluster"}


def test_settings_that_a_user_may_not_see_are_told_by_topic_and_those_that_he_may_are_judged(secured: Secured) -> None:
    _allow(
        secured,
        (ResourceType.TOPIC, "shown", AclOperation.DESCRIBE),
        (ResourceType.TOPIC, "shown", AclOperation.DESCRIBE_CONFIGS),
        (ResourceType.TOPIC, "named", AclOperation.DESCRIBE),
    )
    found = _audited(secured, lambda found: _names(found) == {"shown", "named"} and bool(found.rows))
    refused = _refused(found)
    assert {check for check, about in refused.items() if "topic named" in about} == OF_SETTINGS
    about = {subject for row in found.rows for subject in row.subjects}
    assert about == {"topic shown"}
    assert {"min-isr-1", "unclean-election"} <= {row.finding.check for row in found.rows}
    assert "unclean-transactions" in {one.check for one in found.unseen}


def test_who_may_see_the_cluster_alone_is_told_of_it(secured: Secured) -> None:
    everything = ResourceType.BROKER, "kafka-cluster"
    _allow(secured, (*everything, AclOperation.DESCRIBE), (*everything, AclOperation.DESCRIBE_CONFIGS))
    found = _audited(secured, lambda found: not found.audited.cluster.topics and bool(found.rows))
    assert _refused(found).keys() <= {"internal-topics", "transaction-version"}
    unseen = {one.check for one in found.unseen}
    assert not unseen & {"lag-time", "auto-create", "log-directory-offline"}
    one_voter = {"controller-quorum"} if secured.cluster.spec.is_kraft else set()
    assert {row.finding.check for row in found.rows} == one_voter | {"unflushed-in-one-room"}
    hidden = OWN_TOPICS | ({f"topic {SHARES}"} if secured.cluster.spec.is_kraft else set())
    assert [set(one.subjects) for one in found.unseen if one.check == "internal-topics"] == [hidden]
    assert isinstance(found.audited.cluster.transactional_ids, NotSeen)
    assert "transaction-version" in unseen


def test_that_there_is_no_such_topic_is_believed_of_who_may_describe_it_and_asking_creates_none(
    secured: Secured,
) -> None:
    everything = ResourceType.BROKER, "kafka-cluster"
    shares = ResourceType.TOPIC, SHARES
    _allow(secured, *((*one, AclOperation.DESCRIBE_CONFIGS) for one in (everything, shares)))
    found = _audited(secured, lambda found: SHARES not in found.audited.cluster.hidden and bool(found.rows))
    assert {f"topic {one}" for one in found.audited.cluster.hidden} == OWN_TOPICS
    assert SHARES not in _admin(secured).list_topics(timeout=30).topics
