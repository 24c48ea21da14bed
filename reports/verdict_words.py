"""How is a verdict told apart without colour? By a word, a shape and one sentence each.

The two questions have two families of shapes: discs and diamonds for conformance, shields for the
durability promise, so that nobody takes one for the other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup, escape

from conformance.record.verdict import Conformance, PromiseKept

NOT_JUDGED = "NOT_JUDGED"
"""What stands for the promise of a run that could not be judged by a measurement."""


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
        "The numbers never came to rest, a race ended otherwise than assumed, or the machine stood still: no answer.",
    ),
    Conformance.HARNESS_ERROR: Look(
        "Harness error", "shape-harness-error", "caution", "The tester failed; this says nothing about Kafka."
    ),
    Conformance.NOT_RUN: Look(
        "Not run", "shape-not-run", "quiet", "The scenario does not apply to this version or was left out."
    ),
}

PROMISE_LOOKS = {
    PromiseKept.KEPT: Look("Kept", "shape-kept", "good", "Everything the settings promised to keep is there."),
    PromiseKept.ALLOWED_BY_SETTINGS: Look(
        "Lost, as settings allow",
        "shape-allowed",
        "caution",
        "Records were lost that these settings never promised to keep.",
    ),
    PromiseKept.BROKEN_AS_PREDICTED: Look(
        "Broken, as predicted",
        "shape-broken-as-predicted",
        "bad",
        "What the settings promise was not kept, and the model says so.",
    ),
    PromiseKept.BROKEN: Look(
        "Broken", "shape-broken", "bad", "What the settings promise was not kept, and the model rules that out."
    ),
    PromiseKept.NO_PROMISE: Look(
        "No promise", "shape-no-promise", "quiet", "These settings promise nothing about these records."
    ),
    None: Look(
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


# Which step and which rule decided? The words of a prediction, with steps linked and rules set apart.


_RULE = r"[a-z0-9]+(?:-[a-z0-9]+)+"
_PARTS = re.compile(
    r"(?P<step>\bstep (?P<number>\d+))"
    rf"|(?P<rule>(?<=\bby ){_RULE}(?=;|$)|(?<=\(){_RULE}(?=\)(?:;|$)))"
    r"|(?P<part>; )"
)


def decision(text: str, anchor: str, steps: int) -> Markup:
    """Return the words with every step linked to the list of steps, one clause a line.

    Args:
        text: such as ``cut on broker 2 at step 4 (kill 1) by truncate-on-fetch; …``.
        anchor: of the run on the page.
        steps: how many steps the page lists; others are not linked.
    """
    written, end = [], 0
    for found in _PARTS.finditer(text):
        written.append(escape(text[end : found.start()]))
        written.append(_marked(found, anchor, steps))
        end = found.end()
    return Markup("").join([*written, escape(text[end:])])


def _marked(found: re.Match[str], anchor: str, steps: int) -> Markup:
    if found["rule"]:
        return Markup('<span class="rule">{}</span>').format(found["rule"])
    if found["part"]:
        return Markup(";<br>")
    if 1 <= int(found["number"]) <= steps:
        return Markup('<a href="#{}-step-{}">{}</a>').format(anchor, found["number"], found["step"])
    return escape(found["step"])


# Where can a source be read? Kafka's proposals and issues have addresses; the five articles have numbers.


PROPOSALS = "https://cwiki.apache.org/confluence/display/KAFKA/"
ISSUES = "https://issues.apache.org/jira/browse/"
_ALL_PROPOSALS = "Kafka+Improvement+Proposals"
_PAGES = {
    "KIP-98": "KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
    "KIP-101": "KIP-101+-+Alter+Replication+Protocol+to+use+Leader+Epoch+rather+than+High+Watermark+for+Truncation",
    "KIP-207": (
        "KIP-207%3A+Offsets+returned+by+ListOffsetsResponse+should+be+monotonically+increasing"
        "+even+during+a+partition+leader+change"
    ),
    "KIP-227": "KIP-227%3A+Introduce+Incremental+FetchRequests+to+Increase+Partition+Scalability",
    "KIP-279": "KIP-279%3A+Fix+log+divergence+between+leader+and+follower+after+fast+leader+fail+over",
    "KIP-320": "KIP-320%3A+Allow+fetchers+to+detect+and+handle+log+truncation",
    "KIP-392": "KIP-392%3A+Allow+consumers+to+fetch+from+closest+replica",
    "KIP-497": "KIP-497%3A+Add+inter-broker+API+to+alter+ISR",
    "KIP-595": "KIP-595%3A+A+Raft+Protocol+for+the+Metadata+Quorum",
    "KIP-966": "KIP-966%3A+Eligible+Leader+Replicas",
}
"""Proposals' pages, which are named after their titles; of any other the list of all proposals is linked."""


class SourceLink(NamedTuple):
    """A source as a page shows it; without an address it is no link."""

    words: str
    address: str = ""


def source_link(source: str) -> SourceLink:
    """Return the words and the address of what a scenario cites: a proposal, an issue, an article or a requirement."""
    if re.fullmatch(r"KIP-\d+", source):
        return SourceLink(source, PROPOSALS + _PAGES.get(source, _ALL_PROPOSALS))
    if re.fullmatch(r"KAFKA-\d+", source):
        return SourceLink(source, ISSUES + source)
    return SourceLink(f"article {source}" if re.fullmatch(r"\d{3}", source) else source)
