"""Does what a hunt has found stay found? Each schedule is kept as it was grown, with what became of it.

``verdicts.json`` says how it was found, and on which lines ``predict`` refuses it with which words; null where it is
still predicted, and brokers deviate from that (``docs/limits.md``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.schedule_format import decode
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode

CORPUS = Path(__file__).parent
VERDICTS = json.loads((CORPUS / "verdicts.json").read_text())
CASES = [(name, line) for name, verdict in VERDICTS.items() for line in verdict["on"]]


def test_every_schedule_has_its_verdict_and_every_verdict_its_schedule() -> None:
    assert {path.stem for path in CORPUS.glob("*.yaml")} == set(VERDICTS)


@pytest.mark.parametrize(("name", "line"), CASES)
def test_what_became_of_a_schedule_has_not_changed(name: str, line: str) -> None:
    schedule = decode(yaml.safe_load((CORPUS / f"{name}.yaml").read_text()))
    version, _, metadata = line.partition("/")
    rules, refusal = rules_for(version, MetadataMode(metadata)), VERDICTS[name]["refused"]
    assert schedule.id == f"corpus/{name}"
    if refusal is None:
        assert predict(schedule, rules).moments
        return
    with pytest.raises(ScheduleError, match=re.escape(refusal)):
        predict(schedule, rules)
