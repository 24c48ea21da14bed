"""Does the page of a soak say what happened, in words and as a picture, and stay small at 10^8 records?"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from conformance.record.directory import RunDirectoryError
from conformance.record.soak_counted import ClassCounted, Control
from conformance.record.soak_course import LedState, PartitionCourse
from conformance.record.soak_faults import FaultKind, FaultTimeline, PlannedFault
from conformance.record.soak_verdict import FaultsOfSoak, SoakVerdict
from conformance.record.timeline import Event, TimelineMark
from conformance.record.verdict import VERDICT_FILE, Conformance, PromiseKept
from oracle.vocabulary import RangeFate
from reports.soak_page import write_soak_page
from reports.soak_picture import LANES_MAX, shown_partitions
from tests.reports.soak_runs import (
    BEGAN_NS,
    KEPT,
    LOSING,
    S,
    SoakFiles,
    asked,
    batch,
    counted_in,
    counted_of,
    flowing,
    killed,
    ranged,
)

if TYPE_CHECKING:
    from pathlib import Path

HOUR_S = 3600.0
PAGE_MAX = 2 * 10**6
PRESENT, LOST, EITHER = RangeFate.PRESENT, RangeFate.LOST, RangeFate.EITHER


def big() -> SoakFiles:
    """Return an hour of 10^8 records in 200 partitions, with 360 faults and 400 lost and open ranges."""
    each, partitions = 500_000, 200
    states = tuple(
        LedState(at * HOUR_S / 20, 1 + at % 3, at, (1, 2, 3) if at % 2 else (1 + at % 3, 3)) for at in range(20)
    )
    ranges = [
        row
        for number in range(partitions)
        for row in (
            ranged(number, 0, 0, 249_999, PRESENT),
            ranged(
                number, 0, 250_000 + 3 * number, 250_400 + 3 * number, LOST, "leader epoch 1 began at offset 250000"
            ),
            ranged(number, 1, 250_000, each - 1, PRESENT),
            ranged(number, 1, 400_000, 400_003, EITHER, "leader epoch 2 began at offset 400000, or later"),
        )
    ]
    classes = {"kept": ClassCounted(each - 405), "lost": ClassCounted(401), "indeterminate_present": ClassCounted(0, 4)}
    verdict = SoakVerdict(
        Conformance.CONFORMS, PromiseKept.ALLOWED_BY_SETTINGS, "80,200 records are lost", (), FaultsOfSoak(360, 360)
    )
    return SoakFiles(
        soak=asked(partitions=partitions, records=10**8, ends=(each,) * partitions, ended_ns=BEGAN_NS + 3600 * S),
        counted=counted_of(*(counted_in(number, each, classes) for number in range(partitions))),
        verdict=verdict,
        course=flowing(partitions, HOUR_S, 27_777, states),
        faults=FaultTimeline(tuple(PlannedFault(10.0 * at, FaultKind.KILL, 4.0) for at in range(360)), 7),
        marks=tuple(mark for at in range(360) for mark in killed(1 + at % 3, 10.0 * at, 4.0)),
        ranges=tuple(ranges),
        batches=tuple(batch(at % partitions, 0, 250_000, 400, "acknowledged", 1, LOST) for at in range(partitions)),
    )


def _page(files: SoakFiles, runs: Path) -> str:
    return write_soak_page(files.write(runs)).read_text()


def _text(page: str) -> str:
    """Return the words of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.partition("</style>")[2]))


def test_a_soak_that_kept_everything_says_so_first(tmp_path: Path) -> None:
    page = _page(KEPT, tmp_path)

    assert "<h1>Every acknowledged record is there, as predicted</h1>" in page
    assert "All 1,894 acknowledged records are there." in page
    assert "None: what was acknowledged is predicted to be there, in every partition." in page
    assert "Against the prediction" in page
    assert 'class="tag bad"' not in page


def test_it_is_one_file_that_fetches_nothing(tmp_path: Path) -> None:
    page = _page(LOSING, tmp_path)

    assert "<script" not in page
    assert re.findall(r"https?://|url\(|src=", page) == []


def test_what_was_asked_can_be_asked_again(tmp_path: Path) -> None:
    text = _text(_page(replace(KEPT, soak=asked(is_idempotent=True, rate=500)), tmp_path))

    assert "0.10.2.2 ZooKeeper" in text
    for option in ("--kafka 0.10.2.2/zookeeper", "--records 2000", "--rate 500", "--acks mixed", "--seed 7"):
        assert option in text
    assert "--faults faults.json --idempotent" in text
    assert "--duration" not in text


def test_faults_that_were_drawn_are_drawn_again(tmp_path: Path) -> None:
    drawn = asked(seed=3, every_s=20.0, is_provoking=True)
    text = _text(_page(replace(KEPT, soak=drawn), tmp_path))

    assert "--seed 3 --faults 7 --every 20s --provoke" in text


def test_what_is_against_the_prediction_is_marked_and_named(tmp_path: Path) -> None:
    page = _page(LOSING, tmp_path)

    assert "<h1>The brokers did something that is not predicted of their release</h1>" in page
    assert '<span class="tag bad">10</span>' in page
    assert '<span class="tag bad">against the prediction</span>' in page
    assert page.index('<th scope="row">moved</th>') < page.index('<th scope="row">lost</th>'), "that is told first"
    assert "78 of partition 0" in page
    assert "40 of 1,894 acknowledged records are lost." in page


def test_what_was_never_sent_was_not_refused(tmp_path: Path) -> None:
    text = _text(_page(LOSING, tmp_path))

    assert "Records sent 1,896 in 20.0 s" in text
    assert "Refused 0 " in text
    assert "4 records were written down and not sent" in text
    assert "Errors told to producers NOT_LEADER_FOR_PARTITION 12" in text


def test_lost_and_open_ranges_are_told_with_who_was_promised_what(tmp_path: Path) -> None:
    page = _page(LOSING, tmp_path)
    text = _text(page)

    assert "lost 300 to 339 40 0 1 25 with acks=1, 15 with acks=all Leader epoch 1 began at offset 300" in text
    assert "open 340 to 359 20 0 1 none" in text
    assert re.findall(r'<rect class="(lost|open)"', page) == ["lost", "open"]
    assert "nothing 1 either 1 3" in text


def test_replicas_that_are_alike_are_told_with_how_many_were_read(tmp_path: Path) -> None:
    text = _text(_page(KEPT, tmp_path))

    assert "6 logs of replicas, 1.2 MB, read from the brokers' disks at rest" in text
    assert "120 batches are the same on every replica" in text
    assert "offsets at which two replicas differ, against the prediction 0" in text
    assert "a tail is lost 0" in text


def test_replicas_that_differ_are_told_by_what_was_predicted_of_them(tmp_path: Path) -> None:
    page = _page(LOSING, tmp_path)
    text = _text(page)

    assert "5 logs of replicas, 912 bytes" in text
    assert "offsets at which two replicas differ, as predicted 28" in text
    assert "0 2, 3 differ, against the prediction 700 to 702 3 The same record on both" in text
    assert "0 1, 2 differ, as predicted 285 to 312 28 Broker 1 has records of leader epoch 0" in text
    assert "4 more ranges are in" in text
    assert "the log of broker 3 ends at offset 890, 10 records below the high watermark" in text
    assert (
        "on broker 2 the batch with offsets 412 to 418 has rotted, in 00000000000000000000.log from byte 40,310" in text
    )
    assert "Not read: partition 1 has 3 replicas" in text


def test_replicas_that_were_not_compared_are_told(tmp_path: Path) -> None:
    verdict = replace(KEPT.verdict, replicas=None)
    files = replace(KEPT, verdict=verdict, counted=replace(KEPT.counted, replicas=None))

    assert "not compared Nothing is known of the replicas" in _text(_page(files, tmp_path))


def test_the_picture_shows_faults_as_marks_with_their_numbers(tmp_path: Path) -> None:
    words = "brokers 2 and 3 do not hear each other"
    both_ways = [
        TimelineMark(Event.LINK_CUT, f"{one}", words, BEGAN_NS + 9 * S, follower=one, leader=other)
        for one, other in ((2, 3), (3, 2))
    ]
    caught = TimelineMark(
        Event.HOLD_CAUGHT, "soak hold 1", "", BEGAN_NS + 12 * S, follower=2, leader=3, point="fetch_response"
    )
    text = _text(_page(replace(KEPT, marks=(*KEPT.marks, *both_ways, caught)), tmp_path))

    assert "What was done to the brokers: 3" in text
    assert "1 5.0 s 3.0 s broker 1 killed (kill -9)" in text
    assert "2 9.0 s to the end brokers 2 and 3 do not hear each other" in text
    assert "a fetch of broker 2 from broker 3 is held: its answer" in text
    assert "No record was acknowledged for 2.5 s, from 7.5 s on." in text


def test_lanes_show_who_led_and_who_was_out_of_sync(tmp_path: Path) -> None:
    states = (
        LedState(0.0, 1, 0, (1, 2, 3)),
        LedState(5.0, 2, 1, (2, 3), states=4),
        LedState(12.0, None, 2, (3,)),
    )
    page = _page(replace(KEPT, course=flowing(2, 20.0, 100, states)), tmp_path)

    assert ">2, without 1</text>" in page
    assert "from 5.0 s: 4 changes, at last: broker 2 leads, leader epoch 1; in sync: 2, 3</title>" in page
    assert page.count('<rect class="leaderless"') == 2
    assert page.count('<rect class="unsynced"') == 2


def test_partitions_with_losses_are_shown_where_there_are_too_many() -> None:
    calm = [PartitionCourse(number, (LedState(0.0, 1, 0, (1, 2, 3)),)) for number in range(300)]
    shown = [one.partition for one in shown_partitions(calm, {222, 299})]

    assert len(shown) == LANES_MAX
    assert shown[-2:] == [222, 299]
    assert shown[:2] == [0, 1]


def test_what_did_not_go_as_planned_and_never_came_is_told(tmp_path: Path) -> None:
    text = _text(_page(LOSING, tmp_path))

    assert "What did not go as planned a frame that was lain in wait for never came" in text
    assert "1 that were planned" in text
    assert "44.0 s every broker is stopped and started again 1 s later" in text


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (replace(KEPT, violation="frame 7 says <what> it must not"), "no frame 7 says &lt;what&gt; it must not"),
        (replace(KEPT, why_not="the wire is cut"), "none: the wire is cut"),
        (replace(KEPT, course=None), "Nothing is known of it."),
        (replace(KEPT, counted=counted_of(cross_check=("lost: 3",))), "otherwise lost: 3"),
        (replace(KEPT, counted=counted_of(identity_holds=False)), "no rows of the ledgers"),
        (replace(KEPT, counted=counted_of(control=Control(9, 8, 7, 1))), "not as the blocks say , which is 7"),
        (replace(KEPT, counted=counted_of(control=None, cross_check=None)), "Counted again by DuckDB not asked for"),
    ],
)
def test_what_it_rests_on_says_what_is_wrong(files: SoakFiles, words: str, tmp_path: Path) -> None:
    assert words in _text(_page(files, tmp_path))


def test_texts_are_escaped(tmp_path: Path) -> None:
    nasty = "<b>&\x07"
    files = replace(
        LOSING,
        soak=asked(topic=nasty, faults=nasty),
        verdict=replace(LOSING.verdict, reason=nasty, findings=(nasty,), faults=FaultsOfSoak(notes=(nasty,))),
        marks=tuple(killed(1, 5.0, 3.0, nasty)),
        ranges=(ranged(0, 0, 0, 9, LOST, nasty),),
    )
    page = _page(files, tmp_path)

    assert "<b>" not in page
    assert "\x07" not in page
    assert page.count("&lt;b&gt;&amp;") >= 7


def test_an_empty_soak_has_a_page(tmp_path: Path) -> None:
    files = SoakFiles(
        soak=asked(records=None, duration_s=5, ends=(), ended_ns=None, faults="none"),
        counted=counted_of(),
        verdict=SoakVerdict(Conformance.INCONCLUSIVE, PromiseKept.NO_PROMISE, "nothing was sent", (), FaultsOfSoak()),
        course=flowing(2, 0.5, 0),
    )
    text = _text(_page(files, tmp_path))

    assert "This soak decides nothing" in text
    assert "No record was attempted, and none is there." in text
    assert "--duration 5s" in text
    assert "--faults none" in text


def test_an_hour_of_a_hundred_million_records_is_a_small_page(tmp_path: Path) -> None:
    page = _page(big(), tmp_path)
    text = _text(page)

    assert len(page) < PAGE_MAX
    assert "Records sent 100,000,000 in 60 min 0 s" in text
    assert "160 more partitions are not shown" in text
    assert "340 more ranges are in prediction/ranges.parquet" in text
    numbers = [float(x) for x in re.findall(r'<text x="([\d.]+)" y="32"', page)]
    assert min(after - before for before, after in pairwise(numbers)) >= 15


def test_a_soak_without_a_verdict_has_no_page(tmp_path: Path) -> None:
    run = KEPT.write(tmp_path)
    (run.path / VERDICT_FILE).unlink()

    with pytest.raises(RunDirectoryError, match=VERDICT_FILE):
        write_soak_page(run)
