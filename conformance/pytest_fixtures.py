"""Fixtures of the catalogue's tests and of schedules: one session for the whole pytest run."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.commands.choosing import USAGE_ERRORS, Choice, check_predictable, line_in_pytest, scenarios_of
from conformance.commands.report_page import write_page
from conformance.record.verdict import Conformance
from conformance.run_options import run_options_in_pytest
from conformance.session import seed_of, session_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from conformance.catalogue.examination import Entry
    from conformance.pipeline import Finished
    from conformance.session import Session


def parametrize(metafunc: pytest.Metafunc, entries: Iterable[Entry]) -> None:
    """Make one test of every entry; its id names requirements, release and metadata mode."""
    suffix = f"kafka={line_in_pytest(metafunc.config.getoption).words}"
    metafunc.parametrize("scenario", [_parameter(entry, suffix) for entry in entries])


def own_entries(config: pytest.Config, path: Path) -> tuple[Entry, ...]:
    """Read a file of the user's, and make sure that the release can follow its schedules.

    Raises:
        CollectError: it cannot be used; says where and why.
    """
    choice = Choice(schedules=(path,))
    try:
        entries = scenarios_of(choice)
        check_predictable(choice, entries, line_in_pytest(config.getoption).rules)
    except USAGE_ERRORS as error:
        raise pytest.Collector.CollectError(str(error)) from error
    return entries


def _parameter(scenario: Entry, suffix: str) -> object:
    also = "+".join(r for r in scenario.requirements() if not scenario.name.startswith(r))
    marks = [pytest.mark.scenario(name=scenario.name)]
    marks += [pytest.mark.requirement(id=requirement) for requirement in scenario.requirements()]
    if scenario.variant is not None:
        marks.append(pytest.mark.variant(name=scenario.variant))
    name = f"{scenario.name}+{also}" if also else scenario.name
    return pytest.param(scenario, id=f"{name}/{suffix}", marks=marks)


@pytest.fixture(scope="session")
def conformance_session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, Path]]:
    """Yield the session that all scenarios of this pytest run share, and the directory of their runs."""
    asked = request.config.getoption("--conformance-report")
    runs = Path(asked) if asked else tmp_path_factory.mktemp("conformance")
    runs.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            session = stack.enter_context(_session(request.config))
        except USAGE_ERRORS as error:
            raise pytest.UsageError(str(error)) from error
        yield session, runs
    if asked:
        write_page(sorted(path.parent for path in runs.glob("*/run.json")), runs / "report.html")


def _session(config: pytest.Config) -> AbstractContextManager[Session]:
    options = run_options_in_pytest(config.getoption)
    seed = seed_of(options)
    return session_on(line_in_pytest(config.getoption), options, seed, lambda _: None, "")


@pytest.fixture
def finished(
    conformance_session: tuple[Session, Path], scenario: Entry, record_property: Callable[[str, object], None]
) -> Finished:
    """Run one scenario; a harness error is an error of the test, not its failure."""
    session, runs = conformance_session
    one = session.run(scenario, runs)
    record_property("conformance", one.verdict.conformance.value)
    record_property("promise", one.verdict.promise.value if one.verdict.promise else "")
    record_property("run", str(one.run.path))
    if one.verdict.conformance is Conformance.HARNESS_ERROR:
        raise HarnessFailedError(f"{one.verdict.reason} (evidence: {one.run.path})")
    return one


class HarnessFailedError(Exception):
    """The tester, not the brokers, failed."""
