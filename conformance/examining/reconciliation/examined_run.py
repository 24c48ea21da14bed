"""Which runs are doctored, and how is a copy judged again?"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.pipeline import Pipeline
from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory
from conformance.scenarios.vocabulary import (
    await_hold,
    await_isr,
    await_leader,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    kill,
    produce,
    start,
)
from conformance.stages.judging import judge_run
from oracle.schedule import Schedule, TopicSettings
from oracle.vocabulary import Expectation

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.examining.context import ExaminationContext
    from conformance.record.answers import Value
    from conformance.record.verdict import Verdict

    Doctor = Callable[[RunDirectory], None]

EVERY_OUTCOME = Scenario(
    name="one record of each outcome",
    explanation="Three records are acknowledged, one is refused, and of one nobody ever knows.",
    schedule=Schedule(
        id="reconciliation/one-record-of-each-outcome",
        requirement="Acknowledged records are in the topic; a refused one and one that no follower had are not.",
        sources=("RC-01",),
        replicas=brokers(1, 2),
        settings=TopicSettings(min_insync_replicas=2, unclean_leader_election=False),
        steps=(
            produce("m0", "m1"),
            hold_request("fetch of the torn record", follower=2, leader=1, fetch_offset=2),
            await_hold("fetch of the torn record"),
            produce("torn", expect=Expectation.PENDING),
            kill(1),
            await_outcome("torn", expect=Expectation.INDETERMINATE),
            await_leader(2),
            produce("refused", expect=Expectation.REFUSED, error="NOT_ENOUGH_REPLICAS"),
            start(1),
            await_isr(1, 2),
            produce("m2"),
            checkpoint("end"),
        ),
    ),
)


def examined(context: ExaminationContext, scenario: Scenario) -> tuple[RunDirectory, Verdict]:
    """Run a scenario within the examination's own run; give its directory and verdict."""
    runs = context.run.path / "examined"
    runs.mkdir(exist_ok=True)
    finished = Pipeline(context.cluster_pool, context.spark, runs, context.seed, context.progress).run(scenario)
    return finished.run, finished.verdict


def doctored(context: ExaminationContext, run: RunDirectory, doctor: Doctor) -> tuple[RunDirectory, Verdict]:
    """Doctor a copy of a run, reconcile and judge it again; give the copy and its verdict."""
    copy = RunDirectory(shutil.copytree(run.path, context.directory / doctor.__name__))
    doctor(copy)
    write_digests(copy)  # what is to be seen is the change itself
    context.spark.reconcile_again(copy)
    return copy, judge_run(copy)


def undoctored(run: RunDirectory) -> None:
    """Leave a copy as it is: whatever turns the others red is the doctoring."""


def in_a_word(doctor: Doctor) -> str:
    """Name what is done to a copy."""
    return doctor.__name__.replace("_", " ")


def words_of(verdict: Verdict) -> list[Value]:
    """Return a verdict's two answers."""
    return [verdict.conformance.value, verdict.promise.value if verdict.promise is not None else None]
