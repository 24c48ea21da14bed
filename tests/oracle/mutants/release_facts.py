"""Which mistakes are about what a release has at all? Mutants of its requests, defaults, sessions and broker epochs."""

from __future__ import annotations

from oracle.rules import consumers, fencing, request_versions, unclean_election
from oracle.rules.request_versions import RequestVersions
from oracle.steps.topic import DeleteRecords
from oracle.vocabulary import Offset
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields, with_requests
from tests.oracle.mutants.questions import (
    examined,
    is_predicted,
    newest_fetch_that_may_be_seen,
    waits_for_what_is_not_there,
)
from tests.oracle.schedules import produce, schedule
from tests.oracle.spoken_versions import spoken_otherwise

FOLLOWED = [[0], [0, 0, [1, 2]], [[5, 0]]]
OBEYED = [*FOLLOWED, [0], [0], [0], [0], "none", [6, None], [0, 0, [1, 2, 3]], [0, 11], [6, None]]
REFUSED = [*FOLLOWED, [0], [77], [77], [77], "all", [0, 0], [1, 0, [1, 2]], [0], [6, None]]
"""What a broker answers whose controller means an earlier start of it, and what is left of its replica."""
IN_TURN, OUT_OF_TURN = [0, 1, 2, 0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0, 2, 0, 1]
DELETING = schedule(produce("m0"), DeleteRecords(Offset(1)))


def turns(order: list[int]) -> list[object]:
    """Return what three fetchers of nine partitions with three records show if each goes in this order."""
    return [*(part for fetcher in (2, 1, 0) for part in ([fetcher, fetcher + 3, fetcher + 6], order, 1)), [3] * 9]


MUTANTS = (
    Mutant(
        "answers-no-newer-version",
        "request_versions",
        "every release answers and sends what none knows",
        Answer(spoken_otherwise, []),
        with_fields(requests=RequestVersions()),
    ),
    Mutant(
        "answers-the-oldest-versions",
        "request_versions",
        "4.0 answers the oldest requests",
        Answer(spoken_otherwise, []),
        patches={"oracle.rules.request_versions.OLDEST_SINCE_KIP_896": request_versions.OLDEST},
    ),
    Mutant(
        "knows-what-comes-next",
        "request_versions",
        "a release that is newer than the table sends what the newest known one sends",
        Answer(newest_fetch_that_may_be_seen("4.5.0-kraft"), 1000),
        with_requests(may_be_newer=False),
    ),
    Mutant(
        "deletes-no-records",
        "request_versions",
        "0.11 does not know DeleteRecords",
        Answer(is_predicted("0.11.0.3", DELETING), True),
        with_requests(deletes_records=False),
    ),
    Mutant(
        "deletes-records",
        "request_versions",
        "0.10.2 knows DeleteRecords",
        Answer(is_predicted("0.10.2.2", DELETING), False),
        with_requests(deletes_records=True),
    ),
    Mutant(
        "obeys-what-was-meant-for-an-earlier-start",
        "fencing.EARLIER_START_REFUSED",
        "2.2 obeys a request that was meant for an earlier start of the broker",
        Answer(examined("RM-01/broker-epoch", "2.2.2"), REFUSED),
        with_fields(takes_request_of_start=fencing.for_any_start),
    ),
    Mutant(
        "refuses-what-was-meant-for-an-earlier-start",
        "fencing.EARLIER_START_REFUSED",
        "2.1 refuses a request that was meant for an earlier start of the broker",
        Answer(examined("RM-01/broker-epoch", "2.1.1"), OBEYED),
        with_fields(takes_request_of_start=fencing.for_this_start),
    ),
    Mutant(
        "lets-a-fetch-beyond-the-end-wait",
        "consumers.BEYOND_END_AT_ONCE",
        "3.8 lets a consumer's fetch beyond the high watermark wait",
        Answer(waits_for_what_is_not_there("3.8.1"), [False, True, False, True]),
        with_fields(answers_fetch_at_once=consumers.beyond_end_waits),
    ),
    Mutant(
        "answers-a-fetch-beyond-the-end",
        "consumers.BEYOND_END_AT_ONCE",
        "3.7 answers a consumer's fetch beyond the high watermark at once",
        Answer(waits_for_what_is_not_there("3.7.2"), [False, True, True, True]),
        with_fields(answers_fetch_at_once=consumers.beyond_end_at_once),
    ),
    Mutant(
        "moves-what-gave-no-records",
        "consumers.EVERY_ANSWERED_MOVES",
        "3.0 moves a partition to the end that gave no records",
        Answer(examined("FE-03/sessions", "3.0.2"), turns(IN_TURN)),
        with_fields(moves_in_session=consumers.every_answered_moves),
    ),
    Mutant(
        "moves-only-what-gave-records",
        "consumers.EVERY_ANSWERED_MOVES",
        "2.8 leaves a partition in its place that gave no records",
        Answer(examined("FE-03/sessions", "2.8.2"), turns(OUT_OF_TURN)),
        with_fields(moves_in_session=consumers.gave_records_moves),
    ),
    Mutant(
        "allows-unclean-elections-unasked",
        "unclean_election.ON_REQUEST_ONLY",
        "0.11 allows unclean elections where nobody has set them",
        Answer(examined("EL-05", "0.11.0.3"), [None, 1, 2]),
        with_fields(allows_unclean_election=unclean_election.allowed_unless_set),
    ),
    Mutant(
        "forbids-unclean-elections-unasked",
        "unclean_election.ON_REQUEST_ONLY",
        "0.10.2 forbids unclean elections where nobody has set them",
        Answer(examined("EL-05", "0.10.2.2"), [2, 2, 1]),
        with_fields(allows_unclean_election=unclean_election.forbidden_unless_set),
    ),
    Mutant(
        "has-the-feature-unasked",
        "eligible_leaders.KIP_966",
        "4.0 has eligible leader replicas without being formatted with them",
        Answer(examined("EL-06/other-level", "4.0.2-kraft"), [None, [], [3], 3, 3]),
        with_fields(has_eligible_by_default=True),
    ),
    Mutant(
        "lacks-the-feature-unasked",
        "eligible_leaders.KIP_966",
        "4.1 has no eligible leader replicas without being formatted with them",
        Answer(examined("EL-06/other-level", "4.1.2-kraft"), [1, [1], [], 1, 1]),
        with_fields(has_eligible_by_default=False),
    ),
    Mutant(
        "tells-again-what-was-not-taken",
        "fetch_sessions.TOLD_ONCE",
        "3.4.1 tells a high watermark again that a diverging follower left alone",
        Story("told-once-on-3.4.1"),
        with_fields(tells_once=False),
    ),
    Mutant(
        "names-its-epoch-in-a-session",
        "fetch_sessions.NAMES_NO_EPOCH",
        "2.4 looks at the epoch in a fetch of a session",
        Story("kafka-9338-on-2.4"),
        with_fields(session_names_epoch=True),
    ),
    Mutant(
        "names-no-epoch-in-a-session",
        "fetch_sessions.NAMES_NO_EPOCH",
        "2.5 does not look at the epoch in a fetch of a session",
        Story("kafka-9338-on-2.5"),
        with_fields(session_names_epoch=False),
    ),
)
