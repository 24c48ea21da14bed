"""On a terminal: its width, verdicts in colour, a bar. Piped, with NO_COLOR, TERM=dumb, --quiet or --json: plain."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from conformance.record.verdict import Conformance
from conformance.terminal import STYLES
from tests.conformance.terminals import COMMAND_LINE, in_terminal, piped

if TYPE_CHECKING:
    from pathlib import Path

PREDICT = (*COMMAND_LINE, "predict", "TR-01", "--kafka", "0.10.2.2")
GREEN, RED = "\x1b[32m", "\x1b[31m"
HELPS = ("--help", "run --help", "matrix --help", "guarantees --help", "judge --help")
ASKED = (
    "list", "list --kafka 4.4.0 --not-run", "explain TR-01", "explain EL-*", "versions", "versions 3.9.2", "guarantees",
    "guarantees --full", "faults --kafka 4.4.0", "schedule-help", "track-record", "predict",
)  # fmt: skip
THREE_ENTRIES = """
import sys, time
from conformance.console import Console
from fault_injection.waiting import until
console = Console(as_json={as_json})
with console.entries(5):
    console.leave_out(2)
    for name in ("TR-01", "a/name/that/is/too/long/for/the/rest/of/the/line", "TR-03"):
        console.begin(name)
        console.progress(f"{{name}}: CONFORMS")
        began = time.monotonic()
        until(lambda: time.monotonic() > began + 1.2, deadline_s=5, what="the entry ends")
    console.complain("one of them failed")
console.answer("done: " + "a word " * 20)
"""


@pytest.mark.parametrize("command", [*HELPS, *ASKED])
def test_no_line_is_wider_than_the_terminal(command: str) -> None:
    shown = in_terminal((*COMMAND_LINE, *command.split()))

    assert shown.code == 0
    assert [line for line in shown.lines if len(line) > 80 and not is_to_be_copied(line)] == []


def test_an_error_goes_on_below_its_beginning() -> None:
    shown = in_terminal((*COMMAND_LINE, "versions", "9"))

    assert shown.code == 2
    assert shown.widest <= 80
    first, *further = [line[:19].strip() for line in shown.lines if line]
    assert first == "kafka-conformance:"
    assert further
    assert set(further) == {""}


def is_to_be_copied(line: str) -> bool:
    """A word, or a command: it stays whole."""
    return " " not in line.strip() or line.strip().startswith("kafka-conformance ")


def test_the_same_answer_is_wider_where_nobody_has_a_terminal() -> None:
    assert max(map(len, piped(*COMMAND_LINE, "list").splitlines())) > 200


def test_a_wide_terminal_is_used() -> None:
    assert 120 < in_terminal((*COMMAND_LINE, "list"), columns=160).widest <= 160


def test_no_word_of_an_answer_is_lost_on_a_terminal() -> None:
    assert " ".join(in_terminal((*COMMAND_LINE, "list")).lines).split() == piped(*COMMAND_LINE, "list").split()


def test_a_broken_promise_is_red() -> None:
    assert f"{RED}BROKEN_AS_PREDICTED" in in_terminal(PREDICT).raw


@pytest.mark.parametrize("plain", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}])
def test_a_terminal_that_wants_it_plain_has_what_a_pipe_has(plain: dict[str, str]) -> None:
    assert in_terminal(PREDICT, environment=plain).raw.replace("\r\n", "\n") == piped(*PREDICT)


def test_json_is_the_same_on_a_terminal() -> None:
    assert in_terminal((*PREDICT, "--json")).raw.replace("\r\n", "\n") == piped(*PREDICT, "--json")


def test_markdown_is_the_same_on_a_terminal() -> None:
    asked = (*COMMAND_LINE, "guarantees", "--markdown")
    shown = in_terminal(asked).lines

    assert [line for line in piped(*asked).splitlines() if line.startswith("|") and line not in shown] == []


def test_every_verdict_has_a_colour() -> None:
    assert set(Conformance) <= set(STYLES)


def test_what_would_steer_the_terminal_is_not_written_to_it() -> None:
    shown = in_terminal((*COMMAND_LINE, "list", "\x1b[2J\x07"))

    assert shown.code == 2
    assert "\x07" not in shown.raw
    assert "\x1b[2J" not in shown.raw


def test_a_bar_says_which_entry_of_how_many_runs_and_how_long_the_others_take() -> None:
    shown = in_terminal((sys.executable, "-c", THREE_ENTRIES.format(as_json=False)))
    text = "\n".join(shown.lines)

    assert shown.code == 0
    for number, name in enumerate(("TR-01", "a/name/that", "TR-03"), start=1):
        assert re.search(rf"entry {number} of 3 .* left {name}", text)
    assert re.search(r"entry 1 of 3 .*-:--:-- left", text), "nothing is known of the pace yet"
    assert re.search(r"entry 2 of 3 .*0:00:0[2-6] left", text), "two are left, each about 1.2 s"
    assert re.search(r"entry 3 of 3 .*0:00:0[1-3] left", text)
    assert shown.widest <= 80
    assert f"TR-03: {GREEN}CONFORMS" in shown.raw
    assert "kafka-conformance: one of them failed" in shown.lines
    assert shown.raw.rindex("\x1b[?25h") > shown.raw.rindex("\x1b[?25l"), "the cursor is shown again"


def test_there_is_no_bar_where_the_answer_is_json_or_nobody_has_a_terminal() -> None:
    shown = in_terminal((sys.executable, "-c", THREE_ENTRIES.format(as_json=True)))
    through_pipe = piped(sys.executable, "-c", THREE_ENTRIES.format(as_json=False))

    assert "entry" not in shown.raw + through_pipe
    assert "\x1b" not in shown.raw + through_pipe
    assert shown.raw.count("CONFORMS") == through_pipe.count("CONFORMS") == 3


@pytest.mark.broker
@pytest.mark.spark
def test_real_brokers_run_below_a_bar(tmp_path: Path) -> None:
    asked = ("run", "TR-01", "HW-03", "--kafka", "0.10.2.2", "--backend", "process", "--runs-dir", str(tmp_path))
    shown = in_terminal((*COMMAND_LINE, *asked), timeout_s=500)
    text = "\n".join(shown.lines)

    assert shown.code == 0
    assert re.search(r"entry 1 of 2 .*-:--:-- left", text)
    assert re.search(r"entry 2 of 2 .*0:0\d:\d\d left", text)
    assert f"{GREEN}CONFORMS\x1b[0m + {RED}BROKEN_AS_PREDICTED" in shown.raw
    assert [line for line in shown.lines if len(line) > 80 and not is_to_be_copied(line)] == []
