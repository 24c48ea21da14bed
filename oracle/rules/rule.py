"""What is a rule? A named piece of replica behaviour with its source; its releases are a row of ``by_version``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's identity, as predictions and reports cite it.

    Attributes:
        name: kebab-case, such as ``truncate-to-high-watermark``.
        source: KIP, KAFKA issue or Kafka class.
        says: what brokers that have it do, in one sentence.
    """

    name: str
    source: str
    says: str
