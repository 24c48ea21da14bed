"""On which releases can a catalogue entry exist at all? Elsewhere it is NOT_RUN, with the reason.

Choices: what a release merely does otherwise is no reason; the entry then predicts that. Only what a release
has no means to do, such as a request that its brokers do not know, is not run there. Where its schedule needs
what the release lacks, ``oracle.points`` says so, and it is NOT_RUN too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from oracle.rules.by_version import rules_for
from oracle.rules.release import is_older
from oracle.vocabulary import MetadataMode


@dataclass(frozen=True, slots=True)
class Where:
    """The releases and the metadata mode of a catalogue entry.

    Attributes:
        since: the first release that has what is asked about, such as ``2.2.0``; None for every one.
        before: the first release that has it no more; None if it never went.
        metadata: the only metadata mode in which it exists; None for both.
        why: what is missing elsewhere, in words that complete the sentence of the reason.
        needs_jars: whether the tester starts brokers of its own beside the cluster, for which it must have their jars.
        rule: the name of the rule that a release must have; None for any.
        why_since: what releases before ``since`` do not have, where ``why`` is about the other limits.
        kraft_since: the first release that has it in KRaft mode, where that is a later one.
    """

    since: str | None = None
    before: str | None = None
    metadata: MetadataMode | None = None
    why: str = ""
    why_since: str = ""
    needs_jars: bool = False
    rule: str | None = None
    kraft_since: str | None = None

    def reason_not_to_run(self, version: str, metadata: MetadataMode) -> str | None:
        """Return why the entry cannot exist on a release, or None if it can."""
        if self.since is not None and is_older(version, self.since):
            return _because(f"exists since Kafka {self.since}", self.why_since or self.why)
        is_kraft = metadata is MetadataMode.KRAFT
        if is_kraft and self.kraft_since is not None and is_older(version, self.kraft_since):
            return _because(f"exists in KRaft mode since Kafka {self.kraft_since}", self.why)
        if self.before is not None and not is_older(version, self.before):
            return _because(f"exists only before Kafka {self.before}", self.why)
        if self.metadata is not None and metadata != self.metadata:
            return _because(f"exists only with {self.metadata.value} metadata", self.why)
        if self.rule is not None and self.rule not in rules_for(version, metadata).names():
            return _because(f"exists only where {self.rule} holds", self.why)
        return None

    @property
    def limits(self) -> tuple[str, ...]:
        """Return the limits in words; none if every release will do."""
        limits = (
            f"Kafka {self.since} and newer" if self.since is not None else "",
            f"KRaft mode from Kafka {self.kraft_since} on" if self.kraft_since is not None else "",
            f"Kafka before {self.before}" if self.before is not None else "",
            f"{self.metadata.value} metadata" if self.metadata is not None else "",
            f"Kafka by {self.rule}" if self.rule is not None else "",
        )
        return tuple(limit for limit in limits if limit)

    @property
    def text(self) -> str:
        """Return the limits and the reason for them in words."""
        whys = "; ".join(why for why in (self.why_since, self.why) if why)
        return _because(", ".join(self.limits) or "every release", whys)


def _because(limit: str, why: str) -> str:
    return f"{limit}: {why}" if why else limit


EVERYWHERE = Where()
"""No release is left out."""


# On which releases can the tester play the controller of a broker? Up to 3.9, with ZooKeeper.


WITH_CONTROLLER_REQUESTS = Where(
    metadata=MetadataMode.ZOOKEEPER,
    why="in KRaft mode no controller sends requests to brokers, they read the metadata log",
    needs_jars=True,
)
WITH_PUPPETS = replace(
    WITH_CONTROLLER_REQUESTS, why="the tester plays the broker's controller, which it can with ZooKeeper only"
)


def with_puppets_since(version: str, why: str) -> Where:
    """Return the releases with puppets from one on; ``why`` says what those before do not have."""
    return replace(WITH_PUPPETS, since=version, why_since=why)
