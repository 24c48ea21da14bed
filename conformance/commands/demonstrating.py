"""``audit --demonstrate``: a finding shown on brokers of the tester's own, as it is and mended, each with a report."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.audit.demonstrated_defects import BY_ENTRIES
from conformance.audit.demonstrated_topics import Demonstrated, example, found_by
from conformance.audit.demonstrations import (
    AS_READ,
    DEMONSTRATIONS,
    MENDED,
    NOT_DEMONSTRATED,
    NothingToShowError,
    Telling,
)
from conformance.commands.parser import check_writable, refuse
from conformance.commands.report_page import write_page
from conformance.judgement.verdicts import exit_code
from conformance.line import NEWEST, line_named
from conformance.record.verdict import Conformance
from conformance.run_options import RunOptions, check_options
from conformance.session import Task, seed_of, session_on
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from conformance.audit.audit import Audit
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from conformance.pipeline import Finished

ITS_OWN = "brokers of the tester's own"
RUNS = Path("runs")
OF_ALL = "is about all findings of a cluster; --demonstrate shows one."
OF_CLUSTER = "is about a cluster: give --bootstrap-server too; without one an example is demonstrated."
OF_RUNS = "is about the runs of --demonstrate: give that too."
WIDTH = 118


def add_demonstrate(parser: Parser) -> None:
    """Add the options of a demonstration."""
    parser.add_argument(
        "--demonstrate",
        metavar="CHECK",
        help="show what a check has found on brokers of the tester's own; without a cluster, its example",
    )
    parser.add_argument("--runs-dir", type=Path, help=f"where a demonstration's runs and reports go (default: {RUNS})")
    parser.add_argument(
        "--backend",
        choices=("auto", "docker", "process"),
        help="where a demonstration's brokers run (default: auto)",
    )


@dataclass(frozen=True, slots=True)
class Told:
    """One telling of a demonstration, its run and its report."""

    telling: Telling
    finished: Finished
    report: Path

    @property
    def conforms(self) -> bool:
        """Return whether brokers did what was predicted, which is what the demonstration says that they do."""
        return self.finished.verdict.conformance is Conformance.CONFORMS


def check_demonstrable(parsed: argparse.Namespace) -> None:
    """Refuse what cannot be demonstrated, before a cluster is asked anything.

    Raises:
        UsageError: there is no such check, none of its findings can be shown, or runs are not possible here.
    """
    check = parsed.demonstrate
    refuse(parsed, ["--fail-on"], OF_ALL)
    if not parsed.bootstrap_server:
        refuse(parsed, ["--topic", "--command-config"], OF_CLUSTER)
    if check in NOT_DEMONSTRATED:
        raise UsageError(f"--demonstrate {check}: it is not demonstrated: {NOT_DEMONSTRATED[check]}.")
    if not is_demonstrated(check):
        near = get_close_matches(check, [*DEMONSTRATIONS, *BY_ENTRIES], n=1)
        meant = f"; did you mean {near[0]}?" if near else "; --list-checks names them all."
        raise UsageError(f"--demonstrate {check}: there is no such check{meant}")
    check_options(_options(parsed))
    check_writable(parsed.runs_dir or RUNS)


def refuse_without_demonstration(parsed: argparse.Namespace) -> None:
    """Refuse the options of a demonstration where none is asked for.

    Raises:
        UsageError: one was given.
    """
    refuse(parsed, ["--runs-dir", "--backend"], OF_RUNS)


def _options(parsed: argparse.Namespace) -> RunOptions:
    return RunOptions(backend=parsed.backend or "auto")


def is_demonstrated(check: str) -> bool:
    """Return whether a check's findings can be demonstrated."""
    return check in DEMONSTRATIONS or check in BY_ENTRIES


def demonstrate(console: Console, parsed: argparse.Namespace, found: Audit | None) -> int:
    """Show a finding of a cluster, or an example without one, and return the exit code.

    Raises:
        UsageError: there is nothing to show.
    """
    check = parsed.demonstrate
    try:
        shown = example(check, line_named(parsed.kafka or NEWEST)) if found is None else found_by(found, check)
    except NothingToShowError as error:
        raise UsageError(f"--demonstrate {check}: {error}.") from error
    told = _run(console, shown, (parsed.runs_dir or RUNS) / check, _options(parsed))
    if console.as_json:
        console.answer_json(_as_json(shown, told))
    else:
        lines = _lines(shown, told, parsed.bootstrap_server if found else None)
        console.answer("\n".join(line for one in lines for line in _wrapped(one, console.width(WIDTH))))
    return exit_code((one.finished.verdict.counted, one.finished.verdict.promise) for one in told)


def _run(console: Console, shown: Demonstrated, runs: Path, options: RunOptions) -> list[Told]:
    """Run both tellings, on one cluster where they need the same, and write a report of each."""
    seed, told = seed_of(options), []
    each = [(shown.twins.as_read, runs / AS_READ), (shown.twins.mended, runs / MENDED)]
    for (line, features), group in groupby(each, key=lambda one: (one[0].line, one[0].features)):
        alike = list(group)
        words = f"Kafka {line.text}, on {ITS_OWN}, seed {seed}."
        with session_on(line, options, seed, console.progress, words) as session:
            session.cluster_pool.features = features
            tasks = [Task(telling.entry, place, telling.entry.name) for telling, place in alike]
            finished = session.run_all(tasks)
        told += [_reported(telling, one, place) for (telling, place), one in zip(alike, finished, strict=True)]
    return told


def _reported(telling: Telling, finished: Finished, place: Path) -> Told:
    return Told(telling, finished, write_page([finished.run.path], place / "report.html"))


def _lines(shown: Demonstrated, told: Sequence[Told], servers: str | None) -> Iterator[str]:
    read = "no cluster was asked" if servers is None else f"{servers} was only read"
    yield f"{shown.check}, {shown.subject}: shown on {ITS_OWN}, Kafka {told[0].telling.line.release.version}; {read}"
    for one, place in zip(told, ("as it is", "mended"), strict=True):
        verdict = one.finished.verdict
        promise = f" + {verdict.promise.value}" if verdict.promise else ""
        did = one.telling.shows if one.conforms else f"brokers did otherwise than predicted: {verdict.reason}"
        yield f"{place}, with {one.telling.settings}: {did}"
        yield f"  {verdict.conformance.value}{promise}, {one.finished.seconds:.1f} s; report: {one.report}"


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)


def _as_json(shown: Demonstrated, told: Sequence[Told]) -> dict[str, Any]:
    return {
        "check": shown.check,
        "subject": shown.subject,
        "runs": [
            {
                "settings": one.telling.settings,
                "predicted": one.telling.shows,
                "kafka": one.telling.line.text,
                "conformance": one.finished.verdict.conformance.value,
                "promise": one.finished.verdict.promise.value if one.finished.verdict.promise else None,
                "reason": one.finished.verdict.reason,
                "run": str(one.finished.run.path),
                "report": str(one.report),
            }
            for one in told
        ],
    }
