"""Does a baseline accept what it names, and that alone, until its day, and is a mistake in it told by its place?"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from conformance.audit.audit import CHECKS
from conformance.audit.baseline import TO_BE_JUDGED, baseline_text, read_baseline
from conformance.audit.cluster import NotSeen
from conformance.commands.audit_lines import audit_lines
from fault_injection.releases import UsageError
from tests.conformance.audit.answers import TODAY, answered, entry
from tests.conformance.audit.made_clusters import OLD, audited, good, of_topic, topic, with_topic

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.audit.audit import Audit
    from conformance.record.audit_answer import AuditAnswer

IDS = [one.id for one in CHECKS]


def of_topics(*names: str) -> Audit:
    return audited(replace(good(), topics=(*good().topics, *(topic(name, of_topic(1)) for name in names))))


def counting(answer: AuditAnswer) -> set[tuple[str, str]]:
    return {(one.check, subject) for one in answer.findings for subject in one.subjects}


def test_an_entry_accepts_what_it_names_and_the_others_count_with_a_command_of_their_own() -> None:
    answer = answered(of_topics("a", "b", "c"), entry("min-isr-1", "topic a"))
    (row,) = answer.findings
    assert row.subjects == ("topic b", "topic c")
    assert row.command is not None
    assert "--entity-name b " in row.command
    assert [one.finding.subjects for one in answer.accepted] == [("topic a",)]
    assert answer.baseline is not None
    assert (answer.baseline.accepted, answer.baseline.notes) == (1, ())
    assert answer.failing("high") == (row,)


@pytest.mark.parametrize(
    ("check", "subject", "until", "is_accepted"),
    [
        ("min-isr-1", "topic scratch-1", None, True),
        ("min-isr-1", "topic scratch-*", None, True),
        ("min-isr-1", "*", TODAY, True),
        ("min-isr-1", "topic scratch", None, False),
        ("min-isr-1", "topic Scratch-1", None, False),
        ("min-isr-1", "scratch-*", None, False),
        ("unclean-election", "topic scratch-1", None, False),
        ("min-isr-1", "topic scratch-*", TODAY - timedelta(days=1), False),
    ],
)
def test_check_and_glob_and_day_must_fit(check: str, subject: str, until: date | None, is_accepted: bool) -> None:
    answer = answered(of_topics("scratch-1"), entry(check, subject, until))
    assert bool(answer.failing(None)) is not is_accepted
    assert bool(answer.accepted) is is_accepted


def test_a_known_defect_can_be_accepted_by_its_issue_alone() -> None:
    found = audited(with_topic(own=of_topic(1), line=OLD)())
    issues = {one.issue for one in answered(found).findings if one.check == "known-defect"}
    first = min(filter(None, issues))
    accepted = answered(found, entry("known-defect", "*", issue=first)).accepted
    assert {one.finding.issue for one in accepted} == {first}
    assert {one.finding.check for one in answered(found, entry("min-isr-1", "*", issue=first)).accepted} == set()


def test_an_entry_that_matches_nothing_is_told_and_not_if_it_may_only_not_be_seen() -> None:
    none = [entry("one-rack", "topic gone", number=1), entry("two-replicas", "*", date(2027, 1, 1), number=2)]
    told = "\n".join(audit_lines(answered(of_topics(), *none), 200))
    assert "accepted.yaml: entry 1 (one-rack, topic gone) accepts nothing any more" in told
    assert "entry 2 (two-replicas, *) ended after 2027-01-01, and accepts nothing since" in told
    assert "any more" not in "\n".join(audit_lines(answered(of_topics(), *none, is_whole=False), 200))
    hidden = audited(with_topic(own=NotSeen("refused"))())
    told = "\n".join(audit_lines(answered(hidden, entry("two-replicas", "topic mistaken")), 200))
    assert "(two-replicas, topic mistaken) accepts nothing in what was seen" in told


def test_an_entry_behind_another_one_that_accepts_the_same_is_not_said_to_be_idle() -> None:
    answer = answered(of_topics("a"), entry("min-isr-1", "*"), entry("min-isr-1", "topic a", number=2))
    assert answer.baseline is not None
    assert answer.baseline.notes == ()
    assert [one.entry for one in answer.accepted] == [1]


def test_accepted_findings_are_told_apart_in_the_terminal() -> None:
    told = "\n".join(audit_lines(answered(of_topics("a"), entry("min-isr-1", "topic a", date(2027, 6, 30))), 200))
    assert "accepted: 1 findings, by accepted.yaml" in told
    assert "high  min-isr-1  topic a: It can be made again. (until 2027-06-30)" in told
    assert f"{len(CHECKS)} checks, nothing found but what is accepted" in told
    assert "HIGH" not in told


def test_a_written_baseline_accepts_what_was_found_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "accepted.yaml"
    kept = entry("unclean-election", "topic mistaken", date(2027, 6, 30))
    found = audited(with_topic(own=of_topic(1, unclean=True), line=OLD)())
    before = answered(found, kept, entry("one-rack", "*", number=2))
    file.write_text(baseline_text(before), encoding="utf-8")
    entries = read_baseline(file, IDS).entries
    again = answered(found, *entries)
    assert counting(before)
    assert counting(again) == set()
    assert "one-rack" not in {one.check for one in entries}
    assert replace(kept, number=entries[0].number) == entries[0]
    assert {one.reason for one in entries[1:]} == {TO_BE_JUDGED}
    other = audited(with_topic(own=of_topic(3))())
    assert counting(answered(other, *entries)) == {("min-isr-equals-replicas", "topic mistaken")}


def test_a_baseline_of_nothing_is_one(tmp_path: Path) -> None:
    file = tmp_path / "accepted.yaml"
    file.write_text(baseline_text(answered(of_topics())), encoding="utf-8")
    assert read_baseline(file, IDS).entries == ()


def test_json_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    file.write_text(
        '{"accepted": [{"check": "min-isr-1", "subject": "topic a", "reason": "old", "until": "2027-06-30"}]}'
    )
    (one,) = read_baseline(file, IDS).entries
    assert (one.check, one.subject, one.reason, one.until) == ("min-isr-1", "topic a", "old", date(2027, 6, 30))


GOOD = "accepted:\n  - check: min-isr-1\n    subject: topic a\n    reason: old\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a baseline is a list `accepted`"),
        ("accepted: 3\n", ":1: a baseline is a list"),
        (GOOD + "more: []\n", "a baseline is a list"),
        (GOOD + "accepted: []\n", "a baseline is a list"),
        (GOOD + "  - text\n", ":5: entry 2 is no entry"),
        (GOOD + "  - check: min-isr-1\n    subject: topic b\n", ":5: entry 2: missing or unknown: reason"),
        (GOOD + "    untill: 2027-06-30\n", ":2: entry 1: missing or unknown: untill"),
        (GOOD + "    reason: new\n", ":2: entry 1: reason stands twice"),
        (GOOD.replace("old", ""), ":2: entry 1: reason is no text"),
        (GOOD.replace("old", '" "'), ":2: entry 1: reason is no text"),
        (GOOD.replace("old", "[a]"), ":2: entry 1: reason is no text"),
        (GOOD.replace("min-isr-1", "min-isr"), ":2: entry 1: there is no check 'min-isr'"),
        (GOOD + "    until: 2027-02-30\n", ":2: entry 1: until: 2027-02-30 is no day"),
        (GOOD + "    until: 2027-W01-1\n", ":2: entry 1: until: 2027-W01-1 is no day"),
        (GOOD + GOOD.partition("\n")[2], "entries 1 and 2 are both about min-isr-1, topic a"),
        ("accepted: [\n", "not valid YAML"),
        (GOOD + "---\n" + GOOD, "not valid YAML"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "accepted.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_baseline(file, IDS)
    assert str(error.value).startswith(str(file))
    assert told in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--baseline .*none\.yaml cannot be read: No such file"):
        read_baseline(tmp_path / "none.yaml", IDS)
