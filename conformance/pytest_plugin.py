"""``pytest --pyargs conformance --kafka-version 4.4.0``: the options and markers of the pytest plugin.

The scenarios themselves are collected from ``conformance/test_catalogue.py``; their fixtures live in
``conformance/conftest.py``, so that a pytest run that does not ask for them pays nothing.
"""

from __future__ import annotations

import pytest

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
    group.addoption("--kafka-version", default="newest", metavar="V", help="release, such as 4.4.0 or 0.10.2 (newest)")
    group.addoption("--kafka-backend", choices=("auto", "docker", "process"), default="auto", help="where brokers run")
    group.addoption("--kafka-metadata", choices=("zookeeper", "kraft"), help="metadata mode of the cluster")
    group.addoption("--kafka-home", default=None, metavar="DIR", help="a Kafka distribution instead of the jars")
    group.addoption(
        "--kafka-image", default=None, metavar="IMAGE", help="an image with a Kafka, for the docker backend"
    )
    group.addoption("--jre-image", default=None, metavar="IMAGE", help="base image for the docker backend")
    group.addoption(
        "--conformance-profile", choices=("quick", "full"), default="quick", help="the foundation, or every scenario"
    )
    group.addoption("--conformance-report", default=None, metavar="DIR", help="keep runs and report.html in DIR")
    group.addoption("--conformance-seed", type=int, default=None, metavar="N", help="seed of record ids")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and check the release that was asked for.

    Raises:
        UsageError: it is not known, or lacks the metadata mode; or Spark is not installed.
    """
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if not any("conformance" in argument for argument in config.args):
        return
    for warning in KAFKA_PYTHON_WARNINGS:
        config.addinivalue_line("filterwarnings", warning)
    from conformance.commands.choosing import USAGE_ERRORS, choice_of_options, release_of  # noqa: PLC0415 - who asks pays
    from conformance.spark_extra import require_spark  # noqa: PLC0415 - likewise

    try:
        require_spark()
        release_of(choice_of_options(config.getoption))
    except USAGE_ERRORS as error:
        raise pytest.UsageError(str(error)) from error
