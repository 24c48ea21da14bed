"""``attach``: does a cluster that somebody else runs, and breaks, keep every record that it acknowledged?"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.attach.beginning import OWN, SETTLE_S, LedgerOptions, NewTopicAsked, settings_of, topic_of
from conformance.attach.fault_commands import FaultCommands
from conformance.attach.finishing import counted_of, delete_created, finish
from conformance.attach.java_pem import refuse_what_java_does_not_read
from conformance.attach.ledger import AttachedLedger
from conformance.attach.rest import NotAtRestError
from conformance.clients.client_settings import ClientSettings, client_settings
from conformance.clients.connecting import servers_of
from conformance.clients.ledger_load import DELIVERY_TIMEOUT_S
from conformance.clients.records import VALUE_LENGTH_DEFAULT, VALUE_LENGTH_MIN
from conformance.clients.topics import TopicError
from conformance.commands.parser import add_json, duration, refuse, whole_number
from conformance.judgement.verdicts import EXIT_CODES
from conformance.layout import TOLD_EVERY_S
from conformance.reconcile.errors import ReconcileError
from conformance.record.attached import IDS_MAX, Promised, read_attached
from conformance.record.attached_counted import lost_ranges
from conformance.record.directory import RunDirectory, as_plain
from conformance.record.fault_commands import FaultCommand, read_commands, read_given_commands
from conformance.record.ledger_course import course_of
from conformance.record.verdict import Conformance
from conformance.spark_extra import require_spark
from fault_injection.releases import UsageError
from oracle.vocabulary import Acks
from reports.attach_page import write_attach_page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.record.attached import AttachVerdict

DESCRIPTION = """Writes records to a running cluster while you break it, each in a ledger before it is sent, its outcome
after; then reads the topic back and says of every record whether the cluster kept what its settings promise: KEPT,
ALLOWED_BY_SETTINGS, or BROKEN. You break the cluster, or commands that are given here do. A topic that is there is
written to, and neither changed nor deleted; --create makes one that is named after the tester, with explicit settings.
Nothing is held on the wire, and no broker's log is read: it is judged what clients can see."""
EPILOG = """examples:
  kafka-conformance attach --bootstrap-server broker:9092 --create chaos --duration 10m
  kafka-conformance attach --bootstrap-server broker:9092 --create chaos --duration 2m --rate 5000 \\
    --fault-command 'docker kill broker-2 && sleep 20 && docker start broker-2' --at 20s
  kafka-conformance attach --bootstrap-server broker:9093 --command-config client.properties --topic orders-chaos \\
    --records 100000 --acks 1
  kafka-conformance attach --resume attached/20261128T100000-attach-kafka-conformance-chaos

an interrupted ledger is whole: --resume reads its topic back and judges it. A password is in no file of it: give
--command-config again. In pytest the fixture `ledger` has it for tests of your own.

exit codes: 0 kept, or lost as the settings allow (1 with --require-kept); 1 a promise was broken; 2 usage, or the
cluster lets nobody in; 3 inconclusive; 4 the tester failed; 130 interrupted"""
RECORDS_MAX = IDS_MAX - 1
RATE_MAX = 1_000_000
RATE_DEFAULT = 1000
RANGES_TOLD = 5
OF_A_NEW_LEDGER = (
    "--bootstrap-server",
    "--topic",
    "--create",
    "--partitions",
    "--replication-factor",
    "--topic-config",
    "--beside-others",
    "--records",
    "--duration",
    "--idempotence",
    "--seed",
    "--fault-command",
    "--at",
    "--one-at-a-time",
)
ACKS = {acks.word: acks for acks in (Acks.ALL, Acks.LEADER, Acks.NONE)}


def add_attach(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT", help="brokers of the cluster, separated by commas")
    parser.add_argument(
        "--command-config",
        type=Path,
        metavar="FILE",
        help="a client's properties: how to get in (audit --help has them)",
    )
    _add_topic(parser)
    _add_load(parser)
    parser.add_argument(
        "--fault-command", action="append", default=[], metavar="CMD", help="a command that breaks the cluster, in sh"
    )
    parser.add_argument(
        "--at", action="append", default=[], type=duration, metavar="T", help="when: 20s; one for each --fault-command"
    )
    parser.add_argument(
        "--one-at-a-time",
        action="store_true",
        help="begin a command only when what the one before broke is whole again: each must mend what it breaks",
    )
    parser.add_argument("--settle", type=duration, default=SETTLE_S, metavar="T", help="how long rest may take (60s)")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="read back and judge a ledger that was interrupted")
    parser.add_argument("--require-kept", action="store_true", help="exit 1 also where settings allow what was lost")
    parser.add_argument("--runs-dir", type=Path, default=Path("attached"), help="where it goes (default: attached)")
    add_json(parser)
    parser.set_defaults(command=_attach)


def _add_topic(parser: Parser) -> None:
    parser.add_argument("--topic", metavar="T", help="write to this topic, which is there")
    parser.add_argument("--create", metavar="NAME", help=f"create the topic {OWN}NAME, and write to it")
    parser.add_argument("--partitions", type=whole_number(1, 1000), metavar="N", help="of a created topic (6)")
    parser.add_argument("--replication-factor", type=whole_number(1, 100), metavar="N", help="of a created topic (3)")
    parser.add_argument(
        "--topic-config", action="append", default=[], metavar="K=V", help="setting of a created topic, beside its own"
    )
    parser.add_argument("--delete-created", action="store_true", help="delete the created topic once it was judged")
    parser.add_argument(
        "--beside-others", action="store_true", help="the topic may have records of others: they are counted apart"
    )


def _add_load(parser: Parser) -> None:
    parser.add_argument("--records", type=whole_number(1, RECORDS_MAX), metavar="N", help="so many records")
    parser.add_argument("--duration", type=duration, metavar="T", help="for so long: 90s, 10m, 1h")
    parser.add_argument("--rate", type=_rate, default=RATE_DEFAULT, metavar="R", help="records a second, or max (1000)")
    parser.add_argument("--acks", choices=list(ACKS), default="all", help="what producers wait for (all)")
    parser.add_argument(
        "--delivery-timeout",
        type=duration,
        default=DELIVERY_TIMEOUT_S,
        metavar="T",
        help="how long a record is tried before its outcome is unknown (120s)",
    )
    parser.add_argument("--idempotence", choices=["on", "off"], help="on with acks=all, where the release has it")
    parser.add_argument(
        "--value-bytes",
        type=whole_number(VALUE_LENGTH_MIN, 1_000_000),
        default=VALUE_LENGTH_DEFAULT,
        metavar="N",
        help="size of a record's value (100)",
    )
    parser.add_argument("--seed", type=whole_number(1, 2**31 - 1), metavar="N", help="of the record ids (a new one)")


def _rate(text: str) -> int | None:
    return None if text == "max" else whole_number(1, RATE_MAX)(text)


def _attach(console: Console, parsed: argparse.Namespace) -> int:
    require_spark()
    client = ClientSettings() if parsed.command_config is None else client_settings(parsed.command_config)
    if client.revoked_file is not None:
        console.complain(
            "ssl.crl.location is librdkafka's and Python's: Spark's client has no such setting, and looks at no list"
        )
    if parsed.resume is not None:
        return _resumed(console, parsed, client)
    commands = _commands(parsed)
    options = _options(parsed, client)
    parsed.runs_dir.mkdir(parents=True, exist_ok=True)
    console.progress(_announced(options, parsed.duration, commands))
    with _resumable(console, options, ledger := AttachedLedger(options, parsed.runs_dir)), ledger:
        console.progress(f"seed {ledger.attached.base // IDS_MAX}; the ledger is in {ledger.run.path}")
        breaking = FaultCommands(
            commands, ledger.run, console.progress, ledger.one_at_a_time if parsed.one_at_a_time else None
        )
        with breaking.beside(), _ended(ledger):
            _await(console, ledger, parsed.duration, breaking)
    _complain_of_unrun(console, ledger.run)
    return _judge(console, parsed, ledger.run, client)


def _resumed(console: Console, parsed: argparse.Namespace, client: ClientSettings) -> int:
    """Go on with a ledger that ended before its verdict."""
    refuse(parsed, OF_A_NEW_LEDGER, "is about a new ledger, and --resume goes on with one that is there.")
    run = RunDirectory(parsed.resume)
    attached = read_attached(run)
    if parsed.delete_created and not attached.is_own:
        raise UsageError(f"--delete-created: topic {attached.topic} was not created here, and is not deleted.")
    refuse_what_java_does_not_read(client)
    _complain_of_unrun(console, run)
    return _judge(console, parsed, run, client)


def _options(parsed: argparse.Namespace, client: ClientSettings) -> LedgerOptions:
    if (parsed.topic is None) == (parsed.create is None):
        raise UsageError("either --topic T names a topic that is there, or --create NAME makes one.")
    if (parsed.records is None) == (parsed.duration is None):
        raise UsageError("either --records N or --duration T says when it is enough.")
    return LedgerOptions(
        bootstrap=tuple(servers_of(parsed.bootstrap_server)),
        topic=parsed.topic or parsed.create,
        client=client,
        creates=_created(parsed),
        records=parsed.records,
        rate=parsed.rate,
        acks=ACKS[parsed.acks],
        is_idempotent=None if parsed.idempotence is None else parsed.idempotence == "on",
        value_length=parsed.value_bytes,
        beside_others=parsed.beside_others,
        delivery_timeout_s=parsed.delivery_timeout,
        settle_s=parsed.settle,
        seed=parsed.seed,
    )


def _created(parsed: argparse.Namespace) -> NewTopicAsked | None:
    given = [
        name for name in ("partitions", "replication_factor", "topic_config", "delete_created") if getattr(parsed, name)
    ]
    if parsed.create is None:
        if given:
            raise UsageError(f"--{given[0].replace('_', '-')} is about a topic that --create makes.")
        return None
    settings = dict(_setting(text) for text in parsed.topic_config)
    return NewTopicAsked(parsed.partitions or 6, parsed.replication_factor or 3, settings)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--topic-config {text!r} is no setting such as min.insync.replicas=2.")
    return name, value


def _commands(parsed: argparse.Namespace) -> list[FaultCommand]:
    if len(parsed.at) != len(parsed.fault_command):
        raise UsageError("each --fault-command has its --at, such as --fault-command 'docker kill b2' --at 20s.")
    if parsed.one_at_a_time and not parsed.fault_command:
        raise UsageError("--one-at-a-time is about --fault-command, and there is none.")
    late = [at for at in parsed.at if parsed.duration is not None and at >= parsed.duration]
    if late:
        raise UsageError(f"--at {late[0]:g}s is not within --duration {parsed.duration:g}s.")
    return [FaultCommand(command, at) for command, at in zip(parsed.fault_command, parsed.at, strict=True)]


def _announced(options: LedgerOptions, duration_s: float | None, commands: list[FaultCommand]) -> str:
    """Return beforehand what will be done to the cluster."""
    much = f"{options.records:,} records" if options.records else f"records for {duration_s:g} s"
    rate = "as fast as it takes them" if options.rate is None else f"at most {options.rate:,} a second"
    topic = topic_of(options)
    made = f"creates topic {topic} ({_made_as(options.creates)}) and " if options.creates else ""
    broken = f"; runs your commands: {len(commands)}" if commands else "; breaks nothing: that is up to you"
    sent = f"{much} of {options.value_length} bytes with acks={options.acks.word}"
    return f"{made}writes {sent} to topic {topic}, {rate}{broken}"


def _made_as(asked: NewTopicAsked) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in settings_of(asked).items())
    return f"{asked.partitions} partitions, {asked.replicas} replicas; {settings}"


@contextmanager
def _resumable(console: Console, options: LedgerOptions, ledger: AttachedLedger) -> Iterator[None]:
    """Say of a ledger that ends before its time how to go on with it, or that its topic may have been created."""
    try:
        yield
    except BaseException as ended:
        if options.creates and not hasattr(ledger, "run") and not isinstance(ended, Exception):
            console.complain(f"topic {topic_of(options)} may have been created: delete it yourself")
        if hasattr(ledger, "run"):
            console.complain(
                f"the ledger is whole; attach --resume {ledger.run.path} reads its topic back and judges it"
            )
        raise


@contextmanager
def _ended(ledger: AttachedLedger) -> Iterator[None]:
    """Send no more once the block ends, however: a command that is waited for then may take long."""
    try:
        yield
    finally:
        ledger.stop()


def _complain_of_unrun(console: Console, run: RunDirectory) -> None:
    """Say which commands were not run, or nobody saw end: what they break may not be broken, or not mended."""
    begun = read_commands(run)
    for command in (one.command for one in begun if not one.is_end_known):
        console.complain(f"begun, and its end is not known, since the tester ended first: {command}")
    for one in read_given_commands(run)[len(begun) :]:
        console.complain(f"not run: {one.command} (due at {one.at_s:g} s), since all was over before its turn")


def _await(console: Console, ledger: AttachedLedger, duration_s: float | None, breaking: FaultCommands) -> None:
    """Wait until enough was sent and answered, or commands cannot be run; say every few seconds how far it is."""
    left_s = duration_s
    while breaking.failure is None and not ledger.done(
        TOLD_EVERY_S if left_s is None else min(TOLD_EVERY_S, max(left_s, 0.01))
    ):
        if left_s is not None:
            left_s -= min(TOLD_EVERY_S, left_s)
            if not left_s:
                ledger.stop()
                left_s = None
        told = ledger.progress
        sync = "all replicas in sync" if ledger.is_in_sync else "replicas not in sync, or not seen"
        console.progress(f"{told.sent:,} sent, {told.acknowledged:,} acknowledged, {told.unknown:,} unknown; {sync}")


def _judge(console: Console, parsed: argparse.Namespace, run: RunDirectory, client: ClientSettings) -> int:
    console.progress(
        "waits for the cluster to come to rest, then reads the topic back with Spark; some 15 s, more for many records"
    )
    again = f"attach --resume {run.path} goes on from there"
    try:
        verdict = finish(run, client, parsed.settle)
    except NotAtRestError as error:
        console.complain(f"{error}; the ledger is whole: {again}")
        return EXIT_CODES[Conformance.INCONCLUSIVE]
    except ReconcileError as error:
        console.complain(f"{error} {again}")
        return EXIT_CODES[Conformance.HARNESS_ERROR]
    page = write_attach_page(run)
    _tell(console, run, verdict, page)
    if parsed.delete_created and verdict.promise in (Promised.BROKEN, Promised.INCONCLUSIVE):
        console.complain(f"topic {read_attached(run).topic} is not deleted: it is evidence")
    elif parsed.delete_created:
        _delete(console, run, client)
    elif read_attached(run).is_own:
        console.progress(f"topic {read_attached(run).topic} is left; --delete-created deletes it")
    return _exit_code(verdict, require_kept=parsed.require_kept)


def _delete(console: Console, run: RunDirectory, client: ClientSettings) -> None:
    try:
        delete_created(run, client)
    except (TopicError, UsageError) as error:
        console.complain(f"{error}: delete it yourself")
    else:
        console.progress(f"deleted topic {read_attached(run).topic}")


def _exit_code(verdict: AttachVerdict, *, require_kept: bool) -> int:
    if verdict.promise == Promised.BROKEN:
        return EXIT_CODES[Conformance.DEVIATES]
    if verdict.promise == Promised.INCONCLUSIVE:
        return EXIT_CODES[Conformance.INCONCLUSIVE]
    return int(require_kept and verdict.promise not in (Promised.KEPT, Promised.NONE))


def _tell(console: Console, run: RunDirectory, verdict: AttachVerdict, page: Path) -> None:
    if console.as_json:
        console.answer_json(_as_json(run, verdict, page))
        return
    attached, counted = read_attached(run), counted_of(run)
    unsent = course_of(run, attached.began_ns).not_sent
    told = (counted.told("acknowledged"), counted.told("refused") - unsent, counted.told("indeterminate"))
    words = "{:,} acknowledged, {:,} refused, {:,} unknown".format(*told)
    console.answer(f"{verdict.promise.upper()}: {verdict.reason}")
    others = f"; {counted.foreign:,} of others" if counted.foreign else ""
    console.answer(f"  {counted.attempted - unsent:,} records sent: {words}{others}")
    for one in verdict.judged:
        if one.count or one.verdict not in (Promised.KEPT, Promised.NONE):
            console.answer(f"  {one.what}: {one.count:,} {one.verdict.upper()}: {one.reason}")
    for lost in lost_ranges(run)[:RANGES_TOLD] if counted.total("lost") else ():
        console.answer(f"    lost of partition {lost.partition}: offsets {lost.first_offset:,} to {lost.last_offset:,}")
    console.answer("rests on:")
    for line in verdict.rests_on:
        console.answer(f"  {line}")
    for ran in read_commands(run):
        if ran.exit_code:
            console.answer(f"failed with exit code {ran.exit_code}: {ran.command} (see {run.path / ran.output})")
    console.answer(f"report: {page}")


def _as_json(run: RunDirectory, verdict: AttachVerdict, page: Path) -> dict[str, Any]:
    ran = read_commands(run)
    return {
        "run": str(run.path),
        "report": str(page),
        **as_plain(verdict),
        "counted": as_plain(counted_of(run)),
        "commands": [as_plain(one) for one in ran],
        "acknowledged_each_second": course_of(run, read_attached(run).began_ns).acknowledged,
        "lost_offsets": [as_plain(one) for one in lost_ranges(run)],
        "commands_not_run": [as_plain(one) for one in read_given_commands(run)[len(ran) :]],
    }
