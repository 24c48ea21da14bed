"""Text is laid out within a width: below its column, its bullet, its label; tables get narrower cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.layout import fill, fit

WORDS = "alpha beta gamma delta epsilon zeta"


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        (WORDS, 80, [WORDS]),
        (WORDS, 20, ["alpha beta gamma", "delta epsilon zeta"]),
        (f"  {WORDS}", 20, ["  alpha beta gamma", "  delta epsilon zeta"]),
        ("  name  alpha beta gamma", 18, ["  name  alpha beta", "        gamma"]),
        ("  a/long/name  alpha beta", 18, ["  a/long/name", "      alpha beta"]),
        (" 1. alpha beta gamma", 15, [" 1. alpha beta", "    gamma"]),
        ("- alpha beta gamma", 15, ["- alpha beta", "  gamma"]),
        ("to: alpha beta gamma", 16, ["to: alpha beta", "    gamma"]),
        ("described by: alpha beta gamma", 20, ["described by: alpha", "  beta gamma"]),
        ("key: 1     # alpha beta gamma", 24, ["key: 1     # alpha beta", "           # gamma"]),
        ("           # alpha beta gamma", 24, ["           # alpha beta", "           # gamma"]),
        ("alpha /a/path/of/many/folders", 12, ["alpha", "/a/path/of/many/folders"]),
        ("  kafka-conformance run TR-01 --kafka 3.9", 20, ["  kafka-conformance run TR-01 --kafka 3.9"]),
        ("--kafka 3.9,4.0,4.1", 10, ["--kafka 3.9,4.0,4.1"]),
        ("  kafka-conformance list   alpha beta", 30, ["  kafka-conformance list", "      alpha beta"]),
        (
            "  alpha beta  gamma delta  epsilon zeta\n  a           b            c",
            24,
            ["  alpha  gamma   epsilon", "  beta   delta   zeta", "  a      b       c"],
        ),
    ],
)
def test_what_goes_on_stands_below_where_it_began(text: str, width: int, fitted: list[str]) -> None:
    assert fit(text, width).split("\n") == fitted


def test_prose_fills_the_width_and_examples_stay_lines() -> None:
    assert fill("alpha\nbeta gamma\n\n  delta\n  zeta", 30) == "alpha beta gamma\n\n  delta\n  zeta"


@given(st.text("ab -:#.\n", max_size=200), st.integers(10, 80))
def test_no_word_is_lost_and_only_a_word_is_wider(text: str, width: int) -> None:
    fitted = fit(text, width)

    assert sorted(word for word in fitted.split() if word != "#") == sorted(w for w in text.split() if w != "#")
    wide = [line for line in fitted.split("\n") if len(line) > width and " --" not in f" {line}"]
    assert all(sum(word != "#" for word in line.split()) == 1 for line in wide)
