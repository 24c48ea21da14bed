"""How does an audit's answer look to code scanning? SARIF 2.1.0: a rule a check, a result a finding and subject.

A subject is a logical location: a cluster has no files. Fingerprints stay the same while a finding does: they are made
of its check, its subject and the names of what it rests on, and of no value that moves.
"""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conformance.record.audit_answer import AuditAnswer, CheckTold, FindingTold, UnseenTold

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
FINGERPRINT = "kafkaConformanceFinding/v1"


def render_audit_sarif(answer: AuditAnswer) -> str:
    """Return an answer as the text of a SARIF file; what could not be seen are notifications of its invocation."""
    driver = {"name": "kafka-conformance", "version": answer.tester, "rules": [_rule(one) for one in answer.checks]}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"kafka-conformance/audit/{answer.cluster}/"},
        "invocations": [
            {"executionSuccessful": True, "toolExecutionNotifications": [_notification(one) for one in answer.unseen]}
        ],
        "properties": {"cluster": answer.cluster, "release": answer.release.words, "day": answer.day},
        "results": list(_results(answer)),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _rule(check: CheckTold) -> dict[str, object]:
    asks = check.asks[:1].upper() + check.asks[1:]
    return {
        "id": check.id,
        "shortDescription": {"text": asks},
        "fullDescription": {"text": f"{asks} It rests on {check.source}."},
    }


def _notification(unseen: UnseenTold) -> dict[str, object]:
    return {
        "level": "warning",
        "message": {"text": f"cannot be seen: {', '.join(unseen.subjects)}: {unseen.why}"},
        "associatedRule": {"id": unseen.check},
    }


def _results(answer: AuditAnswer) -> Iterator[dict[str, object]]:
    """Yield a result for each finding and subject; accepted ones are suppressed, and the others say that they are not.

    Where one result of a run says whether it is suppressed, all must (SARIF 3.27.23).
    """
    places, seen = {one.id: place for place, one in enumerate(answer.checks)}, Counter[str]()
    told: list[tuple[FindingTold, list[dict[str, str]]]] = [(one, []) for one in answer.findings]
    told += [
        (one.finding, [{"kind": "external", "status": "accepted", "justification": one.reason}])
        for one in answer.accepted
    ]
    for finding, suppressions in told:
        suppressed = {"suppressions": suppressions} if answer.baseline is not None else {}
        for subject, command in zip(finding.subjects, finding.commands, strict=True):
            print_of = _fingerprint(finding, subject, seen)
            yield {
                **_result(finding, subject, command),
                "ruleIndex": places[finding.check],
                "partialFingerprints": {FINGERPRINT: print_of},
                **suppressed,
            }


def _result(finding: FindingTold, subject: str, command: str | None) -> dict[str, object]:
    kind, _, name = subject.partition(" ")
    evidence = [f"{one.what} {one.value} ({one.source})" for one in finding.evidence]
    place = {"name": name or kind, "fullyQualifiedName": subject, "kind": kind}
    properties: dict[str, object] = {"severity": finding.severity, "evidence": evidence, "mend": finding.mend}
    return {
        "ruleId": finding.check,
        "level": LEVELS[finding.severity],
        "message": {"text": f"{subject}: {finding.harm}. {'; '.join(evidence)}. Mend: {finding.mend}."},
        "locations": [{"logicalLocations": [place]}],
        "properties": properties if command is None else {**properties, "command": command},
    }


def _fingerprint(finding: FindingTold, subject: str, seen: Counter[str]) -> str:
    """Return what tells a finding from all others; of several that are alike in it, their order does."""
    parts = _parts(finding, subject)
    digest = sha256("\n".join(parts).encode()).hexdigest()[:32]
    seen[digest] += 1
    return digest if seen[digest] == 1 else f"{digest}/{seen[digest]}"


def _parts(finding: FindingTold, subject: str) -> Iterable[str]:
    return [finding.check, finding.issue or "", subject, *sorted(one.what for one in finding.evidence)]
