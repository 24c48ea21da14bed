"""How does a published module become a model? Its parts, its actions and its invariants, bound to brokers."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from oracle.explorer.factored import Action, Check, Factored, Field, JointAction, Veto
from oracle.published import invariants
from oracle.published.controller import Controller
from oracle.published.parts import Replica, is_true_leader
from oracle.published.replication import Replication

if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.explorer.factored import Parts
    from oracle.published.constants import Constants
    from oracle.published.module import Module

HISTORY, ISR, NEXT_RECORD, FIRST_REPLICA = range(4)
PART_BITS = 20


def specification(module: Module, constants: Constants) -> Factored:
    """Return a module as a model."""
    replicas = range(FIRST_REPLICA, FIRST_REPLICA + constants.replicas)
    pairs = [(leader, follower) for leader, follower in permutations(replicas, 2)]
    actions = Replication(module, constants)
    return Factored(
        name=module.name,
        fields=_fields(constants),
        actions=(
            *_controller_actions(module, constants),
            *(action for one in replicas for action in _own_actions(actions, one)),
            *(action for leader, follower in pairs for action in _pair_actions(actions, leader, follower)),
        ),
        joint_actions=tuple(_high_watermark(actions, leader, replicas) for leader in replicas),
        checks=tuple(check for leader in replicas for check in _checks(module, leader, replicas)),
        groups=(
            frozenset({HISTORY, ISR}),
            *(frozenset({HISTORY, NEXT_RECORD, one}) for one in replicas),
            *(frozenset({HISTORY, ISR, *pair}) for pair in pairs if pair[0] < pair[1]),
        ),
    )


def _fields(constants: Constants) -> tuple[Field, ...]:
    brokers = constants.brokers
    return (
        Field("request history", PART_BITS, ()),
        Field("quorum ISR", len(brokers), frozenset(brokers)),
        Field("next record", constants.records.bit_length(), 0),
        *(Field(f"replica {broker}", PART_BITS, Replica(broker)) for broker in brokers),
    )


def _controller_actions(module: Module, constants: Constants) -> Iterator[Action]:
    controller = Controller(constants)
    reads = (HISTORY, ISR)
    yield Action("ControllerElectLeader", "", reads, controller.elects_leader)
    yield Action("ControllerShrinkIsr", "", reads, controller.shrinks_isr)
    if module.elects_uncleanly:
        yield Action("ControllerElectUnclean", "", reads, controller.elects_uncleanly)


def _own_actions(actions: Replication, replica: int) -> Iterator[Action]:
    who = f"broker {_broker(replica)}"
    yield Action("BecomeLeader", who, (HISTORY, replica), actions.becomes_leader)
    yield Action("LeaderWrite", who, (HISTORY, NEXT_RECORD, replica), actions.writes, _tells_zombie)


def _pair_actions(actions: Replication, leader: int, follower: int) -> Iterator[Action]:
    who = f"leader {_broker(leader)}, broker {_broker(follower)}"
    pair, all_parts = (leader, follower), (HISTORY, ISR, leader, follower)
    yield Action("BecomeFollower", who, (HISTORY, *pair), actions.becomes_follower, _tells_truncation)
    yield Action("FollowerFetch", who, pair, actions.fetches)
    yield Action("LeaderShrinkIsr", who, all_parts, actions.shrinks_isr)
    yield Action("LeaderExpandIsr", who, all_parts, actions.expands_isr)
    if actions.module.checks_last_epoch:
        yield Action("FollowerTruncate", who, pair, actions.truncates, _tells_truncation)


def _high_watermark(actions: Replication, leader: int, replicas: range) -> JointAction:
    action = Action("LeaderIncHighWatermark", f"broker {_broker(leader)}", (leader,), actions.raises_high_watermark)
    others = (one for one in replicas if one != leader)
    return JointAction(action, tuple(Veto((leader, other), actions.withholds) for other in others))


def _checks(module: Module, leader: int, replicas: range) -> Iterator[Check]:
    yield Check(invariants.WEAK_ISR, (leader,), lambda own: invariants.breaks_weak_isr(own, own))
    yield Check(invariants.STRONG_ISR, (ISR, leader), lambda isr, own: invariants.breaks_strong_isr(isr, own, own))
    for member in replicas:
        if member != leader:
            yield Check(invariants.WEAK_ISR, (leader, member), invariants.breaks_weak_isr)
            yield Check(invariants.STRONG_ISR, (ISR, leader, member), invariants.breaks_strong_isr)
            if not module.checks_last_epoch:
                yield Check(invariants.FOLLOWER_IS_PREFIX, (leader, member), invariants.breaks_follower_is_prefix)


def _tells_zombie(before: Parts, _after: Parts) -> Iterator[str]:
    history, _next_record, leader = before
    if not is_true_leader(history, leader):
        yield "a zombie writes"


def _tells_truncation(before: Parts, after: Parts) -> Iterator[str]:
    if after[-1].log != before[-1].log:
        yield "records are cut"


def _broker(replica: int) -> int:
    return replica - FIRST_REPLICA + 1
