"""May a follower send this? Invariants 16, 23 and 24: its end, its last epoch, and whom it asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.asking import fetches_claim_epoch
from oracle.log import NO_EPOCH
from oracle.replacing import replace
from oracle.rules import leader_epoch
from oracle.rules.request_versions import Peer, sent_version
from oracle.tracing.exchange import Exchange
from oracle.tracing.invariants import Invariant
from oracle.tracing.observed import FetchSent
from oracle.tracing.possibility import Possibility, fetching_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from oracle.rules.rule_set import RuleSet
    from oracle.tracing.invariants import Judge, TraceSettings
    from oracle.tracing.observed import LookupSent
    from oracle.tracing.replica import TracedReplica


LATE_NS = 500_000_000
"""How long after the first request to a new leader one to the leader before may come: what a stall may take."""


class SendingChecks:
    """Checks what followers send, and so resolves what they may be."""

    def __init__(self, rules: RuleSet, speech: SentVersions, judge: Judge) -> None:
        """Check under a release's rules."""
        self._rules = rules
        self._speech = speech
        self._judge = judge

    def fetch(self, follower: TracedReplica, sent: FetchSent) -> Exchange:
        """Check a FETCH."""
        self._check_version("FETCH", sent, self._speech.fetch)
        if _is_late(follower, sent):
            return self._late(follower, sent)
        replicas = self._in_role(follower, sent, truncating=False)
        replicas = self._at_offset(replicas, sent)
        replicas = self._at_last_epoch(replicas, sent)
        return self._sent(follower, sent, replicas)

    def lookup(self, follower: TracedReplica, sent: LookupSent) -> Exchange:
        """Check an OffsetsForLeaderEpoch request."""
        self._check_version("OffsetsForLeaderEpoch", sent, self._speech.lookup)
        if _is_late(follower, sent):
            return self._late(follower, sent)
        replicas = self._in_role(follower, sent, truncating=True)
        fitting = [one for one in replicas if sent.epoch in _latest_epochs(one)]
        if not self._judge.keeps(Invariant.TRUNCATION_OFFSET, bool(fitting)):
            allowed = f"its latest epoch, {_listed(epoch for one in replicas for epoch in _latest_epochs(one))}"
            observed = f"broker {sent.follower} asks where epoch {sent.epoch} ends"
            raise self._refusal(Invariant.TRUNCATION_OFFSET, observed, allowed)
        return self._sent(follower, sent, fitting)

    def _check_version(self, name: str, sent: FetchSent | LookupSent, versions: range) -> None:
        if not self._judge.keeps(Invariant.REQUEST_OF_RELEASE, sent.api_version in versions):
            observed = f"broker {sent.follower} sends {name} version {sent.api_version}"
            self._object_to(observed, in_words(versions))

    def _in_role(self, follower: TracedReplica, sent: FetchSent | LookupSent, *, truncating: bool) -> list[Possibility]:
        """Return the possibilities that follow this leader, in this epoch, at this stage."""
        reachable = follower.reachable()
        self._check_epoch_told(sent)
        fitting = [
            replica
            for replica in _after_answer(follower, sent, reachable)
            if replica.leader == sent.leader
            and replica.truncating == truncating
            and sent.current_leader_epoch in (None, replica.leader_epoch)
        ]
        if self._judge.keeps(Invariant.REQUEST_OF_RELEASE, bool(fitting)):
            return fitting
        observed = f"broker {sent.follower} {_doing(sent)} of broker {sent.leader}{_in_epoch(sent)}"
        self._object_to(observed, _listed(map(_role, reachable)))
        told = reachable[-1].leader_epoch if sent.current_leader_epoch is None else sent.current_leader_epoch
        return [replace(reachable[-1], leader=sent.leader, leader_epoch=told, truncating=truncating)]

    def _check_epoch_told(self, sent: FetchSent | LookupSent) -> None:
        is_told = sent.current_leader_epoch is not None
        if not self._judge.keeps(Invariant.REQUEST_OF_RELEASE, is_told == self._speech.tells_epoch):
            observed = f"broker {sent.follower} {_doing(sent)} {'with' if is_told else 'without'} its leader epoch"
            self._object_to(observed, "the opposite in this release")

    def _at_offset(self, replicas: list[Possibility], sent: FetchSent) -> list[Possibility]:
        """Return the possibilities whose log may end where the follower fetches."""
        offset = sent.fetch_offset
        fitting = [one for one in replicas if one.is_out_of_range or one.log.is_end(offset)]
        was_cut = any(replica.was_cut for replica in replicas)
        invariant = Invariant.TRUNCATION_OFFSET if was_cut else Invariant.FETCH_OFFSET
        if self._judge.keeps(invariant, bool(fitting)):
            return fitting
        observed = f"broker {sent.follower} fetches from {offset} of broker {sent.leader}"
        ends = _listed(f"{_end(replica)}{' after its cut' if replica.was_cut else ''}" for replica in replicas)
        allowed = f"from its log end offset, {ends}"
        if was_cut:
            self._judge.object_to(invariant, observed, allowed, self._rules.truncation.rule.name)
            return replicas
        raise self._refusal(invariant, observed, allowed)

    def _at_last_epoch(self, replicas: list[Possibility], sent: FetchSent) -> list[Possibility]:
        """Return the possibilities whose last epoch the follower tells, now that their end is known."""
        ended = [known for replica in replicas for known in fetching_at(replica, sent.fetch_offset)]
        told = NO_EPOCH if sent.last_fetched_epoch is None else sent.last_fetched_epoch
        if not self._speech.tells_last_epoch:
            self._check_no_last_epoch(sent)
            return ended
        if told == NO_EPOCH and self._speech.may_forget_last_epoch:
            return ended
        fitting = [replica for replica in ended if told in _latest_epochs(replica)]
        if self._judge.keeps(Invariant.FETCH_OFFSET, bool(fitting)):
            return fitting
        expected = _listed(epoch for replica in ended for epoch in _latest_epochs(replica))
        if told == NO_EPOCH:
            self._object_to(f"broker {sent.follower} tells no epoch of its last record", expected)
            return ended
        observed = f"broker {sent.follower} tells {told} as the epoch of its last record"
        raise self._refusal(Invariant.FETCH_OFFSET, observed, expected)

    def _check_no_last_epoch(self, sent: FetchSent) -> None:
        if not self._judge.keeps(Invariant.REQUEST_OF_RELEASE, sent.last_fetched_epoch is None):
            observed = f"broker {sent.follower} tells the epoch of its last record"
            self._object_to(observed, "no such field in this release")

    def _sent(self, follower: TracedReplica, sent: FetchSent | LookupSent, replicas: list[Possibility]) -> Exchange:
        is_fetch = isinstance(sent, FetchSent)
        _note_other_fetchers(follower, sent, replicas)
        follower.resolve(sent.at, (_asking(one, is_fetch=is_fetch) for one in replicas))
        epochs = frozenset(replica.leader_epoch for replica in follower.possible)
        follower.under_way = Exchange(sent, epochs)
        return follower.under_way

    def _late(self, follower: TracedReplica, sent: FetchSent | LookupSent) -> Exchange:
        """Let a request pass that the fetcher had made before its broker applied the last decision: one may.

        If the fetcher of another leader has a request under way, nothing of that changes: this one's answer is
        for a partition that its fetcher no longer has.
        """
        late = Exchange(sent, frozenset(one.leader_epoch for one in follower.earlier if one.leader == sent.leader))
        follower.earlier = [one for one in follower.earlier if one.leader != sent.leader]
        if follower.under_way is None or follower.under_way.request.leader == sent.leader:
            follower.possible = [replace(replica, has_taken=False) for replica in follower.reachable()]
            follower.under_way = late
        return late

    def _object_to(self, observed: str, allowed: str) -> None:
        self._judge.object_to(Invariant.REQUEST_OF_RELEASE, observed, allowed, self._rules.truncation.rule.name)

    def _refusal(self, invariant: Invariant, observed: str, allowed: str) -> Exception:
        return self._judge.refusal(invariant, observed, allowed, self._rules.truncation.rule.name)


def _asking(replica: Possibility, *, is_fetch: bool) -> Possibility:
    """Return a replica that has just sent a request."""
    was_cut = replica.was_cut and not is_fetch
    is_so = not replica.has_taken and replica.was_cut == was_cut
    return replica if is_so else replace(replica, has_taken=False, was_cut=was_cut)


def _after_answer(
    follower: TracedReplica, sent: FetchSent | LookupSent, reachable: list[Possibility]
) -> list[Possibility]:
    """Leave out what has not handled the answer before: on one connection that comes first."""
    before = follower.under_way
    if before is None or not before.is_answered or before.request.key.connection != sent.key.connection:
        return reachable
    return [replica for replica in reachable if replica.has_taken]


def _note_other_fetchers(follower: TracedReplica, sent: FetchSent | LookupSent, replicas: list[Possibility]) -> None:
    """Note as whom a follower may still send one late request: each leader has a fetcher of its own.

    Source: AbstractFetcherManager (a thread per leader), AbstractFetcherThread (builds a request under its lock and
    sends it without). Between the two nothing but a stall keeps the thread.
    """
    applied = min(replica.heard for replica in replicas)
    left = [replica for replica in follower.reachable() if replica.heard < applied] if applied else []
    if follower.late_until is None or left:
        follower.late_until = sent.at + LATE_NS
    known = dict.fromkeys((*follower.earlier, *left))
    follower.earlier = [replica for replica in known if replica.leader not in (None, sent.leader, sent.follower)]
    if not follower.earlier:
        follower.late_until = None


def _is_late(follower: TracedReplica, sent: FetchSent | LookupSent) -> bool:
    """Return whether only the follower of before its last decision sends this, and no later than a stall explains."""
    if not follower.earlier or any(_sends(replica, sent) for replica in follower.reachable()):
        return False
    is_in_time = follower.late_until is None or sent.at <= follower.late_until
    return is_in_time and any(_sends(replica, sent) for replica in follower.earlier)


def _sends(replica: Possibility, sent: FetchSent | LookupSent) -> bool:
    """Return whether a follower sends this, as far as its role and the end of its log go."""
    if replica.leader != sent.leader or sent.current_leader_epoch not in (None, replica.leader_epoch):
        return False
    if isinstance(sent, FetchSent):
        return not replica.truncating and replica.log.is_end(sent.fetch_offset)
    return replica.truncating and sent.epoch in _latest_epochs(replica)


def _latest_epochs(replica: Possibility) -> tuple[int, ...]:
    return (replica.log.low.latest_epoch, replica.log.high.latest_epoch)


def _doing(sent: FetchSent | LookupSent) -> str:
    return "fetches" if isinstance(sent, FetchSent) else "asks for the end of an epoch"


def _in_epoch(sent: FetchSent | LookupSent) -> str:
    return "" if sent.current_leader_epoch is None else f" in epoch {sent.current_leader_epoch}"


def _role(replica: Possibility) -> str:
    """Return what the replica may do instead."""
    if replica.leader is None:
        return "nothing, as nobody leads"
    stage = "asks for the end of its last epoch" if replica.truncating else "fetches"
    return f"{stage} of broker {replica.leader} in epoch {replica.leader_epoch}"


def _end(replica: Possibility) -> str:
    low, high = replica.log.low.end, replica.log.high.end
    return str(low) if low == high else f"{low} or later"


def _listed(things: Iterable[object]) -> str:
    return " or ".join(dict.fromkeys(map(str, things)))


NEWEST_EVER = 1_000
"""A version that no request will reach."""


@dataclass(frozen=True, slots=True)
class SentVersions:
    """What a release sends.

    Attributes:
        fetch: the versions of FETCH.
        lookup: those of OffsetsForLeaderEpoch; none if followers never ask.
        alter_partition: those of AlterPartition; none if leaders never ask.
        tells_epoch: whether requests carry the leader epoch that the follower is in.
        tells_last_epoch: whether FETCH carries the epoch of the follower's last record.
        may_forget_last_epoch: an empty answer wipes that epoch (KAFKA-15510).
    """

    fetch: range
    lookup: range
    alter_partition: range
    tells_epoch: bool
    tells_last_epoch: bool
    may_forget_last_epoch: bool


def sent_versions(rules: RuleSet, settings: TraceSettings) -> SentVersions:
    """Return what the brokers of a release send to each other."""
    looked_up = _versions(Peer.OFFSETS_FOR_LEADER_EPOCH, rules, settings)
    return SentVersions(
        fetch=_versions(Peer.FETCH, rules, settings),
        lookup=looked_up if rules.truncation.asks_leader else range(0),
        alter_partition=_versions(Peer.ALTER_PARTITION, rules, settings),
        tells_epoch=fetches_claim_epoch(rules),
        tells_last_epoch=rules.truncation.checks_on_fetch,
        may_forget_last_epoch=leader_epoch.LAST_EPOCH_FORGOTTEN in rules.rules,
    )


def in_words(versions: range) -> str:
    """Return which versions of a request a release sends."""
    if not versions:
        return "no such request in this release"
    return f"version {versions[-1]}" if len(versions) == 1 else f"version {versions[-1]} at most"


def _versions(peer: Peer, rules: RuleSet, settings: TraceSettings) -> range:
    """Return the versions of a request that may be seen: any older one too, if an older protocol is configured."""
    sent = sent_version(peer, rules)
    if sent is None:
        return range(0)
    return range(sent if settings.has_own_protocol else 0, (NEWEST_EVER if rules.requests.may_be_newer else sent) + 1)
