"""Which options does ``guarantees`` have? Its part of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.guarantees import CellOptions, TableOptions, show_table, write_schedule
from conformance.commands.whole_numbers import whole_number
from fault_injection.releases import UsageError
from oracle.brokers.questions import Cell, Faults
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from conformance.console import Console

ACKS = {"0": Acks.NONE, "1": Acks.LEADER, "all": Acks.ALL}
CELL_OPTIONS = ("--acks", "--min-isr", "--unclean", "--replicas", "--faults")
TABLE_OPTIONS = ("--regenerate", "--max-states", "--out", "--markdown")
FAULTS = {faults.name.lower().replace("_", "-"): faults for faults in Faults}
EPILOG = """examples:
  kafka-conformance guarantees --kafka 3.9.2,4.3.1 --metadata kraft
  kafka-conformance guarantees --kafka 2.8.0 --write-schedule lost.yaml --min-isr 1 --replicas 2
  kafka-conformance guarantees --regenerate --out oracle/brokers/guarantee_table.json
"""


def add_guarantees(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "guarantees",
        help="say what each release can lose, with which settings",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kafka", metavar="V[,V…]", help="releases, such as 3.9 or 2.8.0 (default: all)")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="one metadata mode (default: both)")
    parser.add_argument("--regenerate", action="store_true", help="ask the explorer now, not the table that is kept")
    parser.add_argument(
        "--max-states", type=whole_number(1, 10**12), metavar="N", help="states after which a search gives up"
    )
    parser.add_argument("--out", type=Path, metavar="F", help="write the table as JSON to a file")
    parser.add_argument("--markdown", action="store_true", help="answer as Markdown tables")
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    cell = parser.add_argument_group("the schedule of one cell")
    cell.add_argument("--write-schedule", type=Path, metavar="F", help="write what it loses as a schedule for `run`")
    cell.add_argument("--acks", choices=tuple(ACKS), help="(default: all)")
    cell.add_argument("--min-isr", type=int, choices=(1, 2, 3), help="(default: 1)")
    cell.add_argument("--unclean", choices=("on", "off"), help="(default: off)")
    cell.add_argument("--replicas", type=int, choices=(2, 3), help="(default: 2)")
    cell.add_argument("--faults", choices=tuple(FAULTS), help="(default: kills)")
    parser.set_defaults(command=_guarantees)


def _guarantees(console: Console, parsed: argparse.Namespace) -> int:
    releases = () if parsed.kafka is None else tuple(name.strip() for name in parsed.kafka.split(","))
    if parsed.write_schedule is not None:
        _refuse(parsed, TABLE_OPTIONS, "goes with the table, not with --write-schedule")
        return write_schedule(console, _cell_options(releases, parsed))
    _refuse(parsed, CELL_OPTIONS, "names one cell: it needs --write-schedule")
    if not parsed.regenerate:
        _refuse(parsed, ("--max-states",), "bounds a search: it needs --regenerate")
    return show_table(
        console,
        TableOptions(releases, parsed.metadata, parsed.markdown, parsed.regenerate, parsed.max_states, parsed.out),
    )


def _cell_options(releases: tuple[str, ...], parsed: argparse.Namespace) -> CellOptions:
    if len(releases) != 1:
        raise UsageError("--write-schedule needs one release: --kafka V")
    faults = FAULTS[parsed.faults or "kills"]
    acks = ACKS[parsed.acks or "all"]
    cell = Cell(acks, parsed.min_isr or 1, parsed.unclean == "on", parsed.replicas or 2, faults)
    return CellOptions(releases[0], parsed.metadata, cell, parsed.write_schedule)


def _refuse(parsed: argparse.Namespace, options: tuple[str, ...], why: str) -> None:
    for option in options:
        if getattr(parsed, option.removeprefix("--").replace("-", "_")) not in (None, False):
            raise UsageError(f"{option} {why}")
