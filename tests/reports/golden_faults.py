"""Which runs show lossy disks, a controller that is not heard, lag time, and an open race?

Numbers and events as real brokers showed them: 3.9.2 (disk, lag), 0.10.2.2 (checkpoint, race), 2.8.2 (controller).
"""

from __future__ import annotations

from tests.reports.golden_runs import counts, described, judged
from tests.reports.golden_steps import down, hold, killed, rows_to_steps, started, up
from tests.reports.golden_writer import GoldenRecord, GoldenRun, predicted_record


def lost_tail() -> GoldenRun:
    """EL-06 on 3.9.2: the last replica in sync forgets m1 and m2 and is elected again."""
    lost = (0.5, "tail_lost", "1", "broker 1 lost offsets 1 to 2 of conformance-el06-0")
    elected = (0.9, "leader_elected", "1")
    steps = rows_to_steps(
        (
            ({"produce": {"records": ["m0", "m1", "m2"]}}, 0.4, (up(3, 3), up(3, 3)), 1, 0, [1, 2], ()),
            ({"stop": 2}, 0.9, (up(3, 3), down(3, 3)), 1, 0, [1], ((0.1, "broker_stopped", "2"),)),
            ({"kill": 1}, 2.1, (down(3, 3), down(3, 3)), None, 1, [1], (killed(1),)),
            ({"lose_tail": {"broker": 1, "offset": 1}}, 0.1, (down(1, 1), down(3, 3)), None, 1, [1], (lost,)),
            ({"start": 1}, 1.9, (up(1, 1), down(3, 3)), 1, 2, [1], (started(1), elected)),
            ({"start": 2}, 1.7, (up(1, 1), up(1, 1)), 1, 2, [1, 2], (started(2),)),
            ({"checkpoint": "the end"}, 0.4, (up(1, 1), up(1, 1)), 1, 2, [1, 2], ()),
        )
    )
    decided = (
        "cut on broker 1 at step 4 (lose_tail 1) by tail-lost; cut on broker 2 at step 6 (start 2) by truncate-on-fetch"
    )
    gone = [GoldenRecord(m, "lost", None, None, at, promise="broken", decided_by=decided) for m, at in _TAIL]
    return GoldenRun(
        run=described("EL-06", "3.9.2", "kraft", 30.0),
        verdict=judged("EL-06", "3.9.2", "kraft", "CONFORMS", "BROKEN_AS_PREDICTED", "m1, m2 lost"),
        steps=steps,
        records=(GoldenRecord("m0", "present", 0, 0, 0), *gone),
        logs={broker: [("m0", 0)] for broker in (1, 2)},
        counts=counts(kept=1, lost=2),
    )


_TAIL = (("m1", 1), ("m2", 2))


def lost_checkpoint() -> GoldenRun:
    """A follower of 0.10.2.2 forgets its high watermark, and so cuts its whole log when it is back."""
    lost = (0.5, "checkpoint_lost", "2", "broker 2 lost the high watermark 2 of conformance-tr01-0")
    steps = rows_to_steps(
        (
            ({"produce": {"records": ["m0", "m1"]}}, 0.4, (up(2, 2), up(2, 2)), 1, 0, [1, 2], ()),
            ({"kill": 2}, 2.1, (up(2, 2), down(2, 2)), 1, 1, [1], (killed(2),)),
            ({"lose_checkpoint": 2}, 0.1, (up(2, 2), down(2, 0)), 1, 1, [1], (lost,)),
            ({"start": 2}, 2.2, (up(2, 2), up(2, 2)), 1, 1, [1, 2], (started(2),)),
            ({"checkpoint": "the end"}, 0.4, (up(2, 2), up(2, 2)), 1, 1, [1, 2], ()),
        )
    )
    return GoldenRun(
        run=described("TR-01", "0.10.2.2", "zookeeper", 25.0),
        verdict=judged("TR-01", "0.10.2.2", "zookeeper", "CONFORMS", "KEPT", "as predicted"),
        steps=steps,
        records=(GoldenRecord("m0", "present", 0, 0, 0), GoldenRecord("m1", "present", 1, 1, 1)),
        logs={broker: [("m0", -1), ("m1", -1)] for broker in (1, 2)},
        counts=counts(kept=2, lost=0),
    )


def zombie_leader() -> GoldenRun:
    """Broker 2 of 2.8.2 does not hear that broker 1 leads, and goes on: z0 is cut when it does."""
    unreachable = {"hold": {"name": "deaf", "point": "leader_and_isr", "broker": 2}}
    asked = (0.05, "election_requested", "preferred", "preferred election requested")
    elected = (0.6, "leader_elected", "1")
    both = [1, 2]
    steps = rows_to_steps(
        (
            (unreachable, 0.2, (up(0, 0), up(0, 0)), 2, 1, both, ()),
            (
                {"elect": "preferred"},
                0.7,
                (up(0, 0), up(0, 0)),
                1,
                2,
                both,
                (asked, (0.1, "hold_caught", "deaf"), elected),
            ),
            ({"await_hold": "deaf"}, 0.1, (up(0, 0), up(0, 0)), 1, 2, both, ()),
            ({"produce": {"records": ["z0"], "acks": 1, "leader": 2}}, 2.1, (up(0, 0), up(1, 0)), 1, 2, both, ()),
            ({"produce": {"records": ["m0"], "expect": "pending"}}, 0.2, (up(1, 0), up(1, 0)), 1, 2, both, ()),
            ({"release": "deaf"}, 0.9, (up(1, 1), up(1, 1)), 1, 2, both, ((0.1, "hold_released", "deaf"),)),
            ({"checkpoint": "broker 2 has cut"}, 0.4, (up(1, 1), up(1, 1)), 1, 2, both, ()),
        )
    )
    return GoldenRun(
        run=described("TR-02", "2.8.2", "zookeeper", 37.0),
        verdict=judged("TR-02", "2.8.2", "zookeeper", "CONFORMS", "ALLOWED_BY_SETTINGS", "z0 lost"),
        steps=steps,
        records=(GoldenRecord("z0", "lost", None, None, 0, acks=1), GoldenRecord("m0", "present", 0, 0, 0)),
        logs={broker: [("m0", 2)] for broker in (1, 2)},
        counts=counts(kept=1, lost=1),
    )


def lag() -> GoldenRun:
    """Broker 2 of 3.9.2 does not fetch while the lag time passes, and leaves the ISR."""
    caught = ((0.6, "hold_caught", "second"),)
    steps = rows_to_steps(
        (
            ({"produce": {"records": ["m0"]}}, 0.4, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
            (hold("second", "fetch_request", 2, 1, 1), 0.2, (up(1, 1), up(1, 1)), 1, 0, [1, 2], caught),
            ({"await_lag": [2]}, 5.5, (up(1, 1), up(1, 1)), 1, 0, [1], ()),
            ({"release": "second"}, 0.2, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ((0.1, "hold_released", "second"),)),
            ({"checkpoint": "the end"}, 0.4, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
        )
    )
    return GoldenRun(
        run=described("HW-03", "3.9.2", "kraft", 29.2),
        verdict=judged("HW-03", "3.9.2", "kraft", "CONFORMS", "KEPT", "as predicted"),
        steps=steps,
        records=(GoldenRecord("m0", "present", 0, 0, 0),),
        logs={broker: [("m0", 0)] for broker in (1, 2)},
        counts=counts(kept=1, lost=0),
    )


FIRST = "step 1 (produce m0): leader 1 answers broker 2's parked fetch before broker 3's fetch reaches leader 1"
SECOND = "step 1 (produce m0): broker 3's fetch reaches leader 1 before leader 1 answers broker 2's parked fetch"


def open_race(*, is_measured: bool = True) -> GoldenRun:
    """m0 is lost or kept on 0.10.2.2, as two frames overtake each other; the brokers kept it."""
    steps = rows_to_steps(
        (
            ({"produce": {"records": ["m0"]}}, 0.4, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
            ({"checkpoint": "the end"}, 0.4, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
        )
    )
    kept = predicted_record(0, GoldenRecord("m0", "present", 0, 0, 0))
    same = predicted_record(1, GoldenRecord("m1", "absent", None, None, None, outcome="refused"))
    alternatives = [
        {"race": [FIRST], "raced_steps": [0], "records": [kept | {"fate": "lost", "offset": None}, same]},
        {"race": [SECOND], "raced_steps": [0], "records": [kept, same]},
    ]
    reason = f"4 numbers and 1 record as predicted, outcome 2 of 2: {SECOND}"
    return GoldenRun(
        run=described("TR-03", "0.10.2.2", "zookeeper", 29.8) | {"run": f"race-{is_measured}"},
        verdict=judged("TR-03", "0.10.2.2", "zookeeper", "CONFORMS", "KEPT", reason),
        steps=steps,
        records=(GoldenRecord("m0", "present", 0, 0, 0),),
        logs={broker: [("m0", -1)] for broker in (1, 2)},
        counts=counts(kept=1, lost=0),
        open_race={"alternatives": alternatives, "races": ["record m0 is lost or present at offset 0"]},
        measured_outcome={"number": 2, "of": 2, "race": [SECOND]} if is_measured else None,
    )
