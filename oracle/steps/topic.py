"""Which steps are an operator's requests? For a leader, other replicas, other settings; and what topics there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import Step, described, named_brokers, step
from oracle.vocabulary import BrokerId, ElectionKind, Offset

if TYPE_CHECKING:
    from oracle.steps.step import SoFar

MIN_ISR = "min.insync.replicas"
UNCLEAN = "unclean.leader.election.enable"
MESSAGE_FORMAT = "message.format.version"
NAME = re.compile(r"[A-Za-z0-9.-]{1,60}")
PARTITIONS_MAX = 50


@step("elect", leaves="election_requested")
class Elect(Step):
    """Ask the controller for a leader election, as kafka-leader-election does; ends when there is a new leader."""

    kind: ElectionKind = described("preferred: the first assigned replica; unclean: of a leaderless partition (2.4 on)")

    @override
    def sentence(self) -> str:
        who = "the first assigned replica" if self.kind is ElectionKind.PREFERRED else "any replica that is up"
        return f"ask the controller for the {self.kind.value} leader election: {who}"


@step("reassign", short="reassign to {replicas}", leaves="reassignment_requested")
class Reassign(Step):
    """Move the partition to other brokers, as kafka-reassign-partitions does; ends when no hold lets it go on."""

    replicas: tuple[BrokerId, ...] = described("the brokers that shall have it, preferred leader first")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_distinct("replicas", self.replicas)

    @override
    def sentence(self) -> str:
        return f"move the partition to {named_brokers(self.replicas)}"


@step("alter", leaves="settings_changed")
class Alter(Step):
    """Change the topic's durability settings, as kafka-configs does; ends when the leader obeys them."""

    min_insync_replicas: int | None = described(
        "how many in-sync replicas acks=all needs from now on", written=MIN_ISR, default=None
    )
    unclean_leader_election: bool | None = described(
        "whether others than in-sync replicas may lead from now on", written=UNCLEAN, default=None
    )

    @override
    def check(self, so_far: SoFar) -> None:
        if self.min_insync_replicas is None and self.unclean_leader_election is None:
            so_far.refuse(MIN_ISR, "alter changes a setting: name one")
        if self.min_insync_replicas is not None:
            so_far.require_at_least(MIN_ISR, self.min_insync_replicas, 1)

    @override
    def sentence(self) -> str:
        return f"set {self._settings()}"

    @override
    def short(self) -> str:
        return self.sentence()

    @override
    def subject(self) -> str:
        return self._settings()

    @override
    def left_for(self) -> tuple[None]:
        return (None,)

    def _settings(self) -> str:
        minimum, unclean = self.min_insync_replicas, self.unclean_leader_election
        words = [] if minimum is None else [f"{MIN_ISR} to {minimum}"]
        words += [] if unclean is None else [f"{UNCLEAN} to {str(unclean).lower()}"]
        return " and ".join(words)


@step(
    "delete_records",
    says="delete the records before offset {offset}",
    short="delete before {offset}",
    leaves="records_deleted",
)
class DeleteRecords(Step):
    """Delete the records before an offset, as kafka-delete-records does (0.11 on); kill -9 may bring them back."""

    offset: Offset = described("the first offset that stays; at most the leader's high watermark")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.has_deleted_records = True


@step(
    "add_partitions",
    says="give the topic {count} partitions; the new ones stay empty",
    short="{count} partitions",
    leaves="partitions_added",
)
class AddPartitions(Step):
    """Give the topic more partitions, on the same brokers (kafka-topics --alter); they stay empty."""

    count: int = described("how many partitions the topic has then, 2 or more")

    @override
    def check(self, so_far: SoFar) -> None:
        if not so_far.partitions < self.count <= PARTITIONS_MAX:
            so_far.refuse("count", f"count must be from {so_far.partitions + 1} to {PARTITIONS_MAX}")
        so_far.partitions = self.count

    @override
    def left_for(self) -> tuple[None]:
        return (None,)


@step("create_topic", says="create another topic, {name}", short="create {name}", leaves="topic_created")
class CreateTopic(Step):
    """Create another topic with one partition on the same brokers."""

    name: str = described("a name for it, of letters, digits, dots and hyphens")

    @override
    def check(self, so_far: SoFar) -> None:
        if self.name in so_far.topics or not NAME.fullmatch(self.name):
            rule = "letters, digits, dots and hyphens, each name once"
            so_far.refuse("name", f"{self.name!r} cannot name another topic: {rule}")
        so_far.topics.add(self.name)


@step("delete_topic", says="delete the other topic, {name}", short="delete {name}", leaves="topic_deleted")
class DeleteTopic(Step):
    """Delete another topic that the schedule has created."""

    name: str = described("its name")

    @override
    def check(self, so_far: SoFar) -> None:
        if so_far.has_deleted_records:
            message = "deleting a topic writes down where logs start: not predicted after delete_records"
            so_far.refuse("name", message)
        if self.name not in so_far.topics:
            so_far.refuse("name", f"no topic {self.name!r} is there")
        so_far.topics.remove(self.name)
