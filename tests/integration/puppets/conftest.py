"""A real broker of each release and its puppets; every examination is played to it once at most.

KAFKA_CONFORMANCE_PUPPETS=0.11.0.3,1.1.1 chooses other releases than the two that always run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import slug
from fault_injection.puppets.run import PuppetRun
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.conformance.puppet_scripts.scripts import script_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.catalogue.examination import Examination
    from conformance.catalogue.questions import QuestionAnswer
    from oracle.rules.rule_set import RuleSet

RELEASES = os.environ.get("KAFKA_CONFORMANCE_PUPPETS", "0.10.2.2,2.8.2").split(",")


class Played:
    """What a real broker answered, by examination."""

    def __init__(self, run: PuppetRun) -> None:
        self.version = run.cluster.spec.release.version
        self.run = run
        self._answers: dict[str, tuple[QuestionAnswer, ...]] = {}

    @property
    def rules(self) -> RuleSet:
        """Return the rules of the broker's release."""
        return rules_for(self.version, MetadataMode.ZOOKEEPER)

    def answers(self, examination: Examination) -> tuple[QuestionAnswer, ...]:
        """Play the examination's script, if it was not played yet."""
        if examination.name not in self._answers:
            played = script_of(examination).play(self.run, slug(examination.name))
            self._answers[examination.name] = tuple(played)
        return self._answers[examination.name]


@pytest.fixture(scope="package", params=RELEASES)
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with PuppetRun.start(request.param, tmp_path_factory.mktemp("puppets")) as running:
        yield Played(running)
        assert running.failures == ()
