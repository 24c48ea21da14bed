"""``run``: scenarios on real brokers, with progress, verdicts and a report."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import Choice, locate_error, release_of, scenarios_of
from conformance.laboratory import Laboratory
from conformance.pipeline import Finished, Pipeline
from conformance.spark_room import DEFAULT_MASTER, SparkRoom
from conformance.verdicts import exit_code
from fault_injection.cluster.backends.choice import BackendName, choose_backend
from fault_injection.releases import jars_of, schema_jar, spark_connector_jars
from oracle.predict import PointUnavailableError, predict
from oracle.rules.by_version import rules_for
from oracle.schedule import ScheduleError
from oracle.vocabulary import MetadataMode
from reports import write_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.console import Console
    from conformance.scenario import Scenario
    from fault_injection.releases import Release

SEED_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run.

    Attributes:
        runs: directory that gets one run directory per scenario.
        report: where report.html goes; None puts it beside the runs.
        repeat: how many times the chosen scenarios are run, one round after the other.
    """

    choice: Choice
    runs: Path
    backend: BackendName = "auto"
    jre_image: str | None = None
    kafka_home: Path | None = None
    spark_master: str = DEFAULT_MASTER
    seed: int | None = None
    keep_cluster: bool = False
    require_promise: bool = False
    report: Path | None = None
    repeat: int = 1


def run_scenarios(console: Console, options: RunOptions) -> int:
    """Run the chosen scenarios and return the exit code."""
    release, metadata = release_of(options.choice)
    scenarios = scenarios_of(options.choice)
    check_predictable(options.choice, scenarios, release, metadata.value)
    seed = options.seed if options.seed is not None else new_seed()
    finished = _run_all(console, options, scenarios * options.repeat, seed)
    report = write_report([f.run.path for f in finished], options.report or options.runs / "report.html")
    summarise(console, finished, report, seed)
    answers = ((f.verdict.counted, f.verdict.promise) for f in finished)
    return exit_code(answers, require_promise=options.require_promise)


def new_seed() -> int:
    """Return a seed for a run that was given none; it is printed, so that the run can be repeated."""
    return random.SystemRandom().randint(1, SEED_MAX)


def check_predictable(choice: Choice, scenarios: Sequence[Scenario], release: Release, metadata: str) -> None:
    """Predict every scenario before the first broker starts.

    Raises:
        ScheduleFileError: a schedule that no rule of the release can satisfy.
    """
    rules = rules_for(release.version, MetadataMode(metadata))
    for scenario in scenarios:
        try:
            races = predict(scenario.schedule, rules).races
        except PointUnavailableError:
            continue
        except ScheduleError as error:
            raise locate_error(choice, scenario, error) from error
        if races:
            open_race = ScheduleError(f"the order of two followers decides: {'; '.join(races)}. A hold fixes the order")
            raise locate_error(choice, scenario, open_race)


def _run_all(console: Console, options: RunOptions, scenarios: Sequence[Scenario], seed: int) -> list[Finished]:
    release, metadata = release_of(options.choice)
    options.runs.mkdir(parents=True, exist_ok=True)
    console.progress(f"looking for the jars of Kafka {release.version} (fetched once, then cached)")
    jars = jars_of(release, options.kafka_home)
    schema_jar()  # this one and the next are needed later: what cannot be had is a usage error, not a failed run
    spark_connector_jars()
    backend, why = choose_backend(options.backend, options.jre_image)
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
        ) as laboratory,
    ):
        spark.start()
        pipeline = Pipeline(laboratory, spark, options.runs, seed, console.progress)
        for number, scenario in enumerate(scenarios, start=1):
            console.progress(f"[{number}/{len(scenarios)}] {scenario.name}: {scenario.schedule.requirement}")
            one = pipeline.run(scenario)
            finished.append(one)
            promise = f" + {one.verdict.promise.value}" if one.verdict.promise else ""
            console.progress(f"[{number}/{len(scenarios)}] {scenario.name}: {one.verdict.conformance.value}{promise}")
        if options.keep_cluster and laboratory.running is not None:
            keep_until_interrupted(console, laboratory.running.bootstrap)
    return finished


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
        about = one.run.read_json("run.json")
        promise = one.verdict.promise.value if one.verdict.promise else None
        runs.append(
            {
                "scenario": one.scenario,
                "kafka": about["kafka"],
                "metadata": about["metadata"],
                "backend": about["backend"],
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
