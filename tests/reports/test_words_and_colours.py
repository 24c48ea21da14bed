"""Can everybody read the page? Every step has words, every colour pair enough contrast in both schemes."""

from __future__ import annotations

import re

import pytest

from conformance.record.schedule import in_words
from oracle.schedule_format import decode_step
from oracle.vocabulary import PointName, frame_words
from reports.html import TEMPLATES
from reports.story import StepView

CSS = (TEMPLATES / "report.css").read_text(encoding="utf-8")
PAIRS = [
    *((text, ground) for text in ("ink", "quiet", "link", "good", "bad", "caution") for ground in ("paper", "card")),
    ("good", "good-ground"),
    ("bad", "bad-ground"),
    ("caution", "caution-ground"),
    ("quiet", "quiet-ground"),
    *((text, "soft") for text in ("ink", "link", "good", "bad", "caution")),
    ("quiet", "soft"),
    ("log-end", "lane"),
    ("watermark", "paper"),
    ("held", "paper"),
    ("bad", "lane"),
    ("good", "lane"),
    ("log-end", "committed"),
    ("ink", "committed"),
    ("paper", "log-end"),
    ("caution", "lane"),
    ("held", "lane"),
    ("watermark", "lane"),
    ("ink", "held-ground"),
    ("quiet", "card"),
    ("ink", "caution-ground"),
    ("paper", "quiet"),
    ("bad", "committed"),
    ("bad", "quiet-ground"),
]


def colours(scheme: str) -> dict[str, str]:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", light.split("}")[0]))
    if scheme == "dark":
        found |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", dark.split("}")[0]))
    return found


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_every_colour_pair_has_enough_contrast(scheme: str, text: str, ground: str) -> None:
    found = colours(scheme)
    assert contrast(found[text], found[ground]) >= 4.5


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ({"kill_together": [1, 2]}, "Kill brokers 1 and 2 at once (kill -9)."),
        ({"await_leader": None}, "Wait until the partition has no leader."),
    ],
)
def test_a_step_stands_in_the_list_as_a_sentence(written: dict[str, object], sentence: str) -> None:
    assert StepView(0, in_words(decode_step(0, written))).sentence == sentence


@pytest.mark.parametrize("point", PointName)
def test_every_protocol_point_has_a_name_without_underscores(point: PointName) -> None:
    assert "_" not in frame_words(point.value)


def test_frames_are_named_as_kafka_names_them() -> None:
    assert frame_words("fetch_response", 2) == "FETCH(2) response"
    assert frame_words("offsets_for_leader_epoch_request") == "OffsetsForLeaderEpoch request"
    assert frame_words("leader_and_isr") == "LeaderAndIsr"
