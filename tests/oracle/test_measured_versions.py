"""Do the tables of request versions say what brokers were measured to send and to take, and is each row needed for it?

``measured_versions.json`` has what was measured. A row that is left out, that begins a release earlier or later, or
that has another number, must be at odds with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fault_injection.releases import RELEASES
from oracle import request_versions
from oracle.request_versions import NEWEST, OLDEST, OLDEST_FROM_4_0, Request, versions
from oracle.rules.by_version import rules_for
from oracle.rules.release import parse_version
from oracle.tracing import speech
from oracle.tracing.speech import ALTER_PARTITION, FETCH, LOOKUP, speech_of
from oracle.tracing.trace_settings import TraceSettings
from oracle.vocabulary import MetadataMode
from tests.oracle.measured_versions import Measured, measured
from tests.oracle.tracing.recording import recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.rules.release import Version

SEEN = measured()
OWN_PROTOCOL = TraceSettings()
ASKED = {Request.FETCH: (0, 12), Request.LIST_OFFSETS: (1, 7), Request.OFFSETS_FOR_LEADER_EPOCH: (0, 4)}
"""What the tester asks in, of all that brokers take: later versions of Fetch do not name the topic (KIP-516), later
ones of ListOffsets find other offsets, and the first one of it answers another question (KIP-79)."""


def release_of(line: str) -> Version:
    return parse_version(line.partition("/")[0])


MEASURED = sorted({release_of(line) for line in SEEN})


def sent_otherwise() -> list[str]:
    """Return the lines whose brokers were seen to send what the tables do not say."""
    return [line for line, seen in SEEN.items() if _said(line, seen) != tuple(seen.sent.values())]


def _said(line: str, seen: Measured) -> tuple[int | None, ...]:
    version, _, mode = line.partition("/")
    said = speech_of(rules_for(version, MetadataMode(mode)), OWN_PROTOCOL)
    assert list(seen.sent) == ["Fetch", "OffsetForLeaderEpoch", "AlterPartition"]
    every = (said.fetch, said.lookup, said.alter_partition)
    assert all(len(one) <= 1 for one in every)
    return tuple(one[-1] if one else None for one in every)


def taken_otherwise() -> list[str]:
    """Return the lines whose brokers were seen to take what the table does not say."""
    return [
        f"{line} {request}"
        for line, seen in SEEN.items()
        for request in Request
        if versions(request, line.partition("/")[0]) != _asked(request, seen.taken[request.value])
    ]


def _asked(request: Request, taken: tuple[int, int] | None) -> range:
    first, last = ASKED[request]
    if taken is None:
        return range(OLDEST[request], 0)
    return range(max(first, taken[0]), min(last, taken[1]) + 1)


def test_brokers_send_what_the_tables_say() -> None:
    assert sent_otherwise() == []


def test_brokers_take_what_the_table_says() -> None:
    assert taken_otherwise() == []


def test_every_release_was_measured_in_each_of_its_modes() -> None:
    wanted = {f"{release.version}/{mode.value}" for release in RELEASES for mode in release.metadata_modes}
    assert wanted - set(SEEN) == set()


def other_rows(since: Version) -> Iterator[Version]:
    """Yield the measured releases around the first one that a row is about: it could begin there."""
    first = next(number for number, version in enumerate(MEASURED) if version >= since)
    if first:
        yield MEASURED[first - 1]
    yield next(version for version in MEASURED[first:] if version[:2] > MEASURED[first][:2])


def other_tables(rows: Iterable[tuple[Version, int]]) -> Iterator[tuple[str, dict[Version, int]]]:
    """Yield a table with each row left out, begun at another release, and with another number."""
    table = dict(rows)
    for since, number in table.items():
        name = ".".join(map(str, since))
        without = {row: other for row, other in table.items() if row != since}
        yield f"without {name}", without
        for begin in other_rows(since):
            yield f"{name} from {'.'.join(map(str, begin))}", without | {begin: number}
        for other in (number - 1, number + 1):
            yield f"{name} says {other}", table | {since: other}


NOBODY_ASKS = ("LOOKUP", "0.11.0 from 0.10.2.2")
"""The one change that says the same: followers of 0.10.2 ask nobody by a rule (KIP-101), whatever this table has."""
SPOKEN = {"FETCH": FETCH, "LOOKUP": LOOKUP, "ALTER_PARTITION": ALTER_PARTITION}
OTHERS = [
    pytest.param(name, {".".join(map(str, since)): number for since, number in table.items()}, id=f"{name} {changed}")
    for name, rows in SPOKEN.items()
    for changed, table in other_tables((parse_version(since), number) for since, number in rows.items())
    if (name, changed) != NOBODY_ASKS
]
OTHERS_TAKEN = [
    pytest.param(request, tuple(sorted(table.items())), id=f"{request} {changed}")
    for request, rows in NEWEST.items()
    for changed, table in other_tables(rows)
]
OTHER_OLDEST = [(name, request, by) for name in ("OLDEST", "OLDEST_FROM_4_0") for request in Request for by in (-1, 1)]


@pytest.mark.parametrize(("name", "table"), OTHERS)
def test_another_table_of_what_is_sent_is_noticed(
    name: str, table: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, name, table)
    assert sent_otherwise() != []


def test_followers_that_ask_nobody_need_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "LOOKUP", {**LOOKUP, "0.10.2.2": LOOKUP["0.11.0"]})
    assert sent_otherwise() == []
    assert not rules_for("0.10.2.2", MetadataMode.ZOOKEEPER).truncation.asks_leader


@pytest.mark.parametrize(("request_name", "rows"), OTHERS_TAKEN)
def test_another_table_of_what_is_taken_is_noticed(
    request_name: Request, rows: tuple[tuple[Version, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NEWEST, request_name, rows)
    assert taken_otherwise() != []


@pytest.mark.parametrize(("name", "request_name", "by"), OTHER_OLDEST)
def test_another_oldest_version_is_noticed(
    name: str, request_name: Request, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = OLDEST if name == "OLDEST" else OLDEST_FROM_4_0
    monkeypatch.setitem(table, request_name, table[request_name] + by)
    assert taken_otherwise() != []


@pytest.mark.parametrize(("name", "first"), [("2.0.1-zookeeper-tr-05", 8), ("2.4.1-zookeeper-divergence", 12)])
def test_a_real_trace_notices_which_fetches_claim_an_epoch(
    name: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetch 9 is the first that does; no release's brokers sent it, so 10 in its place is the same."""
    assert recording(name).check().violation is None
    monkeypatch.setattr(request_versions, "FETCHES_CLAIM_CURRENT", first)
    assert recording(name).check().violation is not None
