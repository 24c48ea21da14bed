"""``pytest --pyargs conformance --kafka-version 3.9.2``: the options and markers of the pytest plugin.

The scenarios themselves are collected from ``conformance/test_catalogue.py``; their fixtures live in
``conformance/pytest_fixtures.py``, so that a pytest run that does not ask for them pays nothing. Schedules of a
user's are collected from their files, in YAML or Python, once a release is named:
``pytest schedules/ --kafka-version 3.9.2``.
"""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from conformance.run_options import add_run_options, check_options, in_pytest, run_options_in_pytest
from conformance.schedules import PYTHON, SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.attach.ledger import AttachedLedger

KAFKA_PYTHON_WARNINGS = (
    "ignore:read_text is deprecated:DeprecationWarning",
    "ignore:open_text is deprecated:DeprecationWarning",
)
"""How kafka-python reads its own schemas; a project whose warnings are errors is not about that."""
MARKERS = (
    "requirement(id): a scenario that proves this requirement, such as TR-01",
    "scenario(name): one scenario of the catalogue",
    "variant(name): a scenario's safe or unsafe settings",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that choose brokers."""
    group = parser.getgroup("kafka-conformance", "Kafka protocol conformance against real brokers")
    group.addoption(
        "--kafka-version",
        default=None,
        metavar="V",
        help="release, such as 3.9.2 or 0.10.2 (newest); if one is named, schedules are collected too",
    )
    group.addoption("--kafka-metadata", choices=("zookeeper", "kraft"), help="metadata mode of the cluster")
    group.addoption(
        "--conformance-profile",
        choices=("quick", "full"),
        default="quick",
        help="the quick profile's entries (kafka-conformance list --profile quick), or all",
    )
    group.addoption("--conformance-report", default=None, metavar="DIR", help="keep runs and report.html in DIR")
    add_run_options(group.addoption, in_pytest)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and check what was asked for.

    Raises:
        UsageError: the release is not known, or lacks the metadata mode; the options contradict each other; Spark is
            not installed; or a package of the project that is tested has the name of one of the tester's.
    """
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if not _asks_for_scenarios(config) and not _takes_schedules(config):
        return
    _check_own_packages()
    for warning in KAFKA_PYTHON_WARNINGS:
        config.addinivalue_line("filterwarnings", warning)
    from conformance.commands.choosing import USAGE_ERRORS, line_in_pytest  # noqa: PLC0415 - who asks pays

    try:
        check_options(run_options_in_pytest(config.getoption))
        line_in_pytest(config.getoption)
    except USAGE_ERRORS as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture
def ledger(tmp_path: Path) -> Callable[..., AttachedLedger]:
    """Return what begins a ledger beside a running cluster: ``conformance.attach.ledger.ledger_beside``.

    Its block breaks the cluster, and ``verdict()`` says afterwards whether every record was kept.
    """
    from conformance.attach.ledger import ledger_beside  # noqa: PLC0415 - who asks pays

    return partial(ledger_beside, runs=tmp_path)


# Are scenarios asked for, and is what they import the tester's own?


PACKAGE = Path(__file__).resolve().parent
OTHER_PACKAGES = ("oracle", "fault_injection", "reports")


def _asks_for_scenarios(config: pytest.Config) -> bool:
    """Tell whether an argument is the tester's package, or lies in it; a name that merely has its word in it is not."""
    for argument in config.args:
        name, here = argument.partition("::")[0], config.invocation_params.dir
        if config.option.pyargs and name.split(".")[0] == PACKAGE.name:
            return True
        if (here / name).resolve().is_relative_to(PACKAGE):
            return True
    return False


def _check_own_packages() -> None:
    """Refuse to go on with packages of somebody else's.

    Raises:
        UsageError: a package that is found first has the name of one of the tester's.
    """
    for name in OTHER_PACKAGES:
        found = find_spec(name)
        places = [Path(place).resolve() for place in (found and found.submodule_search_locations) or []]
        if places != [PACKAGE.with_name(name)]:
            whose = f"{places[0]} is" if places else f"a module {name!r} is"
            raise pytest.UsageError(
                f"{whose} found before kafka-conformance's own package {name!r}: run the scenarios from a directory "
                "without one, as in `cd $(mktemp -d) && pytest --pyargs conformance`"
            )


# Which files are schedules? In YAML those that are named, and of folders those with replicas and steps; in Python
# those with scenarios.


LOOKS_LIKE_A_SCHEDULE = re.compile(r"^replicas *:.*^steps *:|^steps *:.*^replicas *:", re.MULTILINE | re.DOTALL)
FIXTURES = "conformance.pytest_fixtures"
CATALOGUE = Path(__file__).with_name("test_catalogue.py")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a schedule, if a release is named to run it on; have the catalogue find its fixtures."""
    if file_path == CATALOGUE:
        _fixtures(parent.config)
    if file_path.suffix not in (*SUFFIXES, PYTHON) or not _takes_schedules(parent.config):
        return None
    if file_path.is_relative_to(PACKAGE):  # the catalogue is collected as its tests
        return None
    is_taken = _has_scenarios(file_path) if file_path.suffix == PYTHON else _has_a_schedule(file_path, parent.session)
    return ScheduleModule.from_parent(parent, path=file_path) if is_taken else None


def _has_a_schedule(file: Path, session: pytest.Session) -> bool:
    return session.isinitpath(file) or bool(
        LOOKS_LIKE_A_SCHEDULE.search(file.read_text(encoding="utf-8", errors="replace"))
    )


def _has_scenarios(file: Path) -> bool:
    from conformance.schedules.own_scenarios import has_scenarios  # noqa: PLC0415 - who asks pays

    return has_scenarios(file)


def _takes_schedules(config: pytest.Config) -> bool:
    return config.getoption("--kafka-version") is not None


class ScheduleModule(pytest.Module):
    """A user's file as a module with the catalogue's test, once for each scenario: one in YAML."""

    @override
    def _getobj(self) -> ModuleType:
        fixtures = _fixtures(self.config)
        entries = fixtures.own_entries(self.config, self.path)
        module = ModuleType(self.path.stem)
        module.test_brokers_conform = import_module("conformance.test_catalogue").test_brokers_conform  # type: ignore[attr-defined]
        module.pytest_generate_tests = lambda metafunc: fixtures.parametrize(metafunc, entries)  # type: ignore[attr-defined]
        return module


def _fixtures(config: pytest.Config) -> ModuleType:
    """Return the fixtures of scenarios and schedules, which hold wherever those are once the first is collected."""
    fixtures = import_module(FIXTURES)
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures, FIXTURES)
    return fixtures
