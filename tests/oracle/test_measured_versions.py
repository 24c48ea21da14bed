"""Do the tables of request versions say what brokers were measured to send and to take, and is each row needed for it?

``measured_versions.json`` has what was measured. A row that is left out, that begins a release earlier or later, or
that has another number, must be at odds with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fault_injection.releases import RELEASES
from oracle import asking
from oracle.rules import by_version, request_versions
from oracle.rules.by_version import TABLE, RuleRow, rules_for
from oracle.rules.release import parse_version
from oracle.rules.request_versions import ANSWERED, SENT, Peer, answering, sending
from oracle.tracing.invariants import TraceSettings
from oracle.tracing.sending import NEWEST_EVER, sent_versions
from oracle.vocabulary import ClientRequest, MetadataMode
from tests.oracle.spoken_versions import SEEN, sent_otherwise, taken_otherwise
from tests.oracle.tracing.recording import recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from oracle.rules.release import Version


def release_of(line: str) -> Version:
    return parse_version(line.partition("/")[0])


MEASURED = sorted({release_of(line) for line in SEEN})


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


def other_tables(rows: Iterable[tuple[str, int]]) -> Iterator[tuple[str, dict[Version, int]]]:
    """Yield a table with each row left out, begun at another release, and with another number."""
    table = {parse_version(since): number for since, number in rows}
    for since, number in table.items():
        name = ".".join(map(str, since))
        without = {row: other for row, other in table.items() if row != since}
        yield f"without {name}", without
        for begin in other_rows(since):
            yield f"{name} from {'.'.join(map(str, begin))}", without | {begin: number}
        for other in (number - 1, number + 1):
            yield f"{name} says {other}", table | {since: other}


OTHERS = [
    pytest.param(peer, tuple(sorted(table.items())), id=f"{peer} {changed}")
    for peer, rows in SENT.items()
    for changed, table in other_tables(rows)
    if changed != "2.8.0 says -2"  # nothing is sent by -1, and nothing by -2
]
OTHERS_ANSWERED = [
    pytest.param(request, tuple(sorted(table.items())), id=f"{request} {changed}")
    for request, rows in ANSWERED.items()
    for changed, table in other_tables(rows)
]
OTHER_OLDEST = [
    (name, request, by) for name in ("OLDEST", "OLDEST_SINCE_KIP_896") for request in ClientRequest for by in (-1, 1)
]


def with_rows_of(wanted: tuple[request_versions.Change, ...], prefix: str) -> tuple[RuleRow, ...]:
    """Return the table of releases with other rows of a request."""
    return (*(row for row in TABLE if not row.rule.name.startswith(prefix)), *(RuleRow(*change) for change in wanted))


def written(rows: tuple[tuple[Version, int], ...]) -> tuple[tuple[str, int], ...]:
    return tuple((".".join(map(str, since)), number) for since, number in rows)


@pytest.mark.parametrize(("peer", "rows"), OTHERS)
def test_another_table_of_what_is_sent_is_noticed(
    peer: Peer, rows: tuple[tuple[Version, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = tuple(sending(peer, written(rows)))
    prefix = f"sends-{peer.name.lower().replace('_', '-')}-"
    monkeypatch.setattr(by_version, "TABLE", with_rows_of(changes, prefix))
    assert sent_otherwise() != []


@pytest.mark.parametrize(("request_name", "rows"), OTHERS_ANSWERED)
def test_another_table_of_what_is_answered_is_noticed(
    request_name: ClientRequest, rows: tuple[tuple[Version, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = tuple(answering(request_name, written(rows)))
    prefix = f"answers-{request_name.name.lower().replace('_', '-')}-up"
    monkeypatch.setattr(by_version, "TABLE", with_rows_of(changes, prefix))
    assert taken_otherwise() != []


def test_the_same_rows_anew_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [change for peer, rows in SENT.items() for change in sending(peer, rows)]
    changes += [change for request, rows in ANSWERED.items() for change in answering(request, rows)]
    prefixes = ("sends-", "answers-")
    other = tuple(row for row in TABLE if not row.rule.name.startswith(prefixes))
    monkeypatch.setattr(by_version, "TABLE", (*other, *(RuleRow(*change) for change in changes)))
    assert (sent_otherwise(), taken_otherwise()) == ([], [])


@pytest.mark.parametrize(("name", "request_name", "by"), OTHER_OLDEST)
def test_another_oldest_version_is_noticed(
    name: str, request_name: ClientRequest, by: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = getattr(request_versions, name)
    monkeypatch.setitem(table, request_name, table[request_name] + by)
    assert taken_otherwise() != []


def test_a_release_newer_than_the_table_may_send_any_newer_version() -> None:
    known, newer = (sent_versions(rules_for(one, MetadataMode.KRAFT), TraceSettings()) for one in ("4.4.0", "4.5.0"))
    assert (known.fetch, newer.fetch) == (range(18, 19), range(18, NEWEST_EVER + 1))


def test_where_an_older_protocol_is_configured_older_versions_may_be_sent() -> None:
    said = sent_versions(rules_for("2.1.1", MetadataMode.ZOOKEEPER), TraceSettings(has_own_protocol=False))
    assert (said.fetch, said.lookup, said.alter_partition) == (range(11), range(3), range(0))


@pytest.mark.parametrize(("name", "first"), [("2.0.1-zookeeper-tr-05", 8), ("2.4.1-zookeeper-divergence", 12)])
def test_a_real_trace_notices_which_fetches_claim_an_epoch(
    name: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fetch 9 is the first that does; no release's brokers sent it, so 10 in its place is the same."""
    assert recording(name).check().violation is None
    monkeypatch.setattr(asking, "FETCHES_CLAIM_CURRENT", first)
    assert recording(name).check().violation is not None
