"""A real broker of each release, its puppets, and a topic on a stage for each test.

KAFKA_CONFORMANCE_PUPPETS=0.11.0.3,1.1.1 chooses other releases than the two that always run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from fault_injection.puppets.run import PuppetRun
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.integration.puppets.stage import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fault_injection.puppets.leader import LeaderPuppet

RELEASES = os.environ.get("KAFKA_CONFORMANCE_PUPPETS", "0.10.2.2,2.8.2").split(",")


@pytest.fixture(scope="package", params=RELEASES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PuppetRun]:
    with PuppetRun.start(request.param, tmp_path_factory.mktemp("puppets")) as running:
        yield running
        assert running.failures == ()


@pytest.fixture
def leaders(run: PuppetRun) -> Iterator[dict[int, LeaderPuppet]]:
    both = {broker: run.leader(broker) for broker in (2, 3)}
    yield both
    for leader in both.values():
        leader.revive()


@pytest.fixture
def stage(run: PuppetRun, request: pytest.FixtureRequest) -> Iterator[Stage]:
    name = request.node.originalname.removeprefix("test_")
    rules = rules_for(run.cluster.spec.release.version, MetadataMode.ZOOKEEPER)
    staged = Stage(run, name, rules)
    yield staged
    staged.close()
