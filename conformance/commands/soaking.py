"""``soak``: many records under load and faults on brokers of one's own, each predicted from the wire and reconciled."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.commands.parser import add_json, check_writable, duration, given, whole_number
from conformance.interruption import HarnessError
from conformance.judgement.verdicts import EXIT_CODES
from conformance.line import NEWEST, held_against, line_named
from conformance.reconcile.errors import ReconcileError
from conformance.record.directory import as_plain
from conformance.record.soak import AcksOfProducers
from conformance.record.soak_counted import CLASS_MEANS
from conformance.record.verdict import Conformance
from conformance.run_options import add_run_options, check_options, run_options
from conformance.session import seed_of
from conformance.soak.fault_timeline import EVERY_S
from conformance.soak.options import SoakOptions, timeline_of
from conformance.soak.producing import ProducerEndedError
from conformance.soak.soaking import soak
from conformance.spark_master import is_local
from conformance.spark_settings import spark_setting, spark_settings
from fault_injection.cluster.backend import ClusterError
from fault_injection.cluster.hosts import advertised_host
from fault_injection.releases import UsageError
from fault_injection.waiting import DeadlineExceededError
from reports.soak_page import APART_WORDS, write_soak_page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.record.soak_verdict import SoakVerdict
    from conformance.soak.soaking import Soaked

DESCRIPTION = """Starts brokers of a release with the gate between them and before them, lets several producer processes
send, and breaks brokers meanwhile: kills, freezes, cuts, held frames, rolls, elections, drawn from a seed or read from
a file. What became of every record is predicted by the rules of the release from the wire alone, as ranges of offsets
by leader epoch, and frozen with a digest before anybody reads the topic. Then Spark counts every record of it: in
which class it is, and whether that is as predicted."""
EPILOG = """examples:
  kafka-conformance soak                                             10^6 records on the newest release, with faults
  kafka-conformance soak --kafka 4.4.0 --duration 1h --rate 20000 --faults 7
  kafka-conformance soak --kafka 0.10.2.2 --duration 3m --rate 5000 --faults 7 --provoke     acknowledged records lost
  kafka-conformance soak --faults my-faults.yaml --plan              only say which faults come when
  kafka-conformance soak --records 10M --spark-master spark://host:7077

a file of faults:
  faults:
  - {at_s: 5, kind: kill, broker: 2, for_s: 3}
  - {at_s: 30, kind: roll}

exit codes: 0 every record is as predicted, 1 one is not, 2 usage, 3 inconclusive, 4 harness error, 130 Ctrl-C
"""
UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
RECORDS_DEFAULT = 10**6
PARTITIONS_MAX, REPLICAS_MAX, PRODUCERS_MAX, RATE_MAX = 1000, 7, 64, 10**7
VALUE_MIN, VALUE_MAX = 32, 900_000
NOT_OF_A_SOAK = ("--no-fetch-sessions", "--accept")
FROM_SEED: Any = object()
"""Stands for the faults of the seed that all else is drawn from."""


def add_soak(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("--kafka", default=NEWEST, metavar="V", help="the release, as 2.8.2 or 3.9/zookeeper (newest)")
    _add_load(parser)
    _add_faults(parser)
    parser.add_argument("--sample", action="store_true", help="join one record in 64 by itself, as a control")
    parser.add_argument("--cross-check", action="store_true", help="count every class again with DuckDB")
    _add_cluster(parser)
    parser.add_argument("--runs-dir", type=Path, default=Path("soaks"), help="where it goes (default: soaks)")
    _add_run_options(parser)
    add_json(parser)
    parser.set_defaults(command=_soak)


def _add_run_options(parser: Parser) -> None:
    """Add the options of all runs, but for those that a soak does nothing with."""

    def add(name: str, **how: Any) -> None:  # noqa: ANN401 - whatever argparse takes
        if name not in NOT_OF_A_SOAK:
            parser.add_argument(name, **how)

    add_run_options(add)
    parser.set_defaults(no_fetch_sessions=False, accept=None)


def _add_load(parser: Parser) -> None:
    parser.add_argument("--records", type=many, metavar="N", help="of all producers: 500K, 10M (1M without --duration)")
    parser.add_argument("--duration", type=duration, metavar="T", help="so long instead: 90s, 20m, 1h")
    parser.add_argument("--rate", type=whole_number(1, RATE_MAX), metavar="R", help="records a second of all together")
    parser.add_argument("--partitions", type=whole_number(1, PARTITIONS_MAX), default=12, metavar="N", help="(12)")
    parser.add_argument("--replicas", type=whole_number(1, REPLICAS_MAX), default=3, metavar="N", help="(3)")
    parser.add_argument(
        "--min-insync-replicas", type=whole_number(1, REPLICAS_MAX), metavar="N", help="(one less than replicas)"
    )
    parser.add_argument("--producers", type=whole_number(1, PRODUCERS_MAX), default=4, metavar="N", help="(4)")
    parser.add_argument(
        "--acks", choices=[*AcksOfProducers], default=AcksOfProducers.ALL, help="mixed: every other producer 1 (all)"
    )
    parser.add_argument(
        "--idempotent",
        action="store_true",
        help="producers whose records are appended once, however often they are sent (KIP-98)",
    )
    parser.add_argument(
        "--value-bytes", type=whole_number(VALUE_MIN, VALUE_MAX), default=100, metavar="N", help="of each record (100)"
    )


def _add_faults(parser: Parser) -> None:
    parser.add_argument(
        "--faults",
        type=faults_named,
        default=FROM_SEED,
        metavar="SEED|FILE|none",
        help="which faults come (those of the soak's seed)",
    )
    parser.add_argument("--every", type=duration, default=EVERY_S, metavar="T", help="from one drawn fault to the next")
    parser.add_argument("--provoke", action="store_true", help="draw faults that provoke losses, if a release has them")
    parser.add_argument("--plan", action="store_true", help="say which faults come when, and run nothing")


def _add_cluster(parser: Parser) -> None:
    parser.add_argument(
        "--advertise", metavar="HOST", help="this machine's name or address where Spark's executors reach the brokers"
    )
    parser.add_argument(
        "--spark-conf",
        type=spark_setting,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of Spark, such as spark.executor.memory=4g; may be repeated",
    )


def many(text: str) -> int:
    """Return a number of records, such as ``500K`` or ``10M``."""
    number, unit = (text[:-1], UNITS[text[-1].upper()]) if text[-1:].upper() in UNITS else (text, 1)
    try:
        records = int(float(number) * unit)
    except (ValueError, OverflowError) as error:
        raise ArgumentTypeError(f"{text!r} is no number of records, such as 500000, 500K or 10M") from error
    if records < 1:
        raise ArgumentTypeError(f"{text}: at least one record")
    return records


def faults_named(text: str) -> int | Path | None:
    """Return a seed, a file, or None for no faults."""
    if text == "none":
        return None
    return int(text) if text.isdecimal() else Path(text)


def _options(parsed: argparse.Namespace) -> SoakOptions:
    run = run_options(given(parsed))
    check_options(run)
    seed = seed_of(run)
    records = RECORDS_DEFAULT if parsed.records is None and parsed.duration is None else parsed.records
    advertised = None if parsed.advertise is None else advertised_host(parsed.advertise)
    line = held_against(line_named(parsed.kafka, own=run.own), run.rules_of)
    if (parsed.min_insync_replicas or 1) > parsed.replicas:
        raise UsageError(f"--min-insync-replicas {parsed.min_insync_replicas}: there are {parsed.replicas} replicas.")
    return SoakOptions(
        line=line,
        run=run,
        seed=seed,
        partitions=parsed.partitions,
        replicas=parsed.replicas,
        min_insync_replicas=parsed.min_insync_replicas or max(parsed.replicas - 1, 1),
        producers=parsed.producers,
        acks=AcksOfProducers(parsed.acks),
        is_idempotent=parsed.idempotent,
        value_length=parsed.value_bytes,
        records=records,
        duration_s=parsed.duration,
        rate=parsed.rate,
        faults=seed if parsed.faults is FROM_SEED else parsed.faults,
        every_s=parsed.every,
        is_provoking=parsed.provoke,
        is_sampled=parsed.sample,
        cross_check=parsed.cross_check,
        advertised=advertised,
        spark_settings=spark_settings(parsed.spark_conf, run.spark_master, advertised),
    )


def _soak(console: Console, parsed: argparse.Namespace) -> int:
    options = _options(parsed)
    if parsed.plan:
        for sentence in timeline_of(options).sentences():
            console.answer(sentence)
        return 0
    check_writable(parsed.runs_dir)
    console.progress(f"seed {options.seed}")
    for sentence in _warnings(options):
        console.complain(sentence)
    try:
        done = soak(options, parsed.runs_dir, console.progress)
    except (ReconcileError, ClusterError, ProducerEndedError, DeadlineExceededError, HarnessError) as error:
        console.complain(f"the soak was broken off: {error}")
        return EXIT_CODES[Conformance.HARNESS_ERROR]
    _tell(console, options, done)
    return EXIT_CODES[done.verdict.conformance]


def _warnings(options: SoakOptions) -> Iterator[str]:
    """Yield what is allowed, and hardly meant."""
    at, master = options.advertised, options.run.spark_master
    if at is not None and at.is_seen_here_alone:
        yield f"--advertise {at.name} is {at.address} here, which no other machine reaches"
    if at is not None and is_local(master):
        yield f"--advertise {at.name} lets others at the brokers, and Spark is on this machine alone: {master}"


def _tell(console: Console, options: SoakOptions, done: Soaked) -> None:
    page = write_soak_page(done.run)
    if console.as_json:
        told = {name: as_plain(getattr(done, name)) for name in ("verdict", "prediction", "counted")}
        console.answer_json({"run": str(done.run.path), "report": str(page), "seed": options.seed, **told})
        return
    verdict, counted = done.verdict, done.counted
    console.answer(f"{verdict.conformance} + {verdict.promise}: {verdict.reason}")
    console.answer(f"  {counted.attempted:,} records attempted, {counted.read:,} read; {_faults(verdict)}")
    for name, means in CLASS_MEANS.items():
        one = counted.total(name)
        if one.records:
            parts = [f"{one.predicted:,} as predicted"]
            parts += [f"{one.either:,} left open"] if one.either else []
            parts += [f"{one.against:,} AGAINST the prediction"] if one.against else []
            console.answer(f"  {name}: {one.records:,} ({means}): {', '.join(parts)}")
    console.answer(f"  replicas: {_replicas(done)}")
    for finding in verdict.findings[1:]:
        console.answer(f"  {finding}")
    for note in verdict.faults.notes:
        console.complain(note)
    console.answer(f"report: {page}")


def _faults(verdict: SoakVerdict) -> str:
    """Return in words what became of the faults."""
    told = f"{verdict.faults.done} faults"
    not_done = {
        "not carried out whole": verdict.faults.begun - verdict.faults.done,
        "left out": verdict.faults.left_out,
    }
    others = ", ".join(f"{count} {words}" for words, count in not_done.items() if count)
    return f"{told} ({others})" if others else told


def _replicas(done: Soaked) -> str:
    """Return in a line what their logs are, next to one another."""
    logs, judged = done.counted.replicas, done.verdict.replicas
    if logs is None or judged is None:
        return "their logs were not compared"
    told = [(judged.of(name), words) for name, words in APART_WORDS.items()]
    found = [f"{count:,} offsets {words}" for count, words in told if count]
    found += [f"{len(logs.lost_tails):,} have lost their tail"] if logs.lost_tails else []
    found += [f"{logs.rotten:,} batches are not what their checksum says"] if logs.rotten else []
    found += [f"{len(logs.unread):,} partitions were not read whole"] if logs.unread else []
    return f"{logs.logs:,} logs, {logs.batches:,} batches the same on each; {', '.join(found) or 'nothing else'}"
