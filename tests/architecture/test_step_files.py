"""Does a new step touch no judge and no report? What they need of a step, its class declares."""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, python_files

READERS = ("conformance/judgement/", "conformance/record/", "reports/")
OF_BROKERS_AND_TOPICS = re.compile(r"^from oracle\.steps\.(brokers|topic) import (.*)$", re.MULTILINE)
NAMED = {("conformance/judgement/evidence_of_wire.py", "Reassign")}
"""Steps with physics of their own: while a partition moves, its ISR may have others than its replicas."""


def test_who_reads_a_run_names_no_step_about_brokers_and_topics() -> None:
    read = {path.as_posix(): (ROOT / path).read_text(encoding="utf-8") for path in python_files()}
    named = {
        (file, name)
        for file, text in read.items()
        if file.startswith(READERS)
        for _, names in OF_BROKERS_AND_TOPICS.findall(text)
        for name in names.split(", ")
    }

    assert named == NAMED
    assert OF_BROKERS_AND_TOPICS.search(read["conformance/running/obstacles.py"]), "the pattern finds nothing"
