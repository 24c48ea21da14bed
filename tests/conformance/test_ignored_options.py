"""An option that would have no effect beside the others is refused, never ignored in silence."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import build_parser, main
from conformance.commands import matrix
from conformance.commands.parser import is_given

if TYPE_CHECKING:
    from conformance.commands.matrix import MatrixRequest

ONLY_TABLE = "is about what is run, and --only-table runs nothing."
PROFILE = "--profile chooses entries where none is named: leave one of the two out."
BASE_IMAGE = "--jre-image is the base of containers, but --backend process was asked for."
NUMBERS = "is about the predicted numbers, which --json does not have."
VERSIONS = "--full is about the table: --json has the rules of every release that it names."
SEARCH = "--quiet is about the progress of a search: it needs --regenerate"
LADDER = "means nothing to --ladder, which only prints the ladder."

OWN_RULES = "a matrix holds each release against its own rules: --rules-of goes with run and hunt."
IGNORED = (
    ("run TR-01 --profile full", PROFILE),
    ("run --schedule mine.yaml --profile quick", PROFILE),
    (
        "run --schedule mine.yaml --lanes 2",
        "--lanes is about the catalogue: schedules of yours run in their order, on one cluster.",
    ),
    (
        "matrix --schedule mine.yaml --lanes 2",
        "--lanes is about the catalogue: schedules of yours run in their order, on one cluster.",
    ),
    ("matrix --only-table --lanes 2", "--lanes is about what is run, and --only-table runs nothing."),
    ("run TR-01 --keep-cluster --lanes 2", "--lanes has several clusters, and --keep-cluster keeps one."),
    ("run TR-01 --backend process --jre-image j", BASE_IMAGE),
    ("matrix TR-01 --profile full", PROFILE),
    ("matrix TR-01 --backend process --jre-image j", BASE_IMAGE),
    ("run TR-01 --label fork", "--label is about a Kafka of your own: give --kafka-home or --image too."),
    ("matrix --kafka-home own", "a matrix tells builds apart by what you call them: give --label too."),
    ("matrix --rules-of 4.3.1", OWN_RULES),
    ("matrix --only-table --kafka-home own", f"--kafka-home {ONLY_TABLE}"),
    ("matrix --only-table --label fork", f"--label {ONLY_TABLE}"),
    ("matrix --ladder --image own:1", f"--image {LADDER}"),
    ("matrix --ladder --kafka 4.3.1", f"--kafka {LADDER}"),
    ("matrix --ladder TR-01", f"names of entries {LADDER}"),
    ("matrix --ladder --repeat 2", f"--repeat {LADDER}"),
    ("matrix --ladder --require-promise", f"--require-promise {LADDER}"),
    ("matrix --ladder --repeat 1", f"--repeat {LADDER}"),
    ("matrix --ladder --backend docker", f"--backend {LADDER}"),
    ("matrix --ladder --backend auto", f"--backend {LADDER}"),
    ("matrix --ladder --runs-dir X", f"--runs-dir {LADDER}"),
    ("matrix --ladder --quiet", f"--quiet {LADDER}"),
    ("matrix --only-table --quiet", f"--quiet {ONLY_TABLE}"),
    ("matrix --only-table --backend docker", "--backend is about the lines that must be there: give --kafka too."),
    ("matrix --only-table TR-01", f"names of entries {ONLY_TABLE}"),
    ("matrix --only-table --profile quick", f"--profile {ONLY_TABLE}"),
    ("matrix --only-table --seed 0", f"--seed {ONLY_TABLE}"),
    ("matrix --only-table --spark-master local[1]", f"--spark-master {ONLY_TABLE}"),
    ("explain TR-01 --json --full", "--full is about the text: --json has the whole of each scenario."),
    ("explain TR-01 --json --kafka 3.9", f"--kafka {NUMBERS}"),
    ("explain TR-01 --json --metadata kraft", f"--metadata {NUMBERS}"),
    ("versions --full --json", VERSIONS),
    ("versions 3.9 --full --json", VERSIONS),
    ("guarantees --kafka 4.3.1 --quiet", SEARCH),
    ("guarantees --acks all --quiet", SEARCH),
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


def test_a_matrix_has_its_defaults_for_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[MatrixRequest] = []
    monkeypatch.setattr(matrix, "run_matrix", lambda _, options: asked.append(options) or 0)
    assert main(["matrix"]) == 0
    (options,) = asked
    assert (options.runs, options.options.backend, options.repeat) == (Path("runs/matrix"), "auto", 1)


def test_a_matrix_that_is_cut_short_says_its_default_directory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(matrix, "run_matrix", fails)
    assert main(["matrix"]) == 4
    assert capsys.readouterr().err.startswith("kafka-conformance: runs/matrix: ")


def test_the_constants_of_a_model_have_their_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--model", "AsyncIsr", "--log-size", "1", "--epochs", "0", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("AsyncIsr: replicas 2, log size 1, ")
