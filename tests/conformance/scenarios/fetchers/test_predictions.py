"""FE-01 … FE-05: what is predicted, in numbers, and that it is predicted on every release."""

from __future__ import annotations

from conformance.examining.connections import ConnectionCounts
from conformance.examining.lag import LagGauge, gauge_of
from conformance.examining.partition_order import PartitionOrder
from conformance.examining.stale_answers import OvertakenAnswer, _anchor
from conformance.registry import EXAMINATIONS
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode

OLDEST = rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)
NEWEST = rules_for("4.3.1", MetadataMode.KRAFT)


def test_the_catalogue_has_them() -> None:
    names = {entry.name for entry in EXAMINATIONS}

    assert {"FE-01", "FE-02", "FE-03", "FE-03/sessions", "FE-04/offset", "FE-05"} <= names


def test_connections() -> None:
    predicted = {answer.what: answer.value for answer in ConnectionCounts().predict(OLDEST)}

    assert [predicted[f"connections of broker {b} while it follows nothing"] for b in (1, 2, 3)] == [0, 0, 0]
    assert [predicted[f"connections of broker {b} with lone alone"] for b in (1, 2, 3)] == [0, 1, 0]
    assert [predicted[f"connections of broker {b} with everything"] for b in (1, 2, 3)] == [6, 6, 6]
    assert predicted["open from 2 to 3 at the gate"] == 3


def test_turns() -> None:
    predicted = {answer.what: answer.value for answer in PartitionOrder(fetch_sessions=False).predict(OLDEST)}

    assert predicted["partitions of fetcher 0"] == [2, 5, 8]
    assert predicted["fetcher 0: whose records came, answer by answer"] == [0, 1, 2] * 3
    orders = predicted["fetcher 0: order of the partitions, request by request"]
    assert orders == [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 3 + [[0, 1, 2]]
    assert predicted["log end offsets at the follower"] == [3] * 9


def test_a_session_does_not_show_the_order() -> None:
    predicted = {answer.what: answer.value for answer in PartitionOrder(fetch_sessions=True).predict(NEWEST)}

    assert predicted["fetcher 1: whose records came, answer by answer"] == [0, 1, 2] * 3
    assert not [what for what in predicted if "order" in what]


def test_before_3_0_a_session_moves_a_partition_for_its_high_watermark() -> None:
    old = PartitionOrder(fetch_sessions=True).predict(rules_for("2.8.2", MetadataMode.ZOOKEEPER))

    assert old[1].value == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_lag() -> None:
    predicted = [answer.value for answer in LagGauge().predict(OLDEST)]

    assert predicted == [0, [5, 1, 4], [5, 2, 3], [5, 3, 2], [5, 4, 1], [5, 5, 0], [5, 6, 0]]
    assert gauge_of("lag", 0, 1) == (
        "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=ReplicaFetcherThread-2-1,topic=lag,partition=0"
    )


def test_the_anchor_is_on_the_fetcher_that_is_overtaken() -> None:
    assert _anchor() == [(1, 2)] * 3


def test_no_release_does_otherwise() -> None:
    for subject in (ConnectionCounts(), PartitionOrder(fetch_sessions=False), LagGauge(), OvertakenAnswer()):
        assert subject.predict(OLDEST) == subject.predict(NEWEST)
        assert len(subject.steps()) >= 4
