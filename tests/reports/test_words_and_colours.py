"""Can everybody read the page? Every step has words, every colour pair enough contrast in both schemes."""

from __future__ import annotations

import re

import pytest

from oracle.steps import STEP_NAMES
from oracle.vocabulary import PointName
from reports.html import TEMPLATES
from reports.step_prose import arguments_of, frame_words, prose, short_words

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


@pytest.mark.parametrize("verb", STEP_NAMES)
def test_every_step_of_the_vocabulary_reads_as_words(verb: str) -> None:
    arguments = arguments_of(
        verb, {"records": ["m0"], "name": "gap", "broker": 2, "leader": 1, "point": "fetch_request", "kind": "unclean"}
    )
    sentence = prose(verb, arguments)
    assert sentence.endswith(".")
    assert "_" not in sentence
    assert "{" not in sentence
    assert short_words(verb, arguments)


@pytest.mark.parametrize(
    ("verb", "value", "words"),
    [
        ("elect", "preferred", "Ask the controller for the preferred leader election: the first assigned replica."),
        (
            "hold",
            {"name": "deaf", "point": "leader_and_isr", "broker": 2},
            "Arm the hold “deaf”: freeze the next LeaderAndIsr between broker 2 and the controller.",
        ),
        (
            "produce",
            {"records": ["z0"], "acks": 1, "leader": 2},
            "Produce z0 to broker 2 with acks=1; the producer must see it acknowledged.",
        ),
        ("kill", 2, "Kill broker 2 (kill -9)."),
        ("kill_together", [1, 2], "Kill brokers 1 and 2 at once (kill -9)."),
        ("pause", 1, "Pause broker 1 (SIGSTOP)"),
        ("resume", 1, "Let broker 1 go on (SIGCONT)."),
        ("cut", {"from": 2, "to": 1}, "Cut the link by which broker 2 fetches from broker 1."),
        ("heal", {"from": 2, "to": 1}, "Heal the link by which broker 2 fetches from broker 1."),
        ("isolate", 3, "Cut broker 3 off from all other nodes"),
        ("rejoin", 3, "Let the links of broker 3 work again."),
        ("add_partitions", 3, "Give the topic 3 partitions; the new ones stay empty."),
        ("create_topic", "other", "Create another topic, other."),
        ("delete_topic", "other", "Delete the other topic, other."),
        ("await_leader", None, "Wait until the partition has no leader."),
        ("await_isr", [1, 2], "Wait until the in-sync replicas are 1, 2."),
        ("await_lag", [2, 3], "Let the lag time pass without a fetch of brokers 2 and 3."),
        ("await_lag", [], "Let the lag time pass while everybody fetches."),
        ("lose_tail", {"broker": 1, "offset": 2}, "The disk of broker 1 forgets offset 2 and beyond."),
        ("lose_checkpoint", 1, "The disk of broker 1 forgets the high watermark."),
        ("produce", {"records": ["m0"], "acks": 1, "expect": "pending"}, "Produce m0 with acks=1 and do not wait"),
        ("unheard_of", {"depth": 3}, "Unheard of: depth 3."),
    ],
)
def test_short_and_long_forms_read_alike(verb: str, value: object, words: str) -> None:
    assert prose(verb, arguments_of(verb, value)).startswith(words)


@pytest.mark.parametrize("point", PointName)
def test_every_protocol_point_has_a_name_without_underscores(point: PointName) -> None:
    assert "_" not in frame_words(point.value)


def test_frames_are_named_as_kafka_names_them() -> None:
    assert frame_words("fetch_response", 2) == "FETCH(2) response"
    assert frame_words("offsets_for_leader_epoch_request") == "OffsetsForLeaderEpoch request"
    assert frame_words("leader_and_isr") == "LeaderAndIsr"
