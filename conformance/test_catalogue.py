"""The catalogue as pytest tests: a deviation or an inconclusive run fails, NOT_RUN skips with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.pytest_fixtures import parametrize
from conformance.record.verdict import Conformance
from conformance.registry import select

if TYPE_CHECKING:
    from conformance.pipeline import Finished


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of every scenario of the profile."""
    parametrize(metafunc, select(profile=metafunc.config.getoption("--conformance-profile")))


def test_brokers_conform(finished: Finished) -> None:
    """Check that the brokers did what the model of their version says."""
    verdict = finished.verdict
    if verdict.conformance is Conformance.NOT_RUN:
        pytest.skip(verdict.reason)
    if verdict.accepted is not None:
        pytest.xfail(verdict.reason)
    findings = "\n".join(f"  {finding.kind}: {finding.text}" for finding in verdict.findings)
    if verdict.conformance is not Conformance.CONFORMS:
        pytest.fail(
            f"{finished.scenario} {verdict.conformance.value}: {verdict.reason}\n{findings}\n"
            f"  evidence: {finished.run.path}",
            pytrace=False,
        )
