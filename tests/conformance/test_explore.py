"""Does ``explore`` answer as documented: exit codes, JSON, a story to read, and usage errors that say what there is?"""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.commands import exploring
from conformance.console import Console
from oracle.explorer import search
from oracle.explorer.model import SearchProgress
from oracle.published.catalogue import subject
from oracle.published.module import Constants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SMALL = ("--replicas", "2", "--log-size", "1", "--records", "1", "--epochs", "1")
KEYS = {
    "model", "constants", "invariant", "verdict", "generated", "distinct", "depth", "trace_length", "trace", "seconds",
    "sometimes",
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    handlers = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)}
    yield
    for one, handler in handlers.items():
        signal.signal(one, handler)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def explore(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["explore", *arguments])
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return explore


def test_what_holds_exits_zero_and_says_what_was_seen(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--model", "Kip320", *SMALL)

    assert code == 0
    assert "WeakIsr, StrongIsr hold in every reachable state" in out
    assert "WeakIsr holds in every reachable state" in run("--model", "Kip320", *SMALL, "--invariant", "WeakIsr")[1]
    assert "471 states generated, 277 distinct, depth 12" in out
    assert "LeaderWrite" in out


def test_what_was_never_seen_stands_out(run: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = run("--model", "Kip320", "--epochs", "0")

    assert "NEVER SEEN, so nothing is proved about it: a zombie writes, records are cut" in out


def test_a_violation_is_told_step_by_step(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--model", "Kip101", "--invariant", "StrongIsr")

    assert code == 1
    assert "StrongIsr is VIOLATED; the shortest way there has 12 states" in out
    assert out.count("\n 12  BecomeFollower (broker 2, leader 1)\n") == 1
    assert "     * broker 2  HW 0  LEO 0  epoch 2  leader 1  ISR {1, 2}      log empty" in out


def test_json_has_the_documented_keys(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--model", "KafkaTruncateToHighWatermark", "--invariant", "WeakIsr", "--json")
    answer: dict[str, Any] = json.loads(out)

    assert code == 1
    assert set(answer) >= KEYS
    assert answer["constants"] == {"replicas": 2, "log_size": 2, "records": 2, "epochs": 2}
    assert (answer["invariant"], answer["verdict"]) == ("WeakIsr", "violated")
    assert (answer["trace_length"], answer["depth"], len(answer["trace"])) == (9, 9, 9)
    assert answer["trace"][0]["action"] is None
    assert answer["trace"][1]["state"]["quorum"]["leader"] == 1


def test_a_search_that_gives_up_is_unfinished(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--model", "Kip320", "--max-states", "100")

    assert code == 3
    assert "WeakIsr, StrongIsr are unfinished: reached 100 states" in out


def test_an_interrupt_leaves_the_figures_so_far(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_meter: exploring.Meter, _progress: SearchProgress) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exploring.Meter, "tell", interrupt)
    code, out, _ = run("--model", "Kip320", "--json")

    assert code == 130
    assert (json.loads(out)["verdict"], json.loads(out)["stopped_by"]) == ("unfinished", "interrupted")


def test_an_interrupt_while_the_path_is_rebuilt_leaves_the_verdict_and_the_figures(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "path_to", interrupt)
    asked = ("--model", "Kip101", "--invariant", "StrongIsr")
    code, out, _ = run(*asked, "--json")
    answer = json.loads(out)

    assert code == 130
    assert (answer["invariant"], answer["verdict"], answer["stopped_by"]) == ("StrongIsr", "violated", "interrupted")
    assert answer["distinct"] > 100
    assert "StrongIsr is VIOLATED; interrupted before the shortest way there was rebuilt" in run(*asked)[1]


def test_an_interrupt_while_something_is_made_of_the_result_leaves_the_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(_found: object) -> Iterator[str]:
        raise KeyboardInterrupt

    searched = replace(subject("Kip320", Constants(2, 1, 1, 1)), conclude=interrupt)
    assert exploring.explore_model(Console(), searched, exploring.ExploreOptions((), 1000)) == 130
    told = capsys.readouterr()
    assert "471 states generated, 277 distinct, depth 12" in told.out
    assert "interrupted" in told.err


def test_symmetry_visits_fewer_states(run: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = run("--model", "Kip320", *SMALL, "--symmetry", "--json")

    assert json.loads(out)["distinct"] < 277


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--model", "Kip999"), "no model is called 'Kip999'; there are: KafkaTruncateToHighWatermark"),
        (("--model", "Kip320", "--invariant", "LeaderInIsr"), "no invariant 'LeaderInIsr'; it has: WeakIsr, StrongIsr"),
        (("--model", "Kip320", "--replicas", "0"), "'0' is not a whole number from 1 to 9"),
        (("--model", "Kip320", "--epochs", "two"), "'two' is not a whole number from 0 to 99"),
        (("--replicas", "2"), "--model"),
        (("--model", "Brokers", "--min-isr", "0"), "'0' is not a whole number from 1 to 99"),
        (("--model", "Brokers", "--min-isr", "-1"), "'-1' is not a whole number from 1 to 99"),
        (
            ("--model", "Kip101", "--kafka", "nonsense", "--write-schedule", "x.yaml"),
            "reads --kafka, --write-schedule;",
        ),
        (("--model", "Kip101", "--metadata", "kraft"), "only Brokers reads --metadata; Kip101 does not"),
        (("--model", "Kip101", "--acks", "all"), "only Brokers reads --acks"),
        (("--model", "Kip101", "--min-isr", "1"), "only Brokers reads --min-isr"),
        (("--model", "Kip101", "--unclean", "--stops"), "only Brokers reads --unclean, --stops"),
        (("--model", "Kip101", "--without-checkpoint"), "only Brokers reads --without-checkpoint"),
        (("--model", "Kip101", "--power-failure"), "only Brokers reads --power-failure"),
        (("--model", "Kip101", "--late-joins"), "only Brokers reads --late-joins"),
    ],
)
def test_a_wrong_choice_is_a_usage_error(
    run: Callable[..., tuple[int, str, str]], arguments: tuple[str, ...], complaint: str
) -> None:
    code, _, err = run(*arguments)

    assert code == 2
    assert complaint in err


def test_help_shows_models_and_examples(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, _ = run("--help")

    assert code == 0
    assert "Kip320/joins-at-high-watermark" in out
    assert "kafka-conformance explore --model Kip101" in out


def test_progress_is_told_every_few_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    meter = exploring.Meter(Console())

    meter.tell(SearchProgress(20, 10, 3, 4))
    meter.told_s -= exploring.PROGRESS_EVERY_S
    meter.tell(SearchProgress(40, 20, 4, 8))

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "20 distinct states of 40, depth 4, 8 to expand" in said[0]
