"""``run``: scenarios on real brokers, with progress, verdicts and a report."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.shared_clusters import in_running_order
from conformance.commands.choosing import Choice, jars_for, locate_error, release_of, scenarios_of
from conformance.commands.parser import check_file, check_writable
from conformance.judgement.verdicts import exit_code
from conformance.laboratory import Laboratory, brokers_for, cluster_kind
from conformance.pipeline import Finished, Pipeline
from conformance.reconcile.errors import ReconcileError
from conformance.record.run import read_run
from conformance.second_look import SecondLook
from conformance.spark_extra import require_spark
from conformance.spark_master import DEFAULT_MASTER, SparkMasterError, check_master, is_local
from conformance.spark_room import SparkRoom
from conformance.stages.foretelling import foretell
from fault_injection.cluster.backends.choice import BackendName, choose_backend
from fault_injection.releases import MetadataMode, UsageError, is_pinned
from oracle.rules.by_version import rules_for
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode as OracleMode
from reports import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.console import Console
    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import Release

SEED_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run.

    Attributes:
        runs: directory that gets one run directory per scenario.
        report: where report.html goes; None puts it beside the runs.
        repeat: how many times the chosen scenarios are run, one round after the other.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
    """

    choice: Choice
    runs: Path
    backend: BackendName = "auto"
    jre_image: str | None = None
    spark_master: str = DEFAULT_MASTER
    seed: int | None = None
    keep_cluster: bool = False
    require_promise: bool = False
    report: Path | None = None
    repeat: int = 1
    fetch_sessions: bool = True


def run_scenarios(console: Console, options: RunOptions) -> int:
    """Run the chosen scenarios and return the exit code."""
    check_options(options)
    scenarios = scenarios_of(options.choice)
    brokers_of_all(options.choice, scenarios)
    release, metadata = release_of(options.choice)
    check_predictable(options.choice, scenarios, release, metadata.value)
    report = options.report or options.runs / "report.html"
    for directory in (options.runs, report.parent):
        check_writable(directory)
    check_file(report)
    seed = options.seed if options.seed is not None else new_seed()
    ordered = (scenarios if options.choice.schedules else in_running_order(scenarios)) * options.repeat
    finished = _run_all(console, options, (release, metadata), ordered, seed)
    names = [scenario.name for scenario in scenarios]
    finished.sort(key=lambda one: names.index(one.scenario))
    report = write_report([f.run.path for f in finished], report)
    summarise(console, finished, report, seed)
    answers = ((f.verdict.counted, f.verdict.promise) for f in finished)
    return exit_code(answers, require_promise=options.require_promise)


def check_options(options: RunOptions) -> None:
    """Check what can be checked of the options alone, before an image or a jar is asked for.

    Raises:
        UsageError: Spark is not installed, two options contradict each other, or the Spark master cannot be had.
    """
    require_spark()
    if options.choice.image is not None and options.backend == "process":
        raise UsageError("--image needs containers, but --backend process was asked for; --kafka-home needs none.")
    if options.choice.image is not None and options.jre_image is not None:
        raise UsageError("--image is run as it is, on its own Java: --jre-image does not go with it.")
    check_jre_image(options.backend, options.jre_image)
    check_master(options.spark_master)


def check_jre_image(backend: BackendName, jre_image: str | None) -> None:
    """Refuse a base image where there are no containers.

    Raises:
        UsageError: the process backend was asked for.
    """
    if backend == "process" and jre_image is not None:
        raise UsageError("--jre-image is the base of containers, but --backend process was asked for.")


def backend_for(name: BackendName, jre_image: str | None, image: str | None = None) -> tuple[Backend, str]:
    """Return where brokers run, and why there.

    Raises:
        UsageError: containers are asked for and cannot be had, or there is no Java.
    """
    try:
        return choose_backend(name, jre_image, image)
    except UsageError as refused:
        if name == "docker" and image is None:
            raise UsageError(f"{refused} --backend process needs no containers.") from refused
        raise


def new_seed() -> int:
    """Return a seed for a run that was given none; it is printed, so that the run can be repeated."""
    return random.SystemRandom().randint(1, SEED_MAX)


def check_predictable(choice: Choice, scenarios: Sequence[Entry], release: Release, metadata: str) -> None:
    """Predict every scenario before the first broker starts.

    Raises:
        ScheduleFileError: a schedule that no rule of the release can satisfy.
    """
    rules = rules_for(release.version, OracleMode(metadata))
    for scenario in scenarios:
        try:
            foretell(scenario, rules)
        except ScheduleError as error:
            raise locate_error(choice, scenario, error) from error


def _run_all(
    console: Console,
    options: RunOptions,
    on: tuple[Release, MetadataMode],
    scenarios: Sequence[Entry],
    seed: int,
) -> list[Finished]:
    release, metadata = on
    console.progress(_brokers_source(options.choice, release))
    jars = jars_for(options.choice, release)
    backend, why = backend_for(options.backend, options.jre_image, options.choice.image)
    console.progress(f"Kafka {release.version} ({metadata.value}), seed {seed}. {why}")
    finished: list[Finished] = []
    with (
        SparkRoom(options.spark_master) as spark,
        Laboratory(
            release=release,
            metadata=metadata,
            jars=jars,
            backend=backend,
            progress=console.progress,
            fetch_sessions=options.fetch_sessions,
        ) as laboratory,
    ):
        spark.start()
        if not is_local(options.spark_master):
            await_spark(console, spark, options.spark_master)
        laboratory.shared_brokers = brokers_of_all(options.choice, scenarios)
        looks = SecondLook()
        pipeline = Pipeline(laboratory, spark, options.runs, seed, console.progress, options.choice.kafka_home)
        for number, scenario in enumerate(scenarios, start=1):
            console.progress(f"[{number}/{len(scenarios)}] {scenario.name}: {scenario.requirement}")
            one = looks.run(pipeline, scenario)
            finished.append(one)
            promise = f" + {one.verdict.promise.value}" if one.verdict.promise else ""
            console.progress(f"[{number}/{len(scenarios)}] {scenario.name}: {one.verdict.conformance.value}{promise}")
        if options.keep_cluster and laboratory.running is not None:
            keep_until_interrupted(console, laboratory.running.bootstrap)
    return finished


def brokers_of_all(choice: Choice, scenarios: Sequence[Entry]) -> frozenset[int]:
    """Return the brokers that schedules of the user's need together, so that they run on one cluster.

    Raises:
        UsageError: they cannot share one.
    """
    schedules = [one.schedule for one in scenarios if isinstance(one, Scenario)] if choice.schedules else []
    kinds = {", ".join(f"{name}: {value}" for name, value in cluster_kind(it).items()) for it in schedules}
    if len(kinds) > 1:
        words = " and ".join(f"({kind})" for kind in sorted(kinds))
        raise UsageError(f"These schedules need clusters of different kinds, {words}: run them one at a time.")
    return frozenset(broker for schedule in schedules for broker in brokers_for(schedule))


def _brokers_source(choice: Choice, release: Release) -> str:
    """Say where the brokers come from."""
    own = choice.image or choice.kafka_home
    if own is not None:
        return f"Kafka {release.version} of {own}: what is in it is taken as it is, held against no released jar"
    known = "" if is_pinned(release.version) else "; no checksum of this patch is known to the tester"
    return f"looking for the jars of Kafka {release.version} (fetched once, then cached{known})"


def await_spark(console: Console, spark: SparkRoom, master: str) -> None:
    """Wait for a Spark that may not be there, before brokers start that would wait for it in vain.

    Raises:
        SparkMasterError: it does not start.
    """
    console.progress(f"waiting for Spark on {master} (Spark itself gives up after a minute)")
    try:
        spark.await_started()
    except ReconcileError as error:
        why = f"Spark did not start there, as when what listens is no Spark master ({error})"
        raise SparkMasterError(f"--spark-master {master}: {why}") from error


def keep_until_interrupted(console: Console, bootstrap: str) -> None:
    """Leave the brokers running for a person to look at, until Ctrl-C."""
    console.progress(f"the cluster is kept at {bootstrap}; Ctrl-C ends it")
    with suppress(KeyboardInterrupt):
        Event().wait()


def summarise(console: Console, finished: Sequence[Finished], report: Path, seed: int) -> None:
    """Print verdicts and the report's place."""
    if console.as_json:
        console.answer_json(as_json(finished))
        return
    width = max((len(f.scenario) for f in finished), default=8)
    for one in finished:
        promise = one.verdict.promise.value if one.verdict.promise else "-"
        console.answer(
            f"{one.scenario:{width}}  {one.verdict.conformance.value:13} {promise:20} {one.seconds:5.1f} s  "
            f"{one.verdict.reason}"
        )
    console.answer(f"seed {seed}; report: {report}")


def as_json(finished: Sequence[Finished]) -> dict[str, Any]:
    """Return the machine format of ``run --json``."""
    runs = []
    summary: dict[str, int] = {}
    for one in finished:
        about = read_run(one.run)
        promise = one.verdict.promise.value if one.verdict.promise else None
        runs.append(
            {
                "scenario": one.scenario,
                "kafka": about.kafka,
                "metadata": about.metadata,
                "backend": about.backend,
                "conformance": one.verdict.conformance.value,
                "promise": promise,
                "reason": one.verdict.reason,
                "seconds": one.seconds,
                "run": str(one.run.path),
            }
        )
        for word in (one.verdict.conformance.value, promise):
            if word is not None:
                summary[word] = summary.get(word, 0) + 1
    return {"runs": runs, "summary": summary}
