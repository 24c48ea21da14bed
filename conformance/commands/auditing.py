"""``audit``: what can a cluster that somebody else runs lose, by its settings and its release? It only reads."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.audit.answer import AuditRequest, audit_answer
from conformance.audit.audit import CHECKS, audit
from conformance.audit.audited import Audited, Producers
from conformance.audit.baseline import baseline_text, read_baseline
from conformance.audit.finding import Severity
from conformance.audit.reading import PATIENCE_S, PLAIN, cluster_reader
from conformance.audit.release_seen import release_seen
from conformance.clients.client_settings import client_settings
from conformance.clients.connecting import servers_of
from conformance.commands.audit_lines import audit_lines
from conformance.commands.demonstrating import (
    add_demonstrate,
    check_demonstrable,
    demonstrate,
    is_demonstrated,
    refuse_without_demonstration,
)
from conformance.commands.parser import add_json, check_file, given, own_version, refuse, table_lines, whole_number
from conformance.line import line_named
from fault_injection.releases import UsageError
from oracle.vocabulary import Acks
from reports.audit_junit import render_audit_junit
from reports.audit_page import render_audit_page
from reports.audit_sarif import render_audit_sarif

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from conformance.audit.audit import Audit
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.record.audit_answer import AuditAnswer

DESCRIPTION = """Reads a running cluster and says what it can lose: by which settings of which topics, on its release,
what stops its writes after one failure, and the smallest change that mends it, as a command that is never run. Nothing
is written to the cluster: it is asked for Metadata, ApiVersions, DescribeConfigs, DescribeLogDirs, DescribeCluster,
DescribeQuorum, DescribeTopicPartitions and ListTransactions, as far as its release has them. What cannot be seen, or
not by this user, is told so. What can be lost is what the model of this release predicts: `guarantees` has the table.
--demonstrate shows a finding on brokers that the tester starts and ends itself, with the topic's settings, and the same
steps mended."""
EPILOG = """examples:
  kafka-conformance audit --bootstrap-server broker:9092
  kafka-conformance audit --bootstrap-server broker:9093 --command-config client.properties --topic 'orders*'
  kafka-conformance audit --bootstrap-server broker:9092 --kafka 3.9.2 --producer acks=1 --fail-on high
  kafka-conformance audit --bootstrap-server broker:9092 --html audit.html --sarif audit.sarif --junit audit.xml
  kafka-conformance audit --bootstrap-server broker:9092 --write-baseline accepted.yaml    accept what is found now
  kafka-conformance audit --bootstrap-server broker:9092 --baseline accepted.yaml --fail-on low    fail on what is new
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
FILES = ("--html", "--sarif", "--junit", "--write-baseline")
"""Options that name a file to be written."""
READ_FILES = ("--baseline", "--command-config")


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
    _add_files(parser)
    parser.add_argument("--list-checks", action="store_true", help="list the checks with their ids, and ask nothing")
    add_demonstrate(parser)
    add_json(parser)
    parser.set_defaults(command=_audit)


def _add_files(parser: Parser) -> None:
    files = parser.add_argument_group("files", "all but --baseline are written once the cluster was read")
    files.add_argument("--html", type=Path, metavar="FILE", help="a page of what was found, to forward")
    files.add_argument("--sarif", type=Path, metavar="FILE", help="for code scanning: SARIF 2.1.0")
    files.add_argument(
        "--junit", type=Path, metavar="FILE", help="for a CI server: a test case a check, failed as --fail-on says"
    )
    files.add_argument(
        "--baseline", type=Path, metavar="FILE", help="accepted findings, in YAML: --fail-on does not count them"
    )
    files.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write what is found as a baseline, for reasons of yours"
    )


def _audit(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.list_checks:
        refuse(parsed, [*FILES, "--baseline"], "is about what was found: --list-checks asks no cluster.")
        return _list_checks(console)
    if parsed.demonstrate is not None:
        refuse(parsed, [*FILES, "--baseline"], "is about what was found: --demonstrate has reports of its own.")
        check_demonstrable(parsed)
        return demonstrate(console, parsed, _found(console, parsed) if parsed.bootstrap_server else None)
    refuse_without_demonstration(parsed)
    answer = _answer(console, parsed)
    written, error = _write_files(parsed, answer)
    if console.as_json:
        console.answer_json({**asdict(answer), "files": written})
    else:
        for line in chain(audit_lines(answer, console.width(WIDTH)), _file_lines(written)):
            console.answer(line)
    if error is not None:
        raise error
    return int(parsed.fail_on is not None and bool(answer.failing(parsed.fail_on)))


def _answer(console: Console, parsed: argparse.Namespace) -> AuditAnswer:
    """Ask the cluster, once everything else is known to be right."""
    servers_of(parsed.bootstrap_server)
    request = _request(parsed)
    _check_files(parsed)
    return audit_answer(_found(console, parsed), request)


def _found(console: Console, parsed: argparse.Namespace) -> Audit:
    servers = servers_of(parsed.bootstrap_server)
    named = None if parsed.kafka is None else line_named(parsed.kafka)
    producers = Producers(frozenset(_acks(parsed.producer)), parsed.bearable_loss)
    client = PLAIN if parsed.command_config is None else client_settings(parsed.command_config)
    console.progress(f"reading {parsed.bootstrap_server}; nothing is written to it")
    with cluster_reader(servers, client, parsed.timeout) as reader:
        cluster = reader.read(parsed.topic)
    return audit(Audited(cluster, release_seen(cluster, named), producers))


def _request(parsed: argparse.Namespace) -> AuditRequest:
    baseline = None if parsed.baseline is None else read_baseline(parsed.baseline, [one.id for one in CHECKS])
    today = datetime.now(UTC).date()
    return AuditRequest(
        parsed.bootstrap_server,
        today,
        own_version(),
        baseline,
        is_whole=not parsed.topic,
        command_config=parsed.command_config,
    )


def _check_files(parsed: argparse.Namespace) -> None:
    """Make sure that each file can be written, and that nothing is lost by it.

    Raises:
        UsageError: one cannot, two are the same, or a baseline is there.
    """
    options: dict[Path, str] = {}
    for option in (*READ_FILES, *FILES):
        path: Path | None = given(parsed)(option)
        if path is None:
            continue
        before = options.setdefault(path.resolve(), option)
        if before != option:
            raise UsageError(f"{before} and {option} both name {path}: name a file for each.")
        if option in FILES:
            check_file(path)
    if parsed.write_baseline is not None and parsed.write_baseline.exists():
        raise UsageError(f"--write-baseline {parsed.write_baseline}: it is there, and is not overwritten.")


def _write_files(parsed: argparse.Namespace, answer: AuditAnswer) -> tuple[dict[str, str], OSError | None]:
    """Write the files that were asked for; return those that are written, and what ended it: no answer is lost."""
    texts: dict[str, Callable[[], str]] = {
        "--html": lambda: render_audit_page(answer),
        "--sarif": lambda: render_audit_sarif(answer),
        "--junit": lambda: render_audit_junit(answer, parsed.fail_on),
        "--write-baseline": lambda: baseline_text(answer),
    }
    written: dict[str, str] = {}
    for option, text in texts.items():
        path: Path | None = given(parsed)(option)
        if path is not None:
            try:
                with path.open("x" if option == "--write-baseline" else "w", encoding="utf-8") as file:
                    file.write(text())
            except OSError as error:
                return written, error
            written[option[2:]] = str(path)
    return written, None


def _file_lines(written: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{kind}: {path}" for kind, path in written.items())


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
