"""An option that would have no effect beside the others is refused, never ignored in silence."""

from __future__ import annotations

import pytest

from conformance.cli import build_parser, main
from conformance.commands.ignored_options import is_given

ONLY_TABLE = "is about what is run, and --only-table runs nothing."
PROFILE = "--profile chooses scenarios where none is named: leave one of the two out."
BASE_IMAGE = "--jre-image is the base of containers, but --backend process was asked for."
LADDER = "means nothing to --ladder, which only prints the ladder."

IGNORED = (
    ("run TR-01 --profile full", PROFILE),
    ("run --schedule mine.yaml --profile quick", PROFILE),
    ("run TR-01 --backend process --jre-image j", BASE_IMAGE),
    ("matrix TR-01 --profile full", PROFILE),
    ("matrix TR-01 --backend process --jre-image j", BASE_IMAGE),
    ("matrix --ladder --kafka 4.3.1", f"--kafka {LADDER}"),
    ("matrix --ladder TR-01", f"scenario names {LADDER}"),
    ("matrix --ladder --repeat 2", f"--repeat {LADDER}"),
    ("matrix --ladder --require-promise", f"--require-promise {LADDER}"),
    ("matrix --only-table TR-01", f"scenario names {ONLY_TABLE}"),
    ("matrix --only-table --profile quick", f"--profile {ONLY_TABLE}"),
    ("matrix --only-table --seed 0", f"--seed {ONLY_TABLE}"),
    ("matrix --only-table --spark-master local[1]", f"--spark-master {ONLY_TABLE}"),
    ("faults --metadata kraft", "--metadata chooses the mode of a release: give --kafka too."),
    ("trace R --events --rules-of 3.9", "--rules-of is about the check, and --events checks nothing."),
    ("trace R --events --all", "--all is about the story, which --events and --json do not tell."),
    ("trace R --json --all", "--all is about the story, which --events and --json do not tell."),
    ("explore --model Brokers --log-size 2", "--log-size is a constant that Brokers has no use for."),
    ("explore --model AsyncIsr --records 2", "--records is a constant that AsyncIsr has no use for."),
    (
        "explore --model AsyncIsr/without-maximal-isr --records 3",
        "--records is a constant that AsyncIsr/without-maximal-isr has no use for.",
    ),
)


@pytest.mark.parametrize(("arguments", "why"), IGNORED, ids=[arguments for arguments, _ in IGNORED])
def test_it_is_refused_with_the_reason(capsys: pytest.CaptureFixture[str], arguments: str, why: str) -> None:
    assert main(arguments.split()) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"kafka-conformance: {why}\n")


def test_what_is_left_out_is_not_given() -> None:
    left_out = build_parser().parse_args(["matrix"])
    given = build_parser().parse_args(["matrix", "TR-01", "--repeat", "2", "--seed", "0", "--profile", "full"])

    for option in ("GLOB", "--repeat", "--seed", "--profile"):
        assert not is_given(left_out, option)
        assert is_given(given, option)


def test_the_constants_of_a_model_have_their_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--model", "AsyncIsr", "--log-size", "1", "--epochs", "0", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("AsyncIsr: replicas 2, log size 1, ")
