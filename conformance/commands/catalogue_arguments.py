"""Which arguments do ``list`` and ``explain`` take?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.catalogue import explain
from conformance.commands.choosing import Choice
from conformance.commands.help_texts import EXPLAIN, EXPLAIN_EPILOG, LIST, LIST_EPILOG, help_of
from conformance.commands.ignored_options import refuse
from conformance.commands.listing import list_scenarios
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    import argparse

    from conformance.console import Console


def add_catalogue(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands to the command line."""
    _add_list(commands)
    _add_explain(commands)


def _add_list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "list",
        help="list the scenarios, and what a release does not run",
        **help_of(LIST, LIST_EPILOG),
    )
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="scenario names, such as TR-* or EL-02/safe")
    parser.add_argument("--kafka", metavar="V", help="say what is not run on a release, such as 3.9.2/zookeeper")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of that release")
    parser.add_argument("--not-run", action="store_true", help="list only what is not run there, by reason")
    parser.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    parser.set_defaults(command=_list)


def _list(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.kafka is None and (parsed.metadata is not None or parsed.not_run):
        option = "--not-run" if parsed.not_run else "--metadata"
        raise UsageError(f"{option} is about one release: give --kafka too.")
    on = None if parsed.kafka is None else Choice(kafka=parsed.kafka, metadata=parsed.metadata)
    return list_scenarios(console, parsed.globs, on, only_not_run=parsed.not_run)


def _add_explain(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explaining = commands.add_parser(
        "explain",
        help="say what a scenario requires and does, step by step",
        **help_of(EXPLAIN, EXPLAIN_EPILOG),
    )
    explaining.add_argument("globs", nargs="+", metavar="SCENARIO", help="scenario name, such as TR-01, or EL-*")
    explaining.add_argument("--full", action="store_true", help="of several: the whole text of each")
    explaining.add_argument("--kafka", metavar="V", help="release that the numbers are predicted for (default: newest)")
    explaining.add_argument(
        "--metadata", choices=("zookeeper", "kraft"), help="metadata mode (default: the release's newer)"
    )
    explaining.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    explaining.set_defaults(command=_explain)


def _explain(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.json:
        refuse(parsed, ["--full"], "is about the text: --json has the whole of each scenario.")
        refuse(parsed, ["--kafka", "--metadata"], "is about the predicted numbers, which --json does not have.")
    choice = Choice(tuple(parsed.globs), kafka=parsed.kafka or "newest", metadata=parsed.metadata)
    return explain(console, choice, in_full=parsed.full)
