"""Which step may come next? One function a kind of step proposes it from what the model has at that moment.

A proposal reads what must be so before it (a broker that runs, a frame that is held), and draws the rest. It does not
ask whether the rules allow the step: whoever grows a schedule takes it on the model, and hears it there.

Not proposed, since no brokers could be held against the prediction (``docs/limits.md``): ``lose_checkpoint`` after
``delete_records``, a hold that counts frames, and an outcome that is expected where a race decides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from oracle.obstructing import silent_followers
from oracle.rules.request_versions import versions
from oracle.steps.brokers import (
    Isolate,
    Kill,
    KillTogether,
    LoseCheckpoint,
    LoseTail,
    Pause,
    Rejoin,
    Resume,
    Start,
    Stop,
)
from oracle.steps.frames import AwaitHold, Close, CutLink, DelayFrame, Drop, Heal, Hold, ReleaseHold
from oracle.steps.produce import AwaitOutcome, Produce
from oracle.steps.questions import EPOCH_REQUESTS_CLAIM_CURRENT, Consume, EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.steps.topic import AddPartitions, Alter, CreateTopic, DeleteRecords, DeleteTopic, Elect, Reassign
from oracle.steps.waits import AwaitIsr, AwaitLag, AwaitLeader, Checkpoint
from oracle.vocabulary import (
    FROM_CONTROLLER,
    LOOKUPS,
    TO_CONTROLLER,
    Acks,
    BrokerId,
    ClientRequest,
    ElectionKind,
    Expectation,
    Label,
    Leadership,
    Offset,
    OffsetSpec,
    PointName,
    Timing,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from oracle.gate import ArmedHold
    from oracle.state import PartitionState
    from oracle.steps.step import SoFar, Step
    from oracle.world import World

    Proposal = Callable[["ProposalMoment"], tuple[Step, ...]]

T = TypeVar("T")
DELAYS_MS = (20, 100, 300)
PATIENT_MS = 240_000
"""How long a record waits for the others: longer than any schedule, so that none times out on the way."""
WAITED_MS = 2_000
"""How long a broker that is asked to append waits for the others, if nobody else shall wait meanwhile."""
RECORDS_MAX = 3
"""So many records one step sends at most."""


@dataclass(frozen=True, slots=True)
class ProposalMoment:
    """What a proposal is drawn from.

    Attributes:
        world: where the model is, on the first way through the schedule so far.
        so_far: which names the schedule has.
        brokers: all that it may move the partition to.
        named: those of them that the schedule names already; of the others it can say nothing.
        unsteady: those whose high watermark checkpoint nobody can tell: they must not end by themselves.
        points: the protocol points that the release has.
        draw: the source of chance.
    """

    world: World
    so_far: SoFar
    brokers: tuple[BrokerId, ...]
    named: frozenset[BrokerId]
    unsteady: frozenset[BrokerId]
    points: tuple[PointName, ...]
    draw: Random

    @property
    def state(self) -> PartitionState:
        """Return the partition."""
        return self.world.state

    @property
    def running(self) -> list[BrokerId]:
        """Return the brokers that the schedule names, that run, and that are neither paused nor isolated."""
        away = self.world.obstacles.unreachable
        return sorted(r.broker for r in self.state.replicas if r.alive and r.broker in self.named - away)

    @property
    def assigned(self) -> list[BrokerId]:
        """Return the assigned replicas whose brokers take part."""
        return [broker for broker in self.running if broker in self.state.assignment]

    @property
    def dispensable(self) -> list[BrokerId]:
        """Return the assigned replicas of which a silent end can be followed: under ``lag`` the leader's cannot."""
        is_lag, leader = self.world.timing is Timing.LAG, self.state.controller.leader
        return [b for b in self.assigned if not (is_lag and b == leader) and b not in self.unsteady]

    @property
    def stoppable(self) -> list[BrokerId]:
        """Return the assigned replicas whose stop and restart take no minute, on whichever release.

        Up to 1.0 a stop waits for an answer (KAFKA-6051). Under ``lag`` sessions last a minute: with KRaft who is in no
        ISR, and from 4.0 on everybody, waits for the end of the last one before it is registered again.
        """
        if self.world.timing is Timing.LAG:
            return []
        is_slow = not self.world.rules.closes_former_fetch
        return [b for b in self.assigned if not (is_slow and self.world.gate.blocks(b, self.state.replica(b).leader))]

    @property
    def separable(self) -> list[BrokerId]:
        """Return those of which a silence can be followed: one at a time, as a second one may hear half of a change."""
        return [] if self.world.obstacles.unreachable else self.dispensable

    @property
    def is_complete(self) -> bool:
        """Return whether every assigned replica takes part, as changes of topics need it."""
        return len(self.assigned) == len(self.state.assignment)

    @property
    def down(self) -> list[BrokerId]:
        """Return the brokers that do not run."""
        return sorted(replica.broker for replica in self.state.replicas if not replica.alive)

    @property
    def held(self) -> list[ArmedHold]:
        """Return the holds that have caught a frame and not thrown it away."""
        return [armed for armed in self.world.gate.holds if armed.can_be_let_go]

    def about_one(self, step: Callable[[T], Step], candidates: Sequence[T]) -> tuple[Step, ...]:
        """Return a step about one of several, drawn; none if there is none."""
        return (step(self.draw.choice(candidates)),) if candidates else ()

    def labels(self, count: int) -> tuple[Label, ...]:
        """Return labels for the next records."""
        known = len(self.so_far.records)
        return tuple(Label(f"m{number}") for number in range(known, known + count))

    def link(self) -> tuple[BrokerId, BrokerId] | None:
        """Draw a link from a follower to a leader: mostly one that is used."""
        leader = self.state.controller.leader
        if leader is None or self.draw.random() < 0.15:
            leader = self.draw.choice(self.brokers)
        followers = [broker for broker in self.assigned if broker != leader]
        return (self.draw.choice(followers), leader) if followers else None


def produce(at: ProposalMoment) -> tuple[Step, ...]:
    """Send some records to who leads."""
    acks = at.draw.choices((Acks.ALL, Acks.LEADER, Acks.NONE), (12, 5, 2))[0]
    count = at.draw.choices(range(1, RECORDS_MAX + 1), (6, 2, 1))[0]
    return (Produce(at.labels(count), acks, Expectation.ANY, timeout_ms=PATIENT_MS),)


def produce_to(at: ProposalMoment) -> tuple[Step, ...]:
    """Send a record to a broker that believes that it leads, though another one is elected."""
    zombies = [b for b in at.running if at.state.presumed_leader(b) and b != at.state.controller.leader]
    return at.about_one(partial(Produce, at.labels(1), Acks.ALL, Expectation.ANY, None, PATIENT_MS), zombies)


def await_outcome(at: ProposalMoment) -> tuple[Step, ...]:
    """Wait for what became of a record."""
    waiting = [produce.label for produce in at.state.produces if produce.outcome is not None]
    return (AwaitOutcome((at.draw.choice(waiting),), Expectation.ANY),) if waiting else ()


def hold(at: ProposalMoment) -> tuple[Step, ...]:
    """Hold a frame between a follower and its leader, now or when it has more."""
    link, points = at.link(), [p for p in at.points if p not in (*FROM_CONTROLLER, *TO_CONTROLLER)]
    if link is None:
        return ()
    point = at.draw.choice(points)
    end = at.state.replica(link[0]).log.log_end_offset
    offset = None if point in LOOKUPS else at.draw.choice((None, Offset(end), Offset(end + 1)))
    return (Hold(f"hold {at.so_far.index}", point, link[0], link[1], offset),)


def hold_channel(at: ProposalMoment) -> tuple[Step, ...]:
    """Hold a frame between a broker and the controller."""
    points = [point for point in at.points if point in (*FROM_CONTROLLER, *TO_CONTROLLER)]
    if not points or not at.running:
        return ()
    return (Hold(f"hold {at.so_far.index}", at.draw.choice(points), broker=at.draw.choice(at.running)),)


def delay(at: ProposalMoment) -> tuple[Step, ...]:
    """Let the fetch that brings the next record come late: right before one is sent, on a link that nothing stops."""
    leader = at.state.serving_leader()
    if leader is None or leader.broker not in at.running:
        return ()
    free = [
        b for b in at.assigned if b in leader.isr and b != leader.broker and not at.world.gate.blocks(b, leader.broker)
    ]
    if not free or at.world.obstacles.cuts:
        return ()
    frame = DelayFrame(PointName.FETCH_RESPONSE, at.draw.choice(free), leader.broker, at.draw.choice(DELAYS_MS))
    return (frame, Produce(at.labels(1), Acks.ALL, Expectation.ANY, timeout_ms=PATIENT_MS))


def await_hold(at: ProposalMoment) -> tuple[Step, ...]:
    """Wait until a frame is caught."""
    return at.about_one(AwaitHold, [armed.hold.name for armed in at.held])


def release(at: ProposalMoment) -> tuple[Step, ...]:
    """Let a held frame go on."""
    return at.about_one(ReleaseHold, [armed.hold.name for armed in at.held])


def release_late(at: ProposalMoment) -> tuple[Step, ...]:
    """Deliver a fetch that has outlived its sender."""
    return at.about_one(partial(ReleaseHold, late=True), [one.hold.name for one in at.world.gate.late])


def drop(at: ProposalMoment) -> tuple[Step, ...]:
    """Throw a held fetch away; its follower waits for the answer."""
    return at.about_one(Drop, [armed.hold.name for armed in at.held if armed.hold.follower is not None])


def close(at: ProposalMoment) -> tuple[Step, ...]:
    """Throw a held fetch away with its connection."""
    return at.about_one(Close, [armed.hold.name for armed in at.held if armed.hold.follower is not None])


def kill(at: ProposalMoment) -> tuple[Step, ...]:
    """Kill a broker: rather one whose fetch is held, which may then come late."""
    asking = [a.hold.follower for a in at.held if a.hold.point is PointName.FETCH_REQUEST]
    rather = [broker for broker in at.dispensable if broker in asking and at.draw.random() < 0.5]
    return at.about_one(Kill, rather or at.dispensable)


def stop(at: ProposalMoment) -> tuple[Step, ...]:
    """Stop a broker gracefully."""
    return at.about_one(Stop, at.stoppable)


def kill_together(at: ProposalMoment) -> tuple[Step, ...]:
    """Kill two brokers at once."""
    return (KillTogether(tuple(sorted(at.draw.sample(at.dispensable, 2)))),) if len(at.dispensable) > 1 else ()


def start(at: ProposalMoment) -> tuple[Step, ...]:
    """Start a broker that is down, and not registered any more."""
    gone = [broker for broker in at.down if broker not in at.state.controller.registered]
    return at.about_one(Start, gone)


def roll(at: ProposalMoment) -> tuple[Step, ...]:
    """Restart a broker in good order."""
    return (Stop(broker := at.draw.choice(at.stoppable)), Start(broker)) if at.stoppable else ()


def pause(at: ProposalMoment) -> tuple[Step, ...]:
    """Freeze a broker."""
    return at.about_one(Pause, at.separable)


def resume(at: ProposalMoment) -> tuple[Step, ...]:
    """Let a frozen broker go on."""
    return at.about_one(Resume, sorted(at.world.obstacles.paused))


def isolate(at: ProposalMoment) -> tuple[Step, ...]:
    """Cut a broker off."""
    return at.about_one(Isolate, at.separable)


def rejoin(at: ProposalMoment) -> tuple[Step, ...]:
    """Let an isolated broker's links work again."""
    return at.about_one(Rejoin, sorted(at.world.obstacles.isolated))


def cut(at: ProposalMoment) -> tuple[Step, ...]:
    """Cut the link of a follower."""
    link = at.link()
    return (CutLink(*link),) if link is not None else ()


def heal(at: ProposalMoment) -> tuple[Step, ...]:
    """Heal a link that is cut."""
    cuts = sorted((follower, leader) for follower, leader in at.world.obstacles.cuts if leader is not None)
    return (Heal(*at.draw.choice(cuts)),) if cuts else ()


def lose_tail(at: ProposalMoment) -> tuple[Step, ...]:
    """Let the disk of a broker that is down forget the end of its log."""
    replicas = [at.state.replica(broker) for broker in at.down]
    with_records = [one for one in replicas if one.log_start_offset < one.log.log_end_offset]
    if not with_records:
        return ()
    replica = at.draw.choice(with_records)
    offset = at.draw.randrange(replica.log_start_offset, replica.log.log_end_offset)
    return (LoseTail(replica.broker, Offset(offset)),)


def lose_checkpoint(at: ProposalMoment) -> tuple[Step, ...]:
    """Let the disk of a broker that is down forget its high watermark."""
    return () if at.so_far.has_deleted_records else at.about_one(LoseCheckpoint, at.down)


def elect(at: ProposalMoment) -> tuple[Step, ...]:
    """Ask for an election: an unclean one where nobody leads."""
    leader, assignment = at.state.controller.leader, at.state.assignment
    if leader is None:
        return (Elect(ElectionKind.UNCLEAN),)
    return (Elect(ElectionKind.PREFERRED),) if assignment and leader != assignment[0] else ()


def reassign(at: ProposalMoment) -> tuple[Step, ...]:
    """Move the partition to other brokers, or to the same ones in another order."""
    down = {*at.down, *at.world.obstacles.unreachable}
    targets = [broker for broker in at.brokers if broker not in down]
    is_held = any(armed.hold.follower is not None for armed in at.held)  # a replica that goes may end its connection
    if down.intersection(at.state.assignment) or is_held:
        return ()
    count = min(len(targets), max(1, len(at.state.assignment) + at.draw.choice((-1, 0, 0, 1))))
    target = tuple(at.draw.sample(targets, count))
    return (Reassign(target),) if target and target != at.state.assignment else ()


def alter(at: ProposalMoment) -> tuple[Step, ...]:
    """Change a setting."""
    settings = at.state.settings
    if at.draw.random() < 0.5:
        return (Alter(unclean_leader_election=not settings.unclean_leader_election),)
    return (Alter(min_insync_replicas=1 if settings.min_insync_replicas > 1 else 2),)


def delete_records(at: ProposalMoment) -> tuple[Step, ...]:
    """Delete some of the records that are committed: not all of a log, if a new epoch leaves the old one's entry."""
    leader = at.state.serving_leader()
    if leader is None:
        return ()
    keeps_one = not at.world.rules.writes_epoch_on_election
    last = min(leader.high_watermark, leader.log.log_end_offset - keeps_one)
    if last <= leader.log_start_offset:
        return ()
    return (DeleteRecords(Offset(at.draw.randint(leader.log_start_offset + 1, last))),)


def create_topic(at: ProposalMoment) -> tuple[Step, ...]:
    """Create another topic."""
    return (CreateTopic(f"other-{at.so_far.index}"),) if at.is_complete else ()


def delete_topic(at: ProposalMoment) -> tuple[Step, ...]:
    """Delete another topic."""
    is_possible = at.is_complete and not at.so_far.has_deleted_records
    return at.about_one(DeleteTopic, sorted(at.so_far.topics)) if is_possible else ()


def add_partitions(at: ProposalMoment) -> tuple[Step, ...]:
    """Give the topic one partition more."""
    return (AddPartitions(at.so_far.partitions + 1),) if at.is_complete else ()


def await_leader(at: ProposalMoment) -> tuple[Step, ...]:
    """Wait for the leader that the model has."""
    return (AwaitLeader(at.state.controller.leader),)


def await_isr(at: ProposalMoment) -> tuple[Step, ...]:
    """Wait for the ISR that the model has."""
    return (AwaitIsr(tuple(sorted(at.state.controller.isr))),)


def await_lag(at: ProposalMoment) -> tuple[Step, ...]:
    """Let the lag time pass for the followers that are silent."""
    looks = at.world.timing is Timing.LAG and at.state.serving_leader() is not None
    return (AwaitLag(silent_followers(at.world)),) if looks else ()


def checkpoint(at: ProposalMoment) -> tuple[Step, ...]:
    """Measure everything."""
    return (Checkpoint(f"after step {at.so_far.index}"),)


def ask(at: ProposalMoment) -> tuple[Step, ...]:
    """Ask a broker that runs."""
    if not at.running:
        return ()
    broker: BrokerId = at.draw.choice(at.running)
    leadership = Leadership(max(len(at.state.controller.leaderships) - 1, 0))
    questions: list[Step] = [
        Consume(broker),
        ListOffsets(OffsetSpec.LATEST, broker),
        ListOffsets(OffsetSpec.EARLIEST, broker),
    ]
    if at.so_far.records:
        label = at.draw.choice(sorted(at.so_far.records))
        questions.append(ListOffsets(OffsetSpec.TIMESTAMP, broker, label))
    lookups = versions(ClientRequest.OFFSETS_FOR_LEADER_EPOCH, at.world.rules)
    if lookups:
        questions.append(EndOffsetOfEpoch(leadership, broker))
    if lookups and lookups[-1] >= EPOCH_REQUESTS_CLAIM_CURRENT:
        claimed = Leadership(at.draw.randint(0, leadership))
        questions.append(EndOffsetOfEpoch(leadership, broker, claimed))
    return (at.draw.choice(questions),)


def send_to(at: ProposalMoment) -> tuple[Step, ...]:
    """Send a record to a broker, whether it leads or not."""
    broker, acks = at.draw.choice(at.running or [BrokerId(0)]), at.draw.choice((1, 0, -1))
    return (SendTo(at.labels(1)[0], broker, acks, WAITED_MS),) if at.running else ()


WEIGHTS: dict[Proposal, float] = {
    produce: 14,
    produce_to: 4,
    await_outcome: 1,
    hold: 26,
    hold_channel: 7,
    delay: 1,
    await_hold: 1,
    release: 8,
    release_late: 14,
    drop: 1.2,
    close: 3,
    kill: 6,
    stop: 2.5,
    kill_together: 1.5,
    start: 9,
    roll: 1,
    pause: 2,
    resume: 6,
    isolate: 2,
    rejoin: 6,
    cut: 2,
    heal: 5,
    lose_tail: 4,
    lose_checkpoint: 3,
    elect: 5,
    reassign: 2,
    alter: 2,
    delete_records: 1.5,
    create_topic: 2,
    delete_topic: 5,
    add_partitions: 1.5,
    await_leader: 1,
    await_isr: 1,
    await_lag: 1,
    checkpoint: 3,
    ask: 4,
    send_to: 1.2,
}
"""How often each is drawn, against the others; those whose steps need much before them are drawn more often."""
NOT_UNDER_LAG = frozenset((stop.__name__, roll.__name__))
"""What is never proposed under ``lag`` timing."""
