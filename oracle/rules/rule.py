"""What is a rule? A named piece of replica behaviour with its source and the releases that have it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's identity, as predictions and reports cite it.

    Attributes:
        name: kebab-case, such as ``truncate-to-high-watermark``.
        source: KIP, KAFKA issue or Kafka class.
        versions: the releases that have it, in words.
        replaces: name of the rule it replaced, or None.
        breaks: what goes wrong where the rule is missing (or, for an old rule, because of it).
    """

    name: str
    source: str
    versions: str
    replaces: str | None
    breaks: str
