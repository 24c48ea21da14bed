"""Are real traces of a topic without epochs allowed, and refused by who takes its records for stamped ones?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle.tracing.recording import RECORDED, recording

FOLDER = "without_epochs"
NAMES = sorted(f"{FOLDER}/{path.name.removesuffix('.ndjson.gz')}" for path in (RECORDED / FOLDER).glob("*.gz"))


@pytest.mark.parametrize("name", NAMES)
def test_a_real_trace_is_allowed_by_the_rules_of_its_format(name: str) -> None:
    report = recording(name).check()
    assert report.violation is None, str(report.violation)
    assert report.partitions == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_of_the_releases_own_format_refuse_it(name: str) -> None:
    stamped = replace(recording(name), message_format_version=None)
    assert stamped.check().violation is not None


def test_there_are_such_traces() -> None:
    assert len(NAMES) >= 2
