"""How is a verdict told apart without colour? By a word, a shape and one sentence each.

The two questions have two families of shapes: discs and diamonds for conformance, shields for the
durability promise, so that nobody takes one for the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Conformance(StrEnum):
    """Did the brokers behave as the model of their version says?"""

    CONFORMS = "CONFORMS"
    DEVIATES = "DEVIATES"
    INCONCLUSIVE = "INCONCLUSIVE"
    HARNESS_ERROR = "HARNESS_ERROR"
    NOT_RUN = "NOT_RUN"


class Promise(StrEnum):
    """Was the durability promise of the settings kept?"""

    KEPT = "KEPT"
    ALLOWED_BY_SETTINGS = "ALLOWED_BY_SETTINGS"
    BROKEN_AS_PREDICTED = "BROKEN_AS_PREDICTED"
    BROKEN = "BROKEN"
    NO_PROMISE = "NO_PROMISE"
    NOT_JUDGED = "NOT_JUDGED"


@dataclass(frozen=True, slots=True)
class Look:
    """How a verdict is shown.

    Attributes:
        word: what is written beside the shape.
        shape: id of the shape among the page's symbols.
        tone: name of the colour pair; never the only difference.
        meaning: what the word means, in one sentence.
    """

    word: str
    shape: str
    tone: str
    meaning: str


CONFORMS_MEANS = (
    "A run conforms if the brokers behaved as the model of their release predicts, and every release has its own "
    "model. That is not always the requirement: some releases are known not to meet one, and are predicted not to."
)
"""What a verdict says, and what it does not say; it stands on every page."""

CONFORMANCE_LOOKS = {
    Conformance.CONFORMS: Look(
        "Conforms", "shape-conforms", "good", "The brokers did what the model of their version predicts."
    ),
    Conformance.DEVIATES: Look(
        "Deviates", "shape-deviates", "bad", "The brokers did something the model of their version rules out."
    ),
    Conformance.INCONCLUSIVE: Look(
        "Inconclusive",
        "shape-inconclusive",
        "caution",
        "The numbers never came to rest, or a race ended otherwise than the schedule assumes: no answer.",
    ),
    Conformance.HARNESS_ERROR: Look(
        "Harness error", "shape-harness-error", "caution", "The tester failed; this says nothing about Kafka."
    ),
    Conformance.NOT_RUN: Look(
        "Not run", "shape-not-run", "quiet", "The scenario does not apply to this version or was left out."
    ),
}

PROMISE_LOOKS = {
    Promise.KEPT: Look("Kept", "shape-kept", "good", "Everything the settings promised to keep is there."),
    Promise.ALLOWED_BY_SETTINGS: Look(
        "Lost, as settings allow",
        "shape-allowed",
        "caution",
        "Records were lost that these settings never promised to keep.",
    ),
    Promise.BROKEN_AS_PREDICTED: Look(
        "Broken, as predicted",
        "shape-broken-as-predicted",
        "bad",
        "What the settings promise was not kept; this release is known for it.",
    ),
    Promise.BROKEN: Look(
        "Broken", "shape-broken", "bad", "What the settings promise was not kept, and the model rules that out."
    ),
    Promise.NO_PROMISE: Look(
        "No promise", "shape-no-promise", "quiet", "These settings promise nothing about these records."
    ),
    Promise.NOT_JUDGED: Look(
        "Not judged", "shape-no-promise", "quiet", "Without a measurement nothing can be said about the promise."
    ),
}

CLASS_MEANINGS = {
    "kept": "in the topic once, at the offset it was acknowledged at",
    "lost": "committed or acknowledged, and not in the topic",
    "absent": "neither committed nor acknowledged, and not in the topic",
    "deleted": "deleted on an operator's request, as predicted",
    "phantom": "in the topic, and nobody produced it",
    "resurrected": "refused, and yet in the topic",
    "duplicated": "in the topic more than once",
    "reordered": "in the topic in another order than produced",
    "moved": "in the topic at another offset than acknowledged",
    "value_changed": "in the topic with another value than produced",
    "diverged": "replicas disagree at an offset below their high watermarks",
}
