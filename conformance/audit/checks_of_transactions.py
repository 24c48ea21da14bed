"""What can a late request do to the cluster's transactions, by its release and its transaction.version?

Each way has scripts of the catalogue, which the model plays by the rules that the cluster has: what they then break of
what is promised, it can lose. No version decides that here, nor which release mends it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from conformance.audit.finding import AuditCheck, AuditFinding, Ground, Severity, Unseen
from conformance.audit.mends import upgrade_feature
from conformance.catalogue.examination import Examination, Levelled
from conformance.catalogue.ladder import LADDER
from conformance.registry import select
from oracle.rules.transactions import TRANSACTION_FEATURE, rules_of, swaps_of, transaction_rules
from oracle.transactions.promised import MISSING, PROMISED, STUCK, UNASKED
from oracle.vocabulary import TRANSACTION_STATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conformance.audit.audited import Audited
    from oracle.rules.rule_set import RuleSet

TRANSACTION_VERSION = "transaction-version"
HARM = {
    MISSING: "an acknowledged record of a committed transaction is lost",
    UNASKED: "a record is read that its producer has aborted",
    STUCK: "consumers with read_committed stop there for good",
}
"""What it comes to that a promise is broken."""


@dataclass(frozen=True, slots=True)
class LateRequest:
    """A way in which a late request harms a transaction.

    Attributes:
        issue: Kafka's, or its proposal that mends it.
        entries: examinations of the catalogue that show it.
        happens: what the request does, in words.
    """

    issue: str
    entries: tuple[str, ...]
    happens: str

    def broken(self, rules: RuleSet, level: int | None) -> tuple[str, ...]:
        """Return the promises that its scripts break; none where the release has no transactions.

        Args:
            rules: the release's.
            level: transaction.version; None as the release's new clusters have it.
        """
        every = {promise for entry in self.entries for promise, _ in broken_by(entry, rules, level)}
        return tuple(promise for promise in HARM if promise in every)


LATE_REQUESTS = (
    LateRequest(
        "KAFKA-17754", ("TX-05/late-abort", "TX-05/late-commit"), "an EndTxn that comes late ends the next transaction"
    ),
    LateRequest(
        "KIP-890", ("TX-06/in-the-next",), "of clients before 2.5 a batch that comes late joins the next transaction"
    ),
    LateRequest("KIP-1228", ("TX-07/in-the-next",), "a marker that comes late ends the next transaction"),
    LateRequest("KAFKA-14402", ("TX-06/after-its-abort",), "a batch that comes late opens what nobody ends"),
)
"""What is shown first stands first."""


@cache
def broken_by(entry: str, rules: RuleSet, level: int | None) -> tuple[tuple[str, list[str]], ...]:
    """Return the promises that a script breaks, each with the records or partitions by which it does."""
    script = script_at(entry, level)
    if script.where.reason_not_to_run(rules.version, rules.metadata):
        return ()
    told = ((one.what, one.value) for one in script.subject.predict(rules) if one.what.startswith(PROMISED))
    return tuple((what, [str(each) for each in value]) for what, value in told if isinstance(value, list) and value)


def script_at(entry: str, level: int | None) -> Examination:
    """Return an examination on a cluster of another transaction.version; None for that of new clusters."""
    (script,) = select([entry])
    assert isinstance(script, Examination)
    subject = script.subject
    assert isinstance(subject, Levelled), "its script asks for a level of the feature"
    at_level = subject.at_level(level)
    return replace(script, examined=lambda: at_level)


def level_of(rules: RuleSet, told: int) -> int | None:
    """Return the transaction.version that a cluster tells, None if new clusters of its release have it, or it none."""
    return None if told >= level_of_new(rules) else told


def level_of_new(rules: RuleSet) -> int:
    """Return the transaction.version of a release's new clusters; 0 where it has no such feature."""
    return transaction_rules(swaps_of(rules.version)).transaction_version if rules_of(rules.version) else 0


def late_requests(audited: Audited) -> Iterator[AuditFinding | Unseen]:
    """Say what a late request can do, where somebody has transactions."""
    why = _unseen(audited)
    if why is not None:
        yield Unseen(TRANSACTION_VERSION, "cluster", why)
    elif audited.has_transactions and audited.rules is not None:
        level = level_of(audited.rules, audited.transaction_version or 0)
        for late in LATE_REQUESTS:
            if broken := late.broken(audited.rules, level):
                yield _finding(audited, late, broken)


def _unseen(audited: Audited) -> str | None:
    """Return why it cannot be said; None if it can."""
    if audited.has_transactions is None:
        return audited.cluster.hidden[TRANSACTION_STATE].why
    if not audited.has_transactions:
        return None
    if audited.rules is None:
        return "the release is not known: name it with --kafka"
    is_told = audited.transaction_version is not None or not level_of_new(audited.rules)
    return None if is_told else "no broker told its features"


def _finding(audited: Audited, late: LateRequest, broken: tuple[str, ...]) -> AuditFinding:
    assert audited.rules is not None
    level, newest = audited.transaction_version or 0, level_of_new(audited.rules)
    told = str(level) if newest else "none on this release"
    mend, command = _mend(audited, late, audited.rules)
    return AuditFinding(
        TRANSACTION_VERSION,
        Severity.MEDIUM if broken == (STUCK,) else Severity.HIGH,
        "cluster",
        (Ground(TRANSACTION_FEATURE, told, "ApiVersions"), audited.transactions_ground),
        f"{late.happens}: {', or '.join(HARM[one] for one in broken)} ({late.issue})",
        mend,
        command,
        issue=late.issue,
    )


def _mend(audited: Audited, late: LateRequest, rules: RuleSet) -> tuple[str, str | None]:
    """Return what mends it, and the command if it can be given now: a level of the feature, or a release."""
    newest = level_of_new(rules)
    if not late.broken(rules, None):
        raised = f"{TRANSACTION_FEATURE}={newest} (KIP-890)"
        can_be = (audited.supported or {}).get(TRANSACTION_FEATURE, 0) >= newest
        return raised, upgrade_feature(TRANSACTION_FEATURE, newest) if can_be else None
    return mending_release(late), None


@cache
def mending_release(late: LateRequest) -> str:
    """Return the first release whose new clusters keep what is promised, with the level if older ones need it."""
    known = (one for one in LADDER if rules_of(one.rules.version))
    first = next(one for one in known if not late.broken(one.rules, None))
    release = f"Kafka {first.release.version.rpartition('.')[0]} or newer"
    if not late.broken(first.rules, 0 if level_of_new(first.rules) else None):
        return release
    level = f"{TRANSACTION_FEATURE}={level_of_new(first.rules)}"
    return f"{release} with {level} (after the upgrade: kafka-features.sh upgrade --feature {level})"


CHECKS: tuple[AuditCheck, ...] = (
    AuditCheck(
        TRANSACTION_VERSION,
        "can a late request end the next transaction?",
        "KAFKA-17754",
        late_requests,
        is_of_topics=False,
    ),
)
