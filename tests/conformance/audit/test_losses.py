"""Does the audit say of settings what the guarantee table has, with the extent of what was searched?"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from conformance.audit.losses import Loss, happens, loss_words, losses
from conformance.kept_guarantees import kept_table
from oracle.brokers.answers import SearchResult
from oracle.brokers.questions import Faults, GuaranteeCell
from oracle.rules.by_version import rules_for
from oracle.vocabulary import Acks, MetadataMode

NEWEST = rules_for("4.4.0", MetadataMode.KRAFT)
ZOOKEEPER = rules_for("2.8.2", MetadataMode.ZOOKEEPER)
LIFTED = "(a loss with 3 replicas, proved for {} by prediction)"


def test_what_three_replicas_do_not_lose_was_searched_whole() -> None:
    words = loss_words(NEWEST, Acks.ALL, 2, 3, unclean=False)
    assert (
        words == "after crashes of brokers: none found, RF 3 searched whole; after restarts and a power failure of one "
        "broker: none found, RF 3 searched whole"
    )


def test_one_replica_loses_to_a_power_failure() -> None:
    words = loss_words(ZOOKEEPER, Acks.ALL, 1, 1, unclean=False)
    after = "after restarts and a power failure of one broker an acknowledged record can be lost"
    assert words.startswith(f"{after}: a broker's machine loses power before the record is on its disk, then a replica")


def test_no_word_of_the_model_is_told_of_any_loss_in_the_table() -> None:
    answers = [one for row in kept_table().rows for one in row.answers.values()]
    told = {result.decided_by for one in answers for result in (one.lost, one.broken) if result is not None}
    said = [happens(one) for one in told if one]
    assert said
    assert all(said)
    assert not [one for one in said if re.search(r"step \d|broker \d|-controller|truncate-|tail", one)]


@pytest.mark.parametrize("replicas", [4, 5])
def test_a_loss_with_three_replicas_is_proved_with_more_and_no_loss_is_not_said_of_them(replicas: int) -> None:
    lost = loss_words(ZOOKEEPER, Acks.ALL, 1, replicas, unclean=True)
    assert LIFTED.format(replicas) in lost
    assert lost.endswith(f"--replicas {replicas})")
    words = loss_words(NEWEST, Acks.ALL, 2, replicas, unclean=False)
    searched = f"with {replicas} replicas not searched; none found, RF 3 searched whole"
    assert words.startswith(f"after crashes of brokers: {searched}; after restarts")


def test_a_loss_that_does_not_lift_is_none_that_was_found() -> None:
    cell = GuaranteeCell(Acks.ALL, 1, unclean=True, replicas=4, faults=Faults.KILLS)
    loss = Loss(cell, SearchResult(9, 3, is_complete=True, actions=2))
    assert not loss.is_found
    assert loss.words == "after crashes of brokers: with 4 replicas not searched; with 3 one is lost"
    assert replace(loss, is_lifted=True).words.endswith(LIFTED.format(4))


@pytest.mark.parametrize(("acks", "min_isr", "replicas"), [(Acks.NONE, 1, 3), (Acks.ALL, 1, 6), (Acks.ALL, 4, 5)])
def test_what_the_table_cannot_tell_was_not_searched(acks: Acks, min_isr: int, replicas: int) -> None:
    assert losses(NEWEST, acks, min_isr, replicas, unclean=False) == ()
    assert "was not searched" in loss_words(NEWEST, acks, min_isr, replicas, unclean=False)
