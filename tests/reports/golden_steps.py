"""How did the golden runs go, step by step? Numbers and events as real brokers showed them."""

from __future__ import annotations

from typing import Any

from tests.reports.golden_writer import Event, GoldenStep, Replica

Row = tuple[dict[str, Any], float, tuple[Replica, ...], int | None, int, list[int], tuple[Event, ...]]


def rows_to_steps(rows: tuple[Row, ...]) -> tuple[GoldenStep, ...]:
    """Number the replicas from 1."""
    return tuple(
        GoldenStep(what, seconds, dict(enumerate(replicas, start=1)), leader, epoch, isr, events)
        for what, seconds, replicas, leader, epoch, isr, events in rows
    )


def truncation_steps(after_restart: tuple[int, int], fetch_offset: int) -> tuple[GoldenStep, ...]:
    """TR-01: the follower restarts with this log end offset and high watermark, then leads."""
    end = after_restart[0]
    down_1, down_2 = (2, 2, False), (2, 1, False)
    back = (*after_restart, True)
    refetch = {"name": "refetch", "point": "fetch_request", "follower": 2, "leader": 1, "fetch_offset": fetch_offset}
    gap = {"name": "gap", "point": "fetch_response", "follower": 2, "leader": 1, "fetch_offset": 2}

    def step(what: dict[str, Any], seconds: float, one: Any, two: Any, *rest: Any) -> GoldenStep:  # noqa: ANN401
        leader, epoch, isr, *events = rest
        return GoldenStep(what, seconds, {1: one, 2: two}, leader, epoch, isr, tuple(events))

    both = (1, 0, [1, 2])
    alone = (1, 0, [1])
    unclean = (2, 1, [2])
    return (
        step({"produce": {"records": ["m0"], "acks": "all"}}, 0.4, (1, 1, True), (1, 1, True), *both),
        step({"hold": gap}, 0.1, (1, 1, True), (1, 1, True), *both),
        step(
            {"produce": {"records": ["m1"], "acks": "all"}},
            0.3,
            (2, 2, True),
            (2, 1, True),
            *both,
            (0.6, "hold_caught", "gap"),
        ),
        step({"await_hold": "gap"}, 0.1, (2, 2, True), (2, 1, True), *both),
        step({"checkpoint": "follower has m1 but not the high watermark"}, 0.5, (2, 2, True), (2, 1, True), *both),
        step(
            {"kill": 2},
            2.4,
            (2, 2, True),
            down_2,
            *alone,
            (0.0, "broker_killed", "2"),
            (0.01, "hold_discharged", "gap"),
        ),
        step({"hold": refetch}, 0.1, (2, 2, True), down_2, *alone),
        step(
            {"start": 2}, 3.1, (2, 2, True), back, *alone, (0.3, "broker_started", "2"), (0.9, "hold_caught", "refetch")
        ),
        step({"checkpoint": "follower restarted"}, 0.4, (2, 2, True), back, *alone),
        step(
            {"kill": 1},
            2.6,
            down_1,
            (end, end, True),
            *unclean,
            (0.0, "broker_killed", "1"),
            (0.02, "hold_discharged", "refetch"),
            (0.9, "leader_elected", "2"),
        ),
        step({"await_leader": 2}, 0.1, down_1, (end, end, True), *unclean),
        step({"start": 1}, 2.9, (end, end, True), (end, end, True), 2, 1, [1, 2], (0.3, "broker_started", "1")),
        step({"await_isr": [1, 2]}, 0.2, (end, end, True), (end, end, True), 2, 1, [1, 2]),
        step({"produce": {"records": ["m2"]}}, 0.2, (end + 1, end + 1, True), (end + 1, end + 1, True), 2, 1, [1, 2]),
        step({"checkpoint": "end"}, 0.4, (end + 1, end + 1, True), (end + 1, end + 1, True), 2, 1, [1, 2]),
    )


def divergence_steps() -> tuple[GoldenStep, ...]:
    """TR-03: the replicas crash in turn, the one that is behind comes back first."""
    return rows_to_steps(
        (
            ({"produce": {"records": ["m0"]}}, 0.3, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
            ({"kill": 2}, 2.2, (up(1, 1), down(1, 1)), 1, 0, [1], (killed(2),)),
            ({"produce": {"records": ["m1"]}}, 0.2, (up(2, 2), down(1, 1)), 1, 0, [1], ()),
            ({"checkpoint": "m1 is on broker 1 alone"}, 0.4, (up(2, 2), down(1, 1)), 1, 0, [1], ()),
            ({"kill": 1}, 2.1, (down(2, 2), down(1, 1)), None, 1, [1], (killed(1),)),
            ({"start": 2}, 2.7, (down(2, 2), up(1, 1)), 2, 2, [2], (started(2), (0.9, "leader_elected", "2"))),
            ({"produce": {"records": ["x1"]}}, 0.2, (down(2, 2), up(2, 2)), 2, 2, [2], ()),
            ({"start": 1}, 2.6, (up(2, 2), up(2, 2)), 2, 2, [1, 2], (started(1),)),
            ({"await_isr": [1, 2]}, 0.2, (up(2, 2), up(2, 2)), 2, 2, [1, 2], ()),
            ({"produce": {"records": ["m3"]}}, 0.2, (up(3, 3), up(3, 3)), 2, 2, [1, 2], ()),
            ({"checkpoint": "end"}, 0.4, (up(3, 3), up(3, 3)), 2, 2, [1, 2], ()),
        )
    )


def half_steps() -> tuple[GoldenStep, ...]:
    """HW-03: one record, stopped at every half step; all holds are released."""
    fetch_0 = hold("fetch 0", "fetch_request", 2, 1, 0)
    fetch_1 = hold("fetch 1", "fetch_request", 2, 1, 1)
    answer = hold("answer", "fetch_response", 2, 1, 1)
    return rows_to_steps(
        (
            (fetch_0, 0.1, (up(0, 0), up(0, 0)), 1, 0, [1, 2], ()),
            ({"await_hold": "fetch 0"}, 0.2, (up(0, 0), up(0, 0)), 1, 0, [1, 2], ((0.5, "hold_caught", "fetch 0"),)),
            ({"produce": {"records": ["m0"], "expect": "pending"}}, 0.2, (up(1, 0), up(0, 0)), 1, 0, [1, 2], ()),
            ({"checkpoint": "leader appended"}, 0.3, (up(1, 0), up(0, 0)), 1, 0, [1, 2], ()),
            (fetch_1, 0.1, (up(1, 0), up(0, 0)), 1, 0, [1, 2], ()),
            (
                {"release": "fetch 0"},
                0.3,
                (up(1, 0), up(1, 0)),
                1,
                0,
                [1, 2],
                ((0.1, "hold_released", "fetch 0"), (0.7, "hold_caught", "fetch 1")),
            ),
            ({"checkpoint": "follower appended"}, 0.3, (up(1, 0), up(1, 0)), 1, 0, [1, 2], ()),
            (answer, 0.1, (up(1, 0), up(1, 0)), 1, 0, [1, 2], ()),
            (
                {"release": "fetch 1"},
                0.7,
                (up(1, 1), up(1, 0)),
                1,
                0,
                [1, 2],
                ((0.1, "hold_released", "fetch 1"), (0.8, "hold_caught", "answer")),
            ),
            ({"checkpoint": "leader high watermark moved"}, 0.3, (up(1, 1), up(1, 0)), 1, 0, [1, 2], ()),
            ({"release": "answer"}, 0.2, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ((0.2, "hold_released", "answer"),)),
            ({"await_outcome": {"records": ["m0"]}}, 0.1, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
            ({"checkpoint": "end"}, 0.3, (up(1, 1), up(1, 1)), 1, 0, [1, 2], ()),
        )
    )


def witness_steps() -> tuple[GoldenStep, ...]:
    """TR-02 on 0.10.2.2: three replicas, clean elections only, m1 is lost and broker 1 keeps it."""
    zero, all_up = (up(1, 1),) * 3, [1, 2, 3]
    behind = (up(2, 2), up(2, 1), up(2, 1))
    caught = ((0.5, "hold_caught", "gap 2"), (0.6, "hold_caught", "gap 3"))
    return rows_to_steps(
        (
            ({"produce": {"records": ["m0"]}}, 0.4, zero, 1, 0, all_up, ()),
            (hold("gap 2", "fetch_response", 2, 1, 2), 0.1, zero, 1, 0, all_up, ()),
            (hold("gap 3", "fetch_response", 3, 1, 2), 0.1, zero, 1, 0, all_up, ()),
            ({"produce": {"records": ["m1"]}}, 0.3, behind, 1, 0, all_up, caught),
            ({"checkpoint": "m1 is on all logs, its commit is known to one"}, 0.4, behind, 1, 0, all_up, ()),
            (hold("refetch", "fetch_request", 3, 2, 1), 0.1, behind, 1, 0, all_up, ()),
            (
                {"kill": 1},
                2.5,
                (down(2, 2), up(2, 1), up(1, 1)),
                2,
                1,
                [2, 3],
                (
                    killed(1),
                    (0.01, "hold_discharged", "gap 2"),
                    (0.01, "hold_discharged", "gap 3"),
                    (0.7, "leader_elected", "2"),
                    (0.85, "hold_caught", "refetch"),
                ),
            ),
            ({"checkpoint": "broker 3 has cut"}, 0.4, (down(2, 2), up(2, 1), up(1, 1)), 2, 1, [2, 3], ()),
            (
                {"kill": 2},
                2.4,
                (down(2, 2), down(2, 1), up(1, 1)),
                3,
                2,
                [3],
                (killed(2), (0.02, "hold_discharged", "refetch"), (0.8, "leader_elected", "3")),
            ),
            ({"start": 2}, 2.8, (down(2, 2), up(1, 1), up(1, 1)), 3, 2, [2, 3], (started(2),)),
            ({"produce": {"records": ["m2"]}}, 0.3, (down(2, 2), up(2, 2), up(2, 2)), 3, 2, [2, 3], ()),
            ({"start": 1}, 2.7, (up(2, 2), up(2, 2), up(2, 2)), 3, 2, all_up, (started(1),)),
            ({"produce": {"records": ["m3"]}}, 0.3, (up(3, 3),) * 3, 3, 2, all_up, ()),
            ({"checkpoint": "end"}, 0.4, (up(3, 3),) * 3, 3, 2, all_up, ()),
        )
    )


def up(log_end_offset: int, high_watermark: int) -> Replica:
    return log_end_offset, high_watermark, True


def down(log_end_offset: int, high_watermark: int) -> Replica:
    return log_end_offset, high_watermark, False


def killed(broker: int) -> Event:
    return 0.0, "broker_killed", str(broker)


def started(broker: int) -> Event:
    return 0.4, "broker_started", str(broker)


def hold(name: str, point: str, follower: int, leader: int, offset: int) -> dict[str, Any]:
    return {"hold": {"name": name, "point": point, "follower": follower, "leader": leader, "fetch_offset": offset}}
