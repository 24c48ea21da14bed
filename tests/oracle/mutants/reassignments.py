"""Which mistakes can a controller make while it moves a partition to other brokers?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oracle.rules.reassignment import ADDED_ONLY, IN_ONE_RECORD, IN_STEPS, unchanged
from tests.oracle.mutants.killers import Story
from tests.oracle.mutants.mutant import Mutant, with_fields

if TYPE_CHECKING:
    from oracle.state import ControllerView, Reassignment


def always(_view: ControllerView, _reassignment: Reassignment) -> bool:
    return True


MUTANTS = (
    Mutant(
        "ends-before-new-replicas-are-in-sync",
        "reassignment",
        "replicas leave before those that replace them have their records",
        Story("reassignment-on-3.9-zookeeper"),
        with_fields(reassignment=replace(IN_STEPS, is_ready=always)),
    ),
    Mutant(
        "begins-without-an-epoch",
        "reassignment",
        "new replicas are assigned in the same leader epoch, as in KRaft mode",
        Story("reassignment-on-3.9-zookeeper"),
        with_fields(reassignment=replace(IN_STEPS, begun=unchanged)),
    ),
    Mutant(
        "removes-in-steps",
        "reassignment",
        "a KRaft controller takes one replica after the other out of the ISR",
        Story("reassignment-on-3.9-kraft"),
        with_fields(reassignment=replace(IN_ONE_RECORD, completed=IN_STEPS.completed)),
    ),
    Mutant(
        "waits-for-added-replicas-only",
        "reassignment",
        "3.8 removes replicas although one that stays is out of sync",
        Story("reassignment-while-out-of-sync-on-3.8-kraft"),
        with_fields(reassignment=ADDED_ONLY),
    ),
    Mutant(
        "waits-for-every-wanted-replica",
        "reassignment",
        "3.7 waits for a replica that was assigned before",
        Story("reassignment-while-out-of-sync-on-3.7-kraft"),
        with_fields(reassignment=IN_ONE_RECORD),
    ),
)
