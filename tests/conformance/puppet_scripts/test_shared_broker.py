"""Is what a pool keeps for its examinations started once, and ended once?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.cluster_pool import ClusterPool
from conformance.examining.context import ExaminationContext
from conformance.line import line_named
from conformance.puppet_scripts.script import OneBroker, PuppetScript, puppet_run, puppets_of
from conformance.record.directory import RunDirectory
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.puppets.connection import PuppetError
from fault_injection.puppets.run import PuppetRun
from fault_injection.releases import NO_JARS, JarSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conformance.catalogue.questions import QuestionAnswer
    from fault_injection.puppets.served_topics import PuppetTopic


@dataclass
class Kept:
    """Something in a directory that can be closed."""

    directory: Path
    closed: list[Path] = field(default_factory=list)

    def close(self) -> None:
        """Note that it ended."""
        self.closed.append(self.directory)


@dataclass
class Puppets(Kept):
    """As much of a broker among puppets as those look at who share it."""

    failures: list[str] = field(default_factory=list)
    cluster: object = None


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExaminationContext]:
    """A room whose broker with puppets is none."""
    monkeypatch.setattr(PuppetRun, "start", lambda _version, directory, **_: Puppets(directory))
    jars = JarSet(tmp_path, (tmp_path / "kafka.jar",), "0")
    with cluster_pool(jars) as shared:
        run = RunDirectory.create(tmp_path, "run")
        yield ExaminationContext(shared, cast("Any", None), run, tmp_path, 1, lambda _: None)


def cluster_pool(jars: JarSet = NO_JARS) -> ClusterPool:
    return ClusterPool(line=line_named("2.8.2/zookeeper"), jars=jars, backend=ProcessBackend(), progress=lambda _: None)


def test_it_is_started_once_and_ends_with_the_pool() -> None:
    with cluster_pool() as context:
        kept = context.kept("thing", Kept)
        assert context.kept("thing", Kept) is kept
        assert kept.directory.is_dir()
        assert kept.closed == []

    assert kept.closed == [kept.directory]
    assert not kept.directory.exists()


def test_what_was_discarded_is_started_anew() -> None:
    with cluster_pool() as context:
        first = context.kept("thing", Kept)
        context.discard("thing")
        context.discard("thing")
        assert first.closed == [first.directory]
        assert context.kept("thing", Kept) is not first


def test_it_ends_although_an_examination_failed() -> None:
    context = cluster_pool().__enter__()
    kept = context.kept("thing", Kept)
    context.__exit__(KeyError, KeyError(), None)

    assert kept.closed == [kept.directory]


def _fails_at_the_end(run: PuppetRun, *_: object) -> Iterator[QuestionAnswer]:
    """Play nothing; a puppet breaks down."""
    cast("Any", run).failures.append("KeyError: 'topic'")
    yield from ()


def _script(monkeypatch: pytest.MonkeyPatch) -> PuppetScript:
    monkeypatch.setattr(PuppetScript, "play", lambda _self, run, _topic: _fails_at_the_end(run))
    monkeypatch.setattr("conformance.puppet_scripts.script.keep_broker_files", lambda *_: None)
    return PuppetScript(())


def _one_broker(monkeypatch: pytest.MonkeyPatch) -> OneBroker:
    monkeypatch.setattr(OneBroker, "play", lambda _self, run, _topic: _fails_at_the_end(run))
    return OneBroker((), lambda _: (), _no_answers)


def _no_answers(_run: PuppetRun, _topic: PuppetTopic) -> Iterator[QuestionAnswer]:
    yield from ()


@pytest.mark.parametrize("subject", [_script, _one_broker])
def test_a_puppet_that_failed_is_held_against_its_own_examination(
    context: ExaminationContext,
    monkeypatch: pytest.MonkeyPatch,
    subject: Callable[[pytest.MonkeyPatch], PuppetScript | OneBroker],
) -> None:
    first = puppet_run(context)

    with pytest.raises(PuppetError, match="a puppet failed: KeyError"):
        list(subject(monkeypatch).conduct(context))

    assert puppet_run(context) is not first
    assert puppet_run(context).failures == []


def test_a_puppet_that_fails_between_two_examinations_is_held_against_none(context: ExaminationContext) -> None:
    first = cast("Any", puppet_run(context))
    first.failures.append("ConnectionResetError")

    second = puppet_run(context)
    assert second is not first
    assert first.closed == [first.directory]
    assert puppet_run(context) is second


@pytest.mark.parametrize("is_spoiled", [True, False])
def test_a_broker_that_an_examination_spoils_is_nobodys_afterwards(
    context: ExaminationContext, *, is_spoiled: bool
) -> None:
    with puppets_of(context, spoils_broker=is_spoiled) as first:
        assert puppet_run(context) is first

    assert (puppet_run(context) is not first) is is_spoiled
