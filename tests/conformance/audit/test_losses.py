"""Does the audit say of settings what the guarantee table has, with the extent of what was searched?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.audit.losses import Loss, loss_words, losses
from oracle.brokers.answers import SearchResult
from oracle.brokers.questions import Faults, GuaranteeCell
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks, MetadataMode

NEWEST = rules_for("4.4.0", MetadataMode.KRAFT)
ZOOKEEPER = rules_for("2.8.2", MetadataMode.ZOOKEEPER)
LIFTED = "(a witness of 3 replicas, lifted; proved by prediction)"


def test_what_three_replicas_do_not_lose_was_searched_whole() -> None:
    words = loss_words(NEWEST, Acks.ALL, 2, 3, unclean=False)
    assert (
        words
        == "by kills: none found, RF 3 searched whole; by stops, one power failure: none found, RF 3 searched whole"
    )


def test_one_replica_loses_to_a_power_failure() -> None:
    words = loss_words(ZOOKEEPER, Acks.ALL, 1, 1, unclean=False)
    assert words.startswith("by stops, one power failure an acknowledged record is lost in 3 actions: cut on broker 1")


@pytest.mark.parametrize("replicas", [4, 5])
def test_a_loss_with_three_replicas_is_proved_with_more_and_no_loss_is_not_said_of_them(replicas: int) -> None:
    lost = loss_words(ZOOKEEPER, Acks.ALL, 1, replicas, unclean=True)
    assert LIFTED in lost
    assert lost.endswith(f"--replicas {replicas})")
    words = loss_words(NEWEST, Acks.ALL, 2, replicas, unclean=False)
    assert words.startswith(f"by kills: RF {replicas} was not searched; none found, RF 3 searched whole; by stops")


def test_a_loss_that_does_not_lift_is_none_that_was_found() -> None:
    cell = GuaranteeCell(Acks.ALL, 1, unclean=True, replicas=4, faults=Faults.KILLS)
    loss = Loss(cell, SearchResult(9, 3, is_complete=True, actions=2))
    assert not loss.is_found
    assert loss.words == "by kills: RF 4 was not searched; with RF 3 one is lost"
    assert replace(loss, is_lifted=True).words.endswith(LIFTED)


@pytest.mark.parametrize(("acks", "min_isr", "replicas"), [(Acks.NONE, 1, 3), (Acks.ALL, 1, 6), (Acks.ALL, 4, 5)])
def test_what_the_table_cannot_tell_was_not_searched(acks: Acks, min_isr: int, replicas: int) -> None:
    assert losses(NEWEST, acks, min_isr, replicas, unclean=False) == ()
    assert "was not searched" in loss_words(NEWEST, acks, min_isr, replicas, unclean=False)
