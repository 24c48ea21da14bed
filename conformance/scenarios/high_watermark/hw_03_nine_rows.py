"""How does one record move every log end offset and high watermark, row by row (documents 001 and 002)?"""

from __future__ import annotations

from conformance.catalogue.scenario import QUICK, Scenario
from conformance.scenarios.vocabulary import (
    await_hold,
    await_outcome,
    brokers,
    checkpoint,
    hold_request,
    hold_response,
    produce,
    release,
)
from oracle.schedule import Schedule
from oracle.vocabulary import Expectation

NINE_ROWS = Scenario(
    name="HW-03",
    profiles=QUICK,
    explanation=(
        "Five distinct states of the nine-row table stand still in turn. Rows 2/3, 4/5 and 7/8 differ only in "
        "where the frame is; row 6 lies inside one call of the leader and is inferred from the next state."
    ),
    schedule=Schedule(
        id="high-watermark/nine-rows-of-one-record",
        requirement=(
            "One produced record moves leader LEO, follower LEO, remote LEO, leader HW and follower HW in that "
            "order, one half round trip at a time."
        ),
        sources=("HW-03", "HW-01", "HW-04", "HW-05", "HW-06", "001", "002"),
        replicas=brokers(1, 2),
        steps=(
            hold_request("first fetch", follower=2, leader=1, fetch_offset=0),
            await_hold("first fetch"),
            checkpoint("row 1: nothing produced"),
            produce("m0", expect=Expectation.PENDING),
            checkpoint("rows 2-3: the leader has appended"),
            hold_request("second fetch", follower=2, leader=1, fetch_offset=1),
            release("first fetch"),
            await_hold("second fetch"),
            checkpoint("rows 4-5: the follower has appended, the leader does not know"),
            hold_response("second answer", follower=2, leader=1, fetch_offset=1),
            release("second fetch"),
            await_hold("second answer"),
            await_outcome("m0", expect=Expectation.ACKNOWLEDGED),
            checkpoint("rows 6-8: the leader has committed, the follower does not know"),
            release("second answer"),
            checkpoint("row 9: the follower knows"),
        ),
    ),
)

SCENARIOS = (NINE_ROWS,)
