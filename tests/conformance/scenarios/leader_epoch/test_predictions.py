"""What is predicted of leader epochs, and on which releases does it differ?"""

from __future__ import annotations

from tests.conformance.scenarios.ladder_predictions import (
    LINES,
    answer,
    at,
    fates,
    kraft,
    outcomes,
    runs_on,
    where_it_holds,
    zookeeper,
)

OLDEST, NEWEST = zookeeper("0.10.2.2"), kraft("4.3.1")


def test_every_pair_of_variants_covers_the_ladder_once() -> None:
    for one, other in (("leader-zookeeper", "leader-kraft"), ("follower-zookeeper", "follower-kraft")):
        assert sorted(runs_on(f"LE-05/{one}") + runs_on(f"LE-05/{other}")) == sorted(LINES)
    assert sorted(runs_on("LE-06/lookup") + runs_on("LE-06/fetch")) == sorted(set(LINES) - {OLDEST})


def test_an_epoch_without_records_is_written_down_from_2_0_1_on() -> None:
    def is_written(line: tuple[str, object]) -> bool:
        return answer("LE-01", line, "broker 2 has on disk") == [[0, 0], [1, 1], [2, 2], [3, 3]]  # type: ignore[arg-type]

    before = {"0.10.2.2 zookeeper", "1.1.1 zookeeper"}
    everywhere = {f"{version} {mode.value}" for version, mode in LINES}
    assert where_it_holds("LE-01", is_written) == everywhere - before
    assert answer("LE-01", NEWEST, "broker 3 has on disk") == [[0, 0], [1, 1], [2, 2]]
    assert answer("LE-01", NEWEST, "leader epoch at each") == [0, 1, 2, 3]


def test_0_10_2_has_epochs_and_no_file_of_them() -> None:
    assert answer("LE-01", OLDEST, "leader epoch at each") == [0, 1, 2, 3]
    assert answer("LE-01", OLDEST, "broker 2 has on disk") is None


def test_the_epoch_that_was_cut_is_in_no_file() -> None:
    for broker in (1, 2, 3):
        assert answer("LE-02", NEWEST, f"broker {broker} has on disk") == [[0, 0], [2, 1], [3, 3]]
    assert fates("LE-02", NEWEST)["x1"] == "absent"


def test_what_is_asked_first_is_a_matter_of_the_release() -> None:
    what = "what broker 1 asks"
    assert answer("LE-04", OLDEST, what) == ["fetch from 1"]
    assert answer("LE-04", zookeeper("2.7.2"), what) == ["where does epoch 0 end", "fetch from 1"]
    assert answer("LE-04", zookeeper("2.8.2"), what) == ["fetch from 1, last epoch 0"]
    assert answer("LE-04", zookeeper("2.7.2"), "where broker 2 says") == 1
    assert answer("LE-04", zookeeper("2.8.2"), "where broker 2 says") is None


def test_a_zombie_leader_commits_nothing() -> None:
    for name, line, zombie in (
        ("LE-05/leader-zookeeper", zookeeper("2.0.1"), 2),
        ("LE-05/leader-zookeeper", zookeeper("2.8.2"), 2),
        ("LE-05/leader-kraft", NEWEST, 1),
    ):
        deposed = at(name, line, f"broker {zombie} was deposed and takes records all the same")
        numbers = {int(broker): one for broker, one in deposed.replicas.items()}

        assert (numbers[zombie].log_end_offset, numbers[zombie].high_watermark) == (3, 1)
        assert {label: fates(name, line)[label] for label in ("z0", "z1")} == {"z0": "absent", "z1": "absent"}
        assert outcomes(name, line)["z0"] == "acknowledged"
        assert outcomes(name, line)["z1"] == "REQUEST_TIMED_OUT"


def test_a_zombie_follower_is_fenced_from_2_1_on() -> None:
    what, name = "error codes", "LE-05/follower-zookeeper"
    assert where_it_holds(name, lambda line: answer(name, line, what) == [0]) == {
        f"{version} zookeeper" for version in ("0.10.2.2", "1.1.1", "2.0.1")
    }
    assert answer("LE-05/follower-kraft", NEWEST, what) == [74]


def test_a_follower_that_was_never_answered_keeps_its_log() -> None:
    for name, line in (("LE-06/lookup", zookeeper("0.11.0.3")), ("LE-06/fetch", NEWEST)):
        asked = at(name, line, "broker 2 leads without x1, and broker 3 has cut nothing")

        assert [int(asked.replicas[broker].log_end_offset) for broker in (2, 3)] == [1, 2]  # type: ignore[index]
        assert fates(name, line)["x1"] == "present"


def test_the_epoch_of_a_batch_is_asked_about_after_a_crash() -> None:
    what = "what broker 3 asks"
    assert answer("LE-07", zookeeper("2.6.3"), what) == ["where does epoch 1 end", "fetch from 2"]
    assert answer("LE-07", NEWEST, what) == ["fetch from 2, last epoch 1"]
