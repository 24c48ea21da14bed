"""``audit``: what can a cluster that somebody else runs lose, by its settings and its release? It only reads."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.audit.audit import CHECKS, audit
from conformance.audit.audited import Audited, Producers
from conformance.audit.client_settings import client_settings
from conformance.audit.finding import Severity
from conformance.audit.mends import PLACE
from conformance.audit.reading import PATIENCE_S, PLAIN, cluster_reader
from conformance.audit.release_seen import release_seen
from conformance.commands.demonstrating import (
    add_demonstrate,
    check_demonstrable,
    demonstrate,
    is_demonstrated,
    refuse_without_demonstration,
)
from conformance.commands.parser import add_json, table_lines, whole_number
from conformance.line import line_named
from fault_injection.releases import UsageError
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from conformance.audit.audit import Audit, Row
    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = """Reads a running cluster and says what it can lose: by which settings of which topics, on its release,
what stops its writes after one failure, and the smallest change that mends it, as a command that is never run. Nothing
is written to the cluster: it is asked for Metadata, ApiVersions, DescribeConfigs, DescribeCluster, DescribeQuorum,
DescribeTopicPartitions and ListTransactions, as far as its release has them. What cannot be seen, or not by this user,
is told so. What can be lost is what the model of this release predicts: `guarantees` has the table. --demonstrate shows
a finding on brokers that the tester starts and ends itself, with the topic's settings, and the same steps mended."""
EPILOG = """examples:
  kafka-conformance audit --bootstrap-server broker:9092
  kafka-conformance audit --bootstrap-server broker:9093 --command-config client.properties --topic 'orders*'
  kafka-conformance audit --bootstrap-server broker:9092 --kafka 3.9.2 --producer acks=1 --fail-on high
  kafka-conformance audit --list-checks
  kafka-conformance audit --bootstrap-server broker:9092 --demonstrate min-isr-1 --topic orders
  kafka-conformance audit --demonstrate unclean-election --kafka 2.8.2      its example, without a cluster

the file of --command-config has the names of Kafka's own clients, or librdkafka's:
  security.protocol=SASL_SSL
  sasl.mechanism=SCRAM-SHA-512
  sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p";
  ssl.truststore.type=PEM
  ssl.truststore.location=ca.pem

exit codes: 0 read, and nothing as bad as --fail-on names in what can be seen; 1 something is; 2 usage, or no broker
lets itself be read; of a demonstration those of run: 0 brokers did as predicted"""
WIDTH = 118
PORT_MAX = 65_535
SHOWN_SUBJECTS = 4


def add_audit(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT", help="brokers of the cluster, separated by commas")
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="a client's properties: how to get in (SASL, TLS)"
    )
    parser.add_argument(
        "--topic", action="append", default=[], metavar="GLOB", help="only these topics, beside Kafka's own"
    )
    parser.add_argument(
        "--producer",
        default="acks=all",
        metavar="acks=A",
        help="what producers wait for: acks=all, 1 or 0; of several kinds acks=all,acks=1",
    )
    parser.add_argument(
        "--bearable-loss",
        type=whole_number(0, 86_400),
        default=30,
        metavar="S",
        help="with acks=1: how many seconds of records may be lost (30)",
    )
    parser.add_argument("--kafka", metavar="V", help="the release that it runs, if you know it: 3.9.2, 3.9.2/kraft")
    parser.add_argument(
        "--timeout",
        type=whole_number(1, 600),
        default=int(PATIENCE_S),
        metavar="S",
        help="of one answer, twice as long at the start (5 s)",
    )
    parser.add_argument(
        "--fail-on", choices=[one.word for one in Severity], help="exit 1 if a finding is at least so bad"
    )
    parser.add_argument("--list-checks", action="store_true", help="list the checks with their ids, and ask nothing")
    add_demonstrate(parser)
    add_json(parser)
    parser.set_defaults(command=_audit)


def _audit(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.list_checks:
        return _list_checks(console)
    if parsed.demonstrate is not None:
        check_demonstrable(parsed)
        return demonstrate(console, parsed, _found(console, parsed) if parsed.bootstrap_server else None)
    refuse_without_demonstration(parsed)
    found = _found(console, parsed)
    if console.as_json:
        console.answer_json(_as_json(found, parsed.bootstrap_server))
    else:
        console.answer("\n".join(_lines(found, console.width(WIDTH), parsed.bootstrap_server)))
    fails_on = Severity[parsed.fail_on.upper()] if parsed.fail_on else None
    return int(fails_on is not None and any(row.finding.severity >= fails_on for row in found.rows))


def _found(console: Console, parsed: argparse.Namespace) -> Audit:
    if not parsed.bootstrap_server:
        raise UsageError("--bootstrap-server must name a broker of the cluster, such as broker:9092.")
    named = None if parsed.kafka is None else line_named(parsed.kafka)
    producers = Producers(frozenset(_acks(parsed.producer)), parsed.bearable_loss)
    client = PLAIN if parsed.command_config is None else client_settings(parsed.command_config)
    console.progress(f"reading {parsed.bootstrap_server}; nothing is written to it")
    with cluster_reader(_servers(parsed.bootstrap_server), client, parsed.timeout) as reader:
        cluster = reader.read(parsed.topic)
    return audit(Audited(cluster, release_seen(cluster, named), producers))


def _servers(text: str) -> list[str]:
    servers = [one.strip() for one in text.split(",") if one.strip()]
    for one in servers:
        host, colon, port = one.rpartition(":")
        if not (colon and host and port.isdigit() and int(port) <= PORT_MAX) or "://" in one:
            raise UsageError(f"--bootstrap-server {one!r} is no HOST:PORT, such as broker:9092.")
    if not servers:
        raise UsageError("--bootstrap-server must name a broker of the cluster, such as broker:9092.")
    return servers


def _acks(text: str) -> Iterator[Acks]:
    """Yield what each kind of producers waits for, such as ``acks=all,acks=1``."""
    known = {"all": Acks.ALL, "-1": Acks.ALL, "1": Acks.LEADER, "0": Acks.NONE}
    for setting in text.split(","):
        name, _, value = setting.strip().partition("=")
        if name != "acks" or value not in known:
            raise UsageError(f"--producer {text}: acks is all, 1 or 0; of several kinds of producers acks=all,acks=1.")
        yield known[value]


def _list_checks(console: Console) -> int:
    if console.as_json:
        console.answer_json(
            [
                {"id": one.id, "asks": one.asks, "source": one.source, "is_demonstrated": is_demonstrated(one.id)}
                for one in CHECKS
            ]
        )
    else:
        rows = [(one.id, (one.asks, one.source, "yes" if is_demonstrated(one.id) else "no")) for one in CHECKS]
        for line in table_lines([("check", ("asks", "source", "demonstrated")), *rows]):
            console.answer(line)
    return 0


def _lines(found: Audit, width: int, servers: str = PLACE) -> Iterator[str]:
    cluster = found.audited.cluster
    about = (
        f"cluster {cluster.id}: {len(cluster.brokers)} brokers, {len(cluster.topics)} topics, "
        f"{cluster.partitions:,} partitions; {found.audited.release.words}"
    )
    yield from _wrapped(about, width, "")
    yield ""
    for row in found.rows:
        yield from _row(row, width, servers)
    if not cluster.topics:
        yield "no topic is visible to this user"
    if not found.rows:
        yield f"{len(CHECKS)} checks, nothing found{' in what can be seen' if found.unseen else ''}"
    if found.unseen:
        yield "cannot be seen here:"
        for one in found.unseen:
            yield from _wrapped(f"{one.check}: {_subjects(one.subjects)}: {one.why}", width, "  ")
        yield ""
    if found.defects:
        yield "known defects of this release that no setting avoids (track-record has them):"
        for defect in found.defects:
            yield from _wrapped(f"{defect.words}; repaired in {defect.defect.fixed}", width, "  ")


def _row(row: Row, width: int, servers: str) -> Iterator[str]:
    one = row.finding
    yield f"{one.severity.name}  {one.check}  {_subjects(row.subjects)}"
    yield from _wrapped("; ".join(f"{it.what} {it.value} ({it.source})" for it in one.evidence), width, "  ")
    yield from _wrapped(one.harm, width, "  ")
    yield from _wrapped(f"mend: {one.mend}", width, "  ")
    command = _command(row, servers)
    if command is not None:
        likewise = f"   (likewise for {len(row.subjects) - 1} more)" if len(row.subjects) > 1 else ""
        yield f"    {command}{likewise}"
    yield ""


def _command(row: Row, servers: str) -> str | None:
    command = row.finding.command
    return None if command is None else command.replace(PLACE, servers)


def _subjects(subjects: Sequence[str]) -> str:
    more = len(subjects) - SHOWN_SUBJECTS
    return ", ".join(subjects[:SHOWN_SUBJECTS]) + (f" and {more} more" if more > 0 else "")


def _wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )


def _as_json(found: Audit, servers: str = PLACE) -> dict[str, Any]:
    cluster, release = found.audited.cluster, found.audited.release
    return {
        "cluster": cluster.id,
        "brokers": [one.id for one in cluster.brokers],
        "topics": len(cluster.topics),
        "partitions": cluster.partitions,
        "release": {
            "like": None if release.line is None else release.line.text,
            "alike": release.alike,
            "is_named": release.is_named,
            "words": release.words,
        },
        "findings": [_row_as_json(row, servers) for row in found.rows],
        "unseen": [{"check": one.check, "subjects": one.subjects, "why": one.why} for one in found.unseen],
        "defects": [
            {"issue": one.defect.issue, "is_sure": one.is_sure, "symptom": one.defect.symptom} for one in found.defects
        ],
    }


def _row_as_json(row: Row, servers: str) -> dict[str, Any]:
    one = row.finding
    return {
        "check": one.check,
        "severity": one.severity.word,
        "subjects": row.subjects,
        "evidence": [{"what": it.what, "value": it.value, "source": it.source} for it in one.evidence],
        "harm": one.harm,
        "mend": one.mend,
        "command": _command(row, servers),
    }
