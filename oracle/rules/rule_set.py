"""What is a rule set? Everything that one release does, chosen rule by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.replication.remote import RemoteReplica
    from oracle.rules.delivery import DecisionDelivery
    from oracle.rules.diverging_log import WhenAhead
    from oracle.rules.election import ElectedPartition, ElectionRules
    from oracle.rules.reassignment import ReassignmentRules, UnknownReplica
    from oracle.rules.request_versions import RequestVersions
    from oracle.rules.rule import Rule
    from oracle.rules.truncation import Truncation
    from oracle.schedule import TopicSettings
    from oracle.state import ControllerView
    from oracle.vocabulary import BrokerId, LeaderEpoch, MetadataMode, Offset

    SkipsTruncation = Callable[[BrokerId | None, LeaderEpoch, BrokerId, LeaderEpoch], bool]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of one Kafka release in one metadata mode.

    Attributes:
        truncation: how a follower cuts its log.
        skips_truncation: (old leader, old epoch, leader, epoch) -> the follower carries on as it is.
        writes_epoch_on_election: the leader's epoch enters its cache at once (KAFKA-7415).
        keeps_epoch_without_cut: a cut at the log's end leaves the epoch cache alone (KAFKA-10706).
        closes_former_fetch: a follower that takes another leader closes the connection of its fetch (KAFKA-6051).
        joins_isr: (fetch offset, leader high watermark, epoch start offset) -> may join.
        may_join: (is registered, what the leader knows) -> the controller lets a replica join the ISR.
        serves_epoch: (request's epoch, leader's epoch) -> the leader answers it.
        leaves_isr: (follower's end, leader's end) -> a follower that lagged is removed.
        effective_min_isr: (min.insync.replicas, replication factor) -> in-sync replicas needed.
        high_watermark_needs_min_isr: it stands still with fewer in-sync replicas (KAFKA-15583).
        raises_high_watermark_on_shrink: it is looked at when the ISR has shrunk (KAFKA-13091).
        checks_every_fetch: a fetch that moves nothing may still raise it (KAFKA-8841).
        waits_for_caught_up: (replica outside the ISR, is its broker registered) -> it holds back (HW-08).
        trusts_last_fetch_on_re_election: a new epoch of the same leader counts as a follower's fetch.
        counts_diverging_fetch: the leader records a diverging fetch offset (KAFKA-13141).
        takes_high_watermark_before_cut: a diverging follower exposes before it cuts (KAFKA-14704).
        tells_once: a fetch session leaves out what it has told, whether the follower took it or not (KIP-227).
        session_names_epoch: a fetch of a session is of the leader epoch that its follower names (KAFKA-9338).
        counts_fetch_of_earlier_start: a leader counts what a follower sent before it was started again (KAFKA-15221).
        drops_stale_lookups: a lookup's answer from another epoch is dropped (KAFKA-7786).
        drops_stale_fetches: a fetch's answer from another epoch is dropped (KAFKA-18991).
        answers_new_high_watermark: immediate responses carry the updated one (KAFKA-5758).
        wakes_waiting_fetch: (told high watermark, leader's) -> answered without records (KAFKA-9952).
        last_epoch_after_empty_answer: (its last record's) -> the epoch that the next fetch names (KAFKA-15510).
        high_watermark_at_new_start: (high watermark, log start) -> it, in an emptied log (KAFKA-9491).
        answers_when_stopped: a leader whose replica is stopped answers the producers that wait (KAFKA-9198).
        stops_replica: (epoch of StopReplica, the replica's) -> it is stopped (KIP-570).
        tells_latest_offset: (high watermark, epoch start offset) -> ListOffsets answers it (KIP-207).
        followers_serve_consumers: a follower shows consumers what it knows to be committed (KIP-392).
        finds_time_at_high_watermark: a lookup by time may end one record above what is committed.
        asks_controller_to_join: the ISR grows by AlterPartition, with a maximal ISR (KIP-497).
        when_ahead: what becomes of a follower ahead of its leader if unclean election is off (KAFKA-7414).
        election: the controller's rules.
        delivery: how its decisions reach the brokers.
        marks_recovery: (view before, view after) -> the view, marked after an unclean election.
        stopping_leader_cuts: a leader that stops gracefully cuts its log to its high watermark.
        reassignment: how the partition moves to other brokers.
        unknown_replica: what a leader does with a fetch before it has heard that the replica is assigned.
        elects_uncleanly_on_request: an operator may ask for an unclean election (KIP-460).
        settings_changed: (view, old settings, partition, election rules) -> the view under new settings.
        allows_unclean_election: (unclean.leader.election.enable, None if not set) -> unclean election is allowed.
        has_eligible_by_default: a cluster is formatted with eligible leader replicas unless told otherwise (KIP-966).
        heeds_message_format: brokers look at message.format.version (KIP-724).
        notes_epoch_in_any_format: a leader notes its epoch also where records carry none (KAFKA-7897).
        takes_request_of_start: (broker epoch that a controller names, the broker's own) -> it is obeyed (KIP-380).
        answers_fetch_at_once: (consumer's offset, end that it may see) -> its fetch waits for nothing (KAFKA-16452).
        moves_in_session: (partition gave records) -> it moves to the end of its fetch session (KAFKA-12330).
        requests: the versions of requests that brokers answer and send.
        rules: every rule that this set names, for reports.
    """

    version: str
    metadata: MetadataMode
    truncation: Truncation
    skips_truncation: SkipsTruncation
    writes_epoch_on_election: bool
    keeps_epoch_without_cut: bool
    closes_former_fetch: bool
    joins_isr: Callable[[Offset, Offset, Offset], bool]
    may_join: Callable[[bool, RemoteReplica], bool]
    serves_epoch: Callable[[LeaderEpoch, LeaderEpoch], bool]
    leaves_isr: Callable[[Offset | None, Offset], bool]
    effective_min_isr: Callable[[int, int], int]
    high_watermark_needs_min_isr: bool
    raises_high_watermark_on_shrink: bool
    checks_every_fetch: bool
    waits_for_caught_up: Callable[[RemoteReplica, bool], bool]
    trusts_last_fetch_on_re_election: bool
    counts_diverging_fetch: bool
    takes_high_watermark_before_cut: bool
    tells_once: bool
    session_names_epoch: bool
    counts_fetch_of_earlier_start: bool
    drops_stale_lookups: bool
    drops_stale_fetches: bool
    answers_new_high_watermark: bool
    wakes_waiting_fetch: Callable[[Offset, Offset], bool]
    last_epoch_after_empty_answer: Callable[[LeaderEpoch], LeaderEpoch]
    high_watermark_at_new_start: Callable[[Offset, Offset], Offset]
    answers_when_stopped: bool
    stops_replica: Callable[[LeaderEpoch, LeaderEpoch], bool]
    tells_latest_offset: Callable[[Offset, Offset], bool]
    followers_serve_consumers: bool
    finds_time_at_high_watermark: bool
    asks_controller_to_join: bool
    when_ahead: WhenAhead
    election: ElectionRules
    delivery: DecisionDelivery
    marks_recovery: Callable[[ControllerView, ControllerView], ControllerView]
    stopping_leader_cuts: bool
    reassignment: ReassignmentRules
    unknown_replica: UnknownReplica
    elects_uncleanly_on_request: bool
    settings_changed: Callable[[ControllerView, TopicSettings, ElectedPartition, ElectionRules], ControllerView]
    allows_unclean_election: Callable[[bool | None], bool]
    has_eligible_by_default: bool
    heeds_message_format: bool
    notes_epoch_in_any_format: bool
    takes_request_of_start: Callable[[int, int], bool]
    answers_fetch_at_once: Callable[[Offset, Offset], bool]
    moves_in_session: Callable[[bool], bool]
    requests: RequestVersions
    rules: tuple[Rule, ...]

    def names(self) -> tuple[str, ...]:
        """Return the names of the rules, as predictions list them."""
        return tuple(rule.name for rule in self.rules)
