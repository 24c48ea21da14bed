"""Fixtures of the catalogue's tests and of schedules: one laboratory and one Spark session for the whole pytest run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.commands.choosing import USAGE_ERRORS, choice_of_options, jars_for, release_of, scenarios_of
from conformance.commands.running import check_predictable, new_seed
from conformance.laboratory import Laboratory
from conformance.pipeline import Finished, Pipeline
from conformance.record.verdict import Conformance
from conformance.second_look import SecondLook
from conformance.spark_room import SparkRoom
from fault_injection.cluster.backends.choice import choose_backend
from reports import write_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from conformance.catalogue.examination import Entry


def parametrize(metafunc: pytest.Metafunc, entries: Iterable[Entry]) -> None:
    """Make one test of every entry; its id names requirements, release and metadata mode."""
    release, metadata = release_of(choice_of_options(metafunc.config.getoption))
    suffix = f"kafka={release.version}/{metadata.value}"
    metafunc.parametrize("scenario", [_parameter(entry, suffix) for entry in entries])


def own_schedule(config: pytest.Config, path: Path) -> Entry:
    """Read a schedule of the user's, and make sure that the release can follow it.

    Raises:
        CollectError: it cannot be used; says where and why.
    """
    choice = replace(choice_of_options(config.getoption), schedules=(path,))
    try:
        entries = scenarios_of(choice)
        release, metadata = release_of(choice)
        check_predictable(choice, entries, release, metadata.value)
    except USAGE_ERRORS as error:
        raise pytest.Collector.CollectError(str(error)) from error
    return entries[0]


def _parameter(scenario: Entry, suffix: str) -> object:
    also = "+".join(r for r in scenario.requirements() if not scenario.name.startswith(r))
    marks = [pytest.mark.scenario(name=scenario.name)]
    marks += [pytest.mark.requirement(id=requirement) for requirement in scenario.requirements()]
    if scenario.variant is not None:
        marks.append(pytest.mark.variant(name=scenario.variant))
    name = f"{scenario.name}+{also}" if also else scenario.name
    return pytest.param(scenario, id=f"{name}/{suffix}", marks=marks)


@pytest.fixture(scope="session")
def pipeline(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """Yield the pipeline that all scenarios of this pytest run share."""
    config = request.config
    asked = config.getoption("--conformance-report")
    runs = Path(asked) if asked else tmp_path_factory.mktemp("conformance")
    runs.mkdir(parents=True, exist_ok=True)
    choice = choice_of_options(config.getoption)
    try:
        release, metadata = release_of(choice)
        jars = jars_for(choice, release)
        backend, _ = choose_backend(config.getoption("--kafka-backend"), config.getoption("--jre-image"), choice.image)
    except USAGE_ERRORS as error:
        raise pytest.UsageError(str(error)) from error
    seed = config.getoption("--conformance-seed") or new_seed()
    with (
        SparkRoom() as spark,
        Laboratory(release=release, metadata=metadata, jars=jars, backend=backend, progress=lambda _: None) as lab,
    ):
        spark.start()
        yield Pipeline(lab, spark, runs, seed, lambda _: None, choice.kafka_home)
    if asked:
        write_report(sorted(path.parent for path in runs.glob("*/run.json")), runs / "report.html")


@pytest.fixture(scope="session")
def second_look() -> SecondLook:
    """What looks again at findings on clusters that other scenarios had used, a few times a session."""
    return SecondLook()


@pytest.fixture
def finished(
    pipeline: Pipeline, second_look: SecondLook, scenario: Entry, record_property: Callable[[str, object], None]
) -> Finished:
    """Run one scenario; a harness error is an error of the test, not its failure."""
    one = second_look.run(pipeline, scenario)
    record_property("conformance", one.verdict.conformance.value)
    record_property("promise", one.verdict.promise.value if one.verdict.promise else "")
    record_property("run", str(one.run.path))
    if one.verdict.conformance is Conformance.HARNESS_ERROR:
        raise HarnessFailedError(f"{one.verdict.reason} (evidence: {one.run.path})")
    return one


class HarnessFailedError(Exception):
    """The tester, not the brokers, failed."""
