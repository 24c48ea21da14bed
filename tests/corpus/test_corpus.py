"""Does what a hunt has found stay found? Each schedule is kept as it was grown, with what became of it.

``verdicts.json`` says how it was found, and on which lines ``predict`` refuses it with which words; null where it is
still predicted (``docs/limits.md``). ``on_brokers`` has the verdicts that brokers bring about each time; what depends
on who is faster has none.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from conformance.catalogue.scenario import Scenario
from conformance.line import line_named
from conformance.run_options import RunOptions
from conformance.session import session_on
from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule_format import decode
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode
from tests.integration.real_runs import ignore

if TYPE_CHECKING:
    from oracle.schedule import Schedule

CORPUS = Path(__file__).parent
VERDICTS = json.loads((CORPUS / "verdicts.json").read_text())
ON_BROKERS = [(name, line, told) for name, verdict in VERDICTS.items() for line, told in verdict["on_brokers"].items()]
CASES = [(name, line) for name, verdict in VERDICTS.items() for line in verdict["on"]]


def test_every_schedule_has_its_verdict_and_every_verdict_its_schedule() -> None:
    assert {path.stem for path in CORPUS.glob("*.yaml")} == set(VERDICTS)


def schedule_of(name: str) -> Schedule:
    return decode(yaml.safe_load((CORPUS / f"{name}.yaml").read_text()))


@pytest.mark.parametrize(("name", "line"), CASES)
def test_what_became_of_a_schedule_has_not_changed(name: str, line: str) -> None:
    schedule = schedule_of(name)
    version, _, metadata = line.partition("/")
    rules, refusal = rules_for(version, MetadataMode(metadata)), VERDICTS[name]["refused"]
    assert schedule.id == f"corpus/{name}"
    if refusal is None:
        assert predict(schedule, rules).moments
        return
    with pytest.raises(ScheduleError, match=re.escape(refusal)):
        predict(schedule, rules)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "line", "told"), ON_BROKERS)
def test_brokers_do_what_they_did(tmp_path: Path, name: str, line: str, told: str) -> None:
    with session_on(line_named(line), RunOptions("process"), 7, ignore, "") as session:
        finished = session.run(Scenario(f"corpus/{name}", schedule_of(name), VERDICTS[name]["found"]), tmp_path)
    assert finished.verdict.conformance.value == told, finished.verdict.reason
