"""A leader puppet, a follower puppet that talks to it, and a topic for both."""

from collections.abc import Iterator

import pytest

from fault_injection.puppets.client import FollowerPuppet
from fault_injection.puppets.leader import LeaderPuppet
from fault_injection.puppets.served_topics import PuppetTopic
from fault_injection.releases import schema_jar
from fault_injection.wire.codec_schemas import Messages, load_schemas


@pytest.fixture(scope="session")
def messages() -> Messages:
    return load_schemas(schema_jar())


@pytest.fixture
def leader() -> Iterator[LeaderPuppet]:
    puppet = LeaderPuppet(2)
    yield puppet
    puppet.close()
    assert puppet.server.failures == []


@pytest.fixture
def follower(leader: LeaderPuppet) -> Iterator[FollowerPuppet]:
    puppet = FollowerPuppet(1, leader.address)
    yield puppet
    puppet.close()


@pytest.fixture
def topic() -> PuppetTopic:
    return PuppetTopic("t", (1, 2))
