"""How does JUnit XML come about? Suites of test cases, with the counts that CI servers read; text is escaped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JunitResult = Literal["failure", "error", "skipped"]
_COUNTED: dict[str, JunitResult] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot have, not even escaped."""


@dataclass(frozen=True, slots=True)
class JunitCase:
    """A test case.

    Attributes:
        output: what it says, whatever its result.
        result: None if it passed.
        message: why it did not, in one sentence.
        kind: of a failure or an error, in one word.
        details: of the result, on lines of their own.
    """

    classname: str
    name: str
    output: str
    result: JunitResult | None = None
    message: str = ""
    kind: str | None = None
    details: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0


@dataclass(frozen=True, slots=True)
class JunitSuite:
    """Test cases of one cluster, with the time at which the first began, in ISO form, if it is known."""

    name: str
    cases: Sequence[JunitCase]
    timestamp: str | None = None


def junit_text(suites: Sequence[JunitSuite]) -> str:
    """Return suites as a file's text."""
    every = [case for suite in suites for case in suite.cases]
    root = Element("testsuites", {"name": "kafka-conformance", **_counts(every)})
    for suite in suites:
        element = SubElement(root, "testsuite", {"name": suite.name, **_counts(suite.cases)})
        if suite.timestamp is not None:
            element.set("timestamp", suite.timestamp)
        for case in suite.cases:
            _add(element, case)
    indent(root)
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def _counts(cases: Sequence[JunitCase]) -> dict[str, str]:
    results = [case.result for case in cases]
    counts = {name: str(results.count(result)) for name, result in _COUNTED.items()}
    return {"tests": str(len(cases)), **counts, "time": f"{sum(case.seconds for case in cases):.3f}"}


def _add(suite: Element, case: JunitCase) -> None:
    element = SubElement(suite, "testcase", classname=case.classname, name=case.name, time=f"{case.seconds:.3f}")
    if case.properties:
        properties = SubElement(element, "properties")
        for name, value in case.properties.items():
            SubElement(properties, "property", name=name, value=value)
    if case.result:
        body = SubElement(element, case.result, message=case.message)
        if case.kind is not None:
            body.set("type", case.kind)
        body.text = case.details or None
    SubElement(element, "system-out").text = case.output
