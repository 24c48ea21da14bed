"""Which mistakes are about what the settings promise, and about what the table of guarantees asks?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from oracle.vocabulary import MetadataMode
from tests.oracle import test_guarantees
from tests.oracle.brokers import test_guarantee_table
from tests.oracle.mutants.own_text import TextMutant, every_case

if TYPE_CHECKING:
    from collections.abc import Callable

KRAFT = MetadataMode.KRAFT


def asked_again(*, version: str, mode: MetadataMode, cell: test_guarantee_table.GuaranteeCell) -> Callable[[], None]:
    """Return the test that the explorer's answer for a cell is the kept one."""
    return partial(test_guarantee_table.test_a_sample_of_the_kept_table_is_what_the_explorer_finds, version, mode, cell)


LOSSES = every_case(test_guarantees.test_loss_is_judged)
PROMISES = every_case(test_guarantees.test_promise_in_words)
POWER = asked_again(version="3.9.2", mode=KRAFT, cell=test_guarantee_table.POWER)
UNCLEAN = asked_again(version="0.11.0.3", mode=MetadataMode.ZOOKEEPER, cell=test_guarantee_table.UNCLEAN)

MUTANTS = (
    TextMutant(
        "a record that nobody acknowledged is promised",
        "guarantees",
        "if outcome is not ProduceOutcome.ACKNOWLEDGED or acks is Acks.NONE:",
        "if acks is Acks.NONE:",
        LOSSES,
    ),
    TextMutant(
        "a record without acks is promised",
        "guarantees",
        "if outcome is not ProduceOutcome.ACKNOWLEDGED or acks is Acks.NONE:",
        "if outcome is not ProduceOutcome.ACKNOWLEDGED:",
        PROMISES,
    ),
    TextMutant(
        "acks=1 is promised what acks=all is",
        "guarantees",
        'if acks is Acks.LEADER:\n        return "acks=1',
        'if False:\n        return "acks=1',
        PROMISES,
    ),
    TextMutant(
        "the loss of a record with acks=1 breaks a promise",
        "guarantees",
        "if acks is Acks.LEADER:\n        reason",
        "if False:\n        reason",
        LOSSES,
    ),
    TextMutant(
        "acks=all is promised no more than acks=1",
        "guarantees",
        "if acks is Acks.LEADER:\n        reason",
        "if True:\n        reason",
        LOSSES,
    ),
    TextMutant(
        "an uncleanly elected replica may lose what it had appended",
        "guarantees",
        "if loss.had_appended:",
        "if loss.had_appended and loss.was_clean:",
        LOSSES,
    ),
    TextMutant(
        "a clean election may lose a record where unclean ones are allowed",
        "guarantees",
        "if loss.was_clean:",
        "if loss.was_clean and not settings.unclean_leader_election:",
        LOSSES,
    ),
    TextMutant(
        "no power fails",
        "brokers.questions",
        "power_failure=cell.faults is Faults.POWER_FAILURE",
        "power_failure=False",
        POWER,
    ),
    TextMutant(
        "with acks=all nobody asks whether a promise breaks",
        "brokers.answers",
        "or asked.bounds.acks is not Acks.ALL:",
        "or asked.bounds.acks is Acks.ALL:",
        POWER,
    ),
    TextMutant(
        "everybody waits for all replicas",
        "brokers.questions",
        "acks=cell.acks,",
        "acks=Acks.ALL,",
        test_guarantee_table.test_with_acks_0_nothing_is_searched,
    ),
    TextMutant(
        "nobody is elected uncleanly",
        "brokers.questions",
        "Settings(_read_min_isr(rules, cell), cell.unclean)",
        "Settings(_read_min_isr(rules, cell), False)",
        UNCLEAN,
    ),
    TextMutant(
        "the minimum is asked about where nobody reads it",
        "brokers.questions",
        "if is_read else 1",
        "if True else 1",
        test_guarantee_table.test_the_minimum_is_asked_about_only_where_it_is_read,
    ),
)
