"""Does a leader honour what a consumer asks for? RM-05 (Fetch) and RM-06 (ListOffsets)."""

from __future__ import annotations

from conformance.puppet_scripts.client_acts import AppendAt, ConsumerFetch, ListByTime, ListEarliest, ListLatest
from conformance.puppet_scripts.leading_acts import Append, FetchAs, Lead
from conformance.puppet_scripts.script import PuppetScript
from conformance.puppet_scripts.transaction_acts import (
    AppendInTransaction,
    ConsumeCommitted,
    EndTransaction,
    ListLatestCommitted,
)

THREE_OF_FOUR_COMMITTED = (
    Lead(5, isr=(1, 2)),
    Append("a"),
    Append("b"),
    Append("c"),
    Append("d"),
    FetchAs(2, 3, 5),
)
SHORT_MS, LONGER_MS, LONG_MS = 500, 3_000, 10_000
"""A wait that always passes, one that passes on some releases, and one that never does."""

FETCH = PuppetScript(
    (
        *THREE_OF_FOUR_COMMITTED,
        ConsumerFetch(0),
        ConsumerFetch(0, max_wait_ms=LONG_MS),
        ConsumerFetch(3, max_wait_ms=SHORT_MS),
        ConsumerFetch(4, max_wait_ms=LONGER_MS),
        ConsumerFetch(0, max_wait_ms=SHORT_MS, wants_more=True),
        ConsumerFetch(1, takes_one_byte=True),
        ConsumerFetch(5),
    )
)

LIST_OFFSETS = PuppetScript(
    (
        *THREE_OF_FOUR_COMMITTED,
        ListEarliest(),
        ListLatest(),
        AppendAt("late", later_ms=10),
        FetchAs(2, 5, 5),
        ListLatest(),
        ListByTime(later_ms=0, first=0),
        ListByTime(later_ms=10, first=4),
        ListByTime(later_ms=11, first=None),
    )
)

READ_COMMITTED = PuppetScript(
    (
        Lead(5, isr=(1,)),
        Append("a"),
        AppendInTransaction("b", sequence=0),
        Append("c"),
        AppendInTransaction("d", sequence=1),
        ListLatest(),
        ListLatestCommitted(),
        ConsumeCommitted(0),
        ConsumeCommitted(1),
        EndTransaction(commits=True),
        ListLatestCommitted(),
        AppendInTransaction("e", sequence=2),
        ListLatestCommitted(),
        EndTransaction(commits=False),
        ListLatestCommitted(),
        ConsumeCommitted(5),
    )
)
