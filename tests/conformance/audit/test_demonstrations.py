"""Does the model say that a demonstration shows its harm, and none once mended? And is what shows nothing refused?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.audit.audit import CHECKS
from conformance.audit.audited import ELIGIBLE_FEATURE
from conformance.audit.demonstrated_defects import BY_ENTRIES, defect_twins
from conformance.audit.demonstrated_topics import Demonstrated, example, found_by
from conformance.audit.demonstrations import (
    DEMONSTRATIONS,
    NOT_DEMONSTRATED,
    NothingToShowError,
    Twins,
    difference,
    has_eligible_feature,
    words,
)
from conformance.audit.release_seen import ReleaseSeen
from conformance.audit.shown import Harm, harmed, is_blocked, is_lost
from conformance.audit.stories import TopicCase
from conformance.catalogue.ladder import LADDER
from conformance.cli import main
from conformance.line import line_named
from oracle.predict import predict
from oracle.rules.unclean_election import heeded
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks
from tests.conformance.audit.made_clusters import MISTAKES, audited, good, of_topic, partition, with_topic

OLD, NEWEST = "2.8.2/zookeeper", "4.4.0/kraft"


def predicted_harm(twins: Twins, harm: Harm) -> tuple[list[str], list[str]]:
    """Return the records that the model harms so, in both tellings."""
    both = twins.as_read, twins.mended
    as_read, mended = ([*harmed(predict(one.entry.schedule, one.line.rules), harm)] for one in both)
    return [one.label for one in as_read], [one.label for one in mended]


def exists_on(check: str, line: str) -> bool:
    """Return whether a release has what a check's example is about."""
    election = line_named(line).rules.election
    is_heeded = not DEMONSTRATIONS[check].example.unclean or heeded(election) is election
    return is_heeded and (not DEMONSTRATIONS[check].needs_eligible or has_eligible_feature(line_named(line)))


def test_every_check_is_demonstrated_or_it_is_told_why_not() -> None:
    assert sorted([*DEMONSTRATIONS, *BY_ENTRIES, *NOT_DEMONSTRATED]) == sorted(one.id for one in CHECKS)
    assert len(DEMONSTRATIONS) >= 12


@pytest.mark.parametrize("line", [one.text for one in LADDER])
@pytest.mark.parametrize("check", DEMONSTRATIONS)
def test_an_example_shows_its_harm_and_none_once_mended(check: str, line: str) -> None:
    if not exists_on(check, line):
        with pytest.raises(NothingToShowError, match=r"has no eligible|KAFKA-12670"):
            example(check, line_named(line))
        return
    shown = example(check, line_named(line))
    as_read, mended = predicted_harm(shown.twins, DEMONSTRATIONS[check].harm)
    assert as_read
    assert not mended


@pytest.mark.parametrize("line", [OLD, "3.9.2/kraft", NEWEST])
@pytest.mark.parametrize("check", DEMONSTRATIONS)
def test_mended_settings_that_are_taken_for_the_mistaken_ones_are_refused(check: str, line: str) -> None:
    shown = DEMONSTRATIONS[check]
    with pytest.raises(NothingToShowError, match=r"nothing to show|has no eligible"):
        shown.twins(check, shown.mended(shown.example), line_named(line))


OTHERS = (
    ("two-replicas", TopicCase(2, 2)),
    ("min-isr-1", TopicCase(5, 1)),
    ("min-isr-equals-replicas", TopicCase(4, 4)),
    ("min-isr-above-replicas", TopicCase(2, 3)),
    ("unclean-election", TopicCase(2, 1, unclean=True)),
    ("weak-acks", TopicCase(2, 1, acks=Acks.LEADER)),
    ("weak-acks", TopicCase(3, 1, acks=Acks.NONE)),
    ("one-rack", TopicCase(2, 1, is_spread=False)),
    ("replicas-nowhere", TopicCase(5, 2, away=2)),
    ("under-min-isr", TopicCase(5, 3, away=3)),
    ("at-min-isr", TopicCase(3, 1, away=2)),
    ("roll-margin", TopicCase(4, 2, away=1)),
    ("offline", TopicCase(2, 1, away=1)),
)


@pytest.mark.parametrize("line", [OLD, NEWEST])
@pytest.mark.parametrize(("check", "case"), OTHERS)
def test_other_topics_show_it_too(check: str, case: TopicCase, line: str) -> None:
    as_read, mended = predicted_harm(
        DEMONSTRATIONS[check].twins(check, case, line_named(line)), DEMONSTRATIONS[check].harm
    )
    assert (bool(as_read), mended) == (True, [])


def test_one_replica_of_which_two_must_be_in_sync_takes_nothing_up_to_3_6() -> None:
    shown = DEMONSTRATIONS["min-isr-above-replicas"]
    twins = shown.twins("min-isr-above-replicas", TopicCase(1, 2), line_named(OLD))
    assert twins.as_read.shows == "m0 is refused (NOT_ENOUGH_REPLICAS)"
    with pytest.raises(NothingToShowError, match="m0 is acknowledged and kept"):
        shown.twins("min-isr-above-replicas", TopicCase(1, 2), line_named(NEWEST))


@pytest.mark.parametrize("check", DEMONSTRATIONS)
def test_a_mend_that_mends_nothing_is_refused(check: str) -> None:
    idle = replace(DEMONSTRATIONS[check], mended=lambda case: case)
    with pytest.raises(NothingToShowError, match="it is the same on Kafka"):
        idle.twins(check, idle.example, line_named(NEWEST))


@pytest.mark.parametrize(
    "line",
    [
        *("0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1", "2.0.1", "2.7.2", "2.8.2", "3.0.2", "3.4.1/zookeeper"),
        *("3.3.2/kraft", "3.5.2/kraft"),
    ],
)
def test_the_settings_of_a_defect_show_it_where_it_is_and_not_where_it_is_repaired(line: str) -> None:
    twins = defect_twins(ReleaseSeen(line_named(line), (line,)), TopicSettings(1, unclean_leader_election=True))
    assert twins.as_read.line != twins.mended.line
    assert twins.as_read.entry == twins.mended.entry
    assert twins.mended.shows != twins.as_read.shows
    assert "is not there" in twins.mended.shows


def test_recommended_settings_expose_no_defect() -> None:
    for line in (OLD, NEWEST):
        with pytest.raises(NothingToShowError, match="exposes no known defect"):
            defect_twins(ReleaseSeen(line_named(line)), TopicSettings(2))


# Which topic of a cluster is it?


def found(check: str) -> Demonstrated:
    if check == "weak-acks":
        return found_by(audited(good(), Acks.LEADER), check)
    return found_by(audited(MISTAKES[check]()), check)


@pytest.mark.parametrize("check", [*DEMONSTRATIONS, "known-defect"])
def test_what_a_check_finds_in_a_cluster_is_shown_with_that_topic(check: str) -> None:
    shown = found(check)
    subjects = {"weak-acks": "orders", "unflushed-in-one-room": "orders", "eligible-replicas-off": "orders"}
    assert shown.subject.split()[1].removesuffix("-0") == {**subjects, "roll-margin": "wide"}.get(check, "mistaken")
    if check != "known-defect":
        as_read, mended = predicted_harm(shown.twins, DEMONSTRATIONS[check].harm)
        assert (bool(as_read), mended) == (True, [])


def test_a_topic_is_shown_as_it_was_read() -> None:
    shown = found("roll-margin").twins
    assert shown.as_read.settings == "replication factor 4, min.insync.replicas=2, 1 of 4 replicas away"
    assert shown.mended.settings == "every replica back in sync"
    assert len(shown.as_read.entry.schedule.replicas) == 4


def test_a_cluster_without_the_feature_is_formatted_and_judged_without_it() -> None:
    twins = found("eligible-replicas-off").twins
    assert (dict(twins.as_read.features), dict(twins.mended.features)) == ({ELIGIBLE_FEATURE: 0}, {})
    assert "last-replica-standing" in twins.as_read.line.rules.names()
    assert twins.mended.line == line_named(NEWEST)


def test_the_first_topic_that_shows_it_is_taken() -> None:
    """With every replica needed no unclean election loses anything: nothing is acknowledged that it could lose."""
    cluster = with_topic(own=of_topic(3, unclean=True))()
    with pytest.raises(NothingToShowError, match=r"nothing to show on Kafka 4.4.0 .* m1 is refused"):
        found_by(audited(cluster), "unclean-election")
    other = replace(cluster.topics[0], name="other", settings=of_topic(unclean=True))
    both = replace(cluster, topics=(*cluster.topics, other))
    assert found_by(audited(both), "unclean-election").subject == "topic other"


def test_what_was_not_found_or_has_no_known_release_is_told() -> None:
    with pytest.raises(NothingToShowError, match="the check has found nothing on this cluster"):
        found_by(audited(good()), "min-isr-1")
    seen = audited(good())
    unknown = replace(seen, audited=replace(seen.audited, release=ReleaseSeen(None)))
    with pytest.raises(NothingToShowError, match="name it with --kafka"):
        found_by(unknown, "min-isr-1")


def test_replicas_that_are_nowhere_are_counted_from_what_is_registered() -> None:
    cluster = with_topic(parts=(partition((1, 2, 9), (1, 2)),))()
    assert "1 of 3 replicas away" in found_by(audited(cluster), "replicas-nowhere").twins.as_read.settings


# How is it told?


def test_settings_are_told_with_what_is_unusual_and_a_mend_with_what_it_changes() -> None:
    case = TopicCase(3, 2, unclean=True, acks=Acks.NONE, eligible=False, is_spread=False)
    assert words(case) == (
        "replication factor 3, min.insync.replicas=2, unclean.leader.election.enable=true, acks=0, "
        "eligible.leader.replicas.version=0, all replicas in one room"
    )
    assert difference(case, replace(case, min_isr=1, is_spread=True)) == (
        "min.insync.replicas=1, replicas in rooms of their own"
    )


def test_producers_that_hear_nothing_lose_without_an_acknowledgement() -> None:
    twins = found_by(audited(good(), Acks.NONE), "weak-acks").twins
    assert "m1 is sent and gone, and its producer hears nothing" in twins.as_read.shows
    assert "m1 is not acknowledged: its producer knows that it may be gone" in twins.mended.shows


def test_a_record_is_either_lost_or_blocked_or_kept() -> None:
    for check in DEMONSTRATIONS:
        twins = example(check, line_named(NEWEST)).twins
        for one in (twins.as_read, twins.mended):
            records = predict(one.entry.schedule, one.line.rules).records
            assert not any(is_lost(record) and is_blocked(record) for record in records)
            assert all(record.label in one.shows for record in records)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["min-isr"], "there is no such check; did you mean min-isr-1?"),
        (["zzz"], "there is no such check; --list-checks names them all."),
        (["controller-quorum"], "it is not demonstrated: a demonstration's cluster has one controller."),
        (["unclean-election", "--kafka", "3.8.1/kraft"], "does not look at unclean.leader.election.enable"),
        (["eligible-replicas-off", "--kafka", "3.9.2"], "Kafka 3.9.2/kraft has no eligible leader replicas."),
        (["known-defect", "--kafka", "4.4.0"], "exposes no known defect of Kafka 4.4.0/kraft"),
        (["min-isr-1", "--fail-on", "high"], "--fail-on is about all findings of a cluster"),
        (["min-isr-1", "--kafka", "9.9"], "9.9"),
        (["min-isr-1", "--topic", "orders"], "--topic is about a cluster: give --bootstrap-server too"),
    ],
)
def test_what_cannot_be_demonstrated_is_told_before_a_broker_starts(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    runs = str(tmp_path_factory.mktemp("runs"))
    assert main(["audit", "--runs-dir", runs, "--demonstrate", *options]) == 2
    assert told in capsys.readouterr().err


def test_options_of_a_demonstration_are_refused_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--bootstrap-server", "b:9092", "--backend", "process"]) == 2
    assert "--backend is about the runs of --demonstrate" in capsys.readouterr().err
