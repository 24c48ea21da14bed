"""Which options does ``guarantees`` have? Its part of the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, rules_of
from conformance.commands.guarantee_cell import Choices, faults_word, show_cell
from conformance.commands.guarantees import (
    NEWEST,
    CellOptions,
    TableOptions,
    kept_answers,
    show_table,
    write_schedule,
)
from conformance.commands.parser import LANES_MAX, add_json, check_file, is_given, refuse, whole_number
from fault_injection.releases import UsageError
from oracle.brokers.lifting import REPLICAS_MAX
from oracle.brokers.questions import Faults, GuaranteeCell
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    import argparse

    from conformance.commands.parser import Parser
    from conformance.console import Console

ACKS = {"0": Acks.NONE, "1": Acks.LEADER, "all": Acks.ALL}
SETTINGS = ("--acks", "--min-isr", "--unclean", "--replicas")
"""In the order in which a cell tells them."""
CELL_OPTIONS = (*SETTINGS, "--faults")
TABLE_OPTIONS = ("--regenerate", "--max-states", "--lanes", "--out", "--markdown", "--full")
FAULTS = {faults_word(faults): faults for faults in Faults}
DESCRIPTION = """Says what acknowledged records each combination of acks, min.insync.replicas, unclean election and
replicas can lose on a release, from searches of the model to the end of their bounds: kills, kills of brokers that
never wrote a high watermark to disk, and stops with one power failure that costs a broker the tail of its log. One to
three replicas are searched; steps that lose a record of three are tried on four and five in a prediction. With settings
named it says which promise they make, which records they lose by which steps, and the commands that show it on
brokers."""
EPILOG = """examples:
  kafka-conformance guarantees --kafka 4.4.0                                 every combination, in a table
  kafka-conformance guarantees --kafka 4.4.0 --acks all --min-isr 1 --unclean on --replicas 2
  kafka-conformance guarantees --kafka 3.9.2,4.4.0 --metadata kraft
  kafka-conformance guarantees --kafka 2.8.0 --write-schedule lost.yaml --min-isr 1 --replicas 2
  kafka-conformance guarantees --regenerate --out oracle/brokers/guarantee_table.json
"""


def add_guarantees(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument(
        "--kafka",
        metavar="V[,V…]",
        help="releases, such as 3.9 or 2.8.0/zookeeper, or all (default: newest; of --full, --markdown, --json, "
        "--regenerate: all)",
    )
    of_one = "one metadata mode (default: both; of one combination that is named, the newer of the release)"
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help=of_one)
    parser.add_argument("--regenerate", action="store_true", help="ask the explorer now, not the table that is kept")
    parser.add_argument(
        "--max-states", type=whole_number(1, 10**12), metavar="N", help="states after which a search gives up"
    )
    parser.add_argument(
        "--lanes", type=whole_number(1, LANES_MAX), metavar="N", help="search N questions side by side (default: 1)"
    )
    parser.add_argument("--out", type=Path, metavar="F", help="write the table as JSON to a file")
    parser.add_argument("--full", action="store_true", help="every cell in a line of its own, with what decides it")
    parser.add_argument("--markdown", action="store_true", help="answer as Markdown tables")
    add_json(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    cell = parser.add_argument_group("one combination of settings on one release")
    cell.add_argument("--acks", choices=tuple(ACKS), help="(default: all)")
    cell.add_argument("--min-isr", "--min-insync-replicas", type=int, choices=(1, 2, 3), help="(default: 1)")
    cell.add_argument("--unclean", nargs="?", const="on", choices=("on", "off"), help="(default: off)")
    cell.add_argument("--replicas", type=int, choices=range(1, REPLICAS_MAX + 1), help="(default: 2)")
    cell.add_argument(
        "--faults",
        choices=tuple(FAULTS),
        metavar="F",
        help=f"{', '.join(FAULTS)} (default: all; with --write-schedule: kills)",
    )
    cell.add_argument("--write-schedule", type=Path, metavar="F", help="write what it loses as a schedule for `run`")
    parser.set_defaults(command=_guarantees)


def _guarantees(console: Console, parsed: argparse.Namespace) -> int:
    releases = _releases(parsed)
    if not parsed.regenerate:
        refuse(parsed, ["--quiet"], "is about the progress of a search: it needs --regenerate")
    if parsed.write_schedule is not None:
        refuse(parsed, TABLE_OPTIONS, "goes with the table, not with --write-schedule")
        check_file(parsed.write_schedule)
        return write_schedule(console, _cell_options(releases, parsed))
    if any(is_given(parsed, option) for option in CELL_OPTIONS):
        refuse(parsed, TABLE_OPTIONS, "goes with the table, not with settings that are named")
        return show_cell(console, _choices(releases, parsed))
    if not parsed.regenerate:
        refuse(parsed, ("--max-states",), "bounds a search: it needs --regenerate")
        refuse(parsed, ("--lanes",), "is about a search: it needs --regenerate")
    forms = [option for option in ("--out", "--markdown", "--full", "--json") if is_given(parsed, option)]
    if len(forms) > 1 and forms != ["--out", "--json"]:
        raise UsageError(f"{' and '.join(forms)} are different forms of the table: give one of them.")
    if parsed.out is not None:
        check_file(parsed.out)
    return show_table(
        console,
        TableOptions(
            releases=releases,
            metadata=parsed.metadata,
            is_markdown=parsed.markdown,
            is_full=parsed.full,
            is_search=parsed.regenerate,
            max_states=parsed.max_states,
            lanes=parsed.lanes or 1,
            out=parsed.out,
        ),
    )


def _releases(parsed: argparse.Namespace) -> tuple[str, ...]:
    """Return the releases that are named; if none is, those that the chosen answer has room for."""
    if parsed.kafka == "all":
        return ()
    if parsed.kafka is not None:
        return tuple(name.strip() for name in parsed.kafka.split(","))
    is_long = any(is_given(parsed, option) for option in ("--full", "--markdown", "--json", "--regenerate", "--out"))
    is_one = any(is_given(parsed, option) for option in CELL_OPTIONS)
    if parsed.write_schedule is not None or (is_long and not is_one) or parsed.metadata == "zookeeper":
        return ()
    return (NEWEST,)


def _cell_options(releases: tuple[str, ...], parsed: argparse.Namespace) -> CellOptions:
    if len(releases) != 1:
        raise UsageError("--write-schedule needs one release: --kafka V")
    (cell,) = _cells(parsed, FAULTS[parsed.faults or "kills"])
    return CellOptions(releases[0], parsed.metadata, cell, parsed.write_schedule)


def _choices(releases: tuple[str, ...], parsed: argparse.Namespace) -> Choices:
    if len(releases) != 1:
        raise UsageError("settings are looked at on one release: --kafka V")
    rules = rules_of(Choice(kafka=releases[0], metadata=parsed.metadata))
    cells = _cells(parsed, *(Faults if parsed.faults is None else [FAULTS[parsed.faults]]))
    return Choices(rules, cells, kept_answers(rules, cells), _defaults(parsed, cells[0]))


def _defaults(parsed: argparse.Namespace, cell: GuaranteeCell) -> tuple[str, ...]:
    """Return the settings of a cell that nobody named."""
    told = zip(SETTINGS, cell.settings.split(), strict=True)
    return tuple(setting for option, setting in told if not is_given(parsed, option))


def _cells(parsed: argparse.Namespace, *kinds: Faults) -> tuple[GuaranteeCell, ...]:
    acks, min_isr, replicas = ACKS[parsed.acks or "all"], parsed.min_isr or 1, parsed.replicas or 2
    return tuple(GuaranteeCell(acks, min_isr, parsed.unclean == "on", replicas, faults) for faults in kinds)
