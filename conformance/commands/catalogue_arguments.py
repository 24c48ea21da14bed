"""Which arguments do ``list`` and ``explain`` take?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.catalogue import explain, list_scenarios
from conformance.commands.choosing import Choice

if TYPE_CHECKING:
    import argparse


def add_catalogue(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands to the command line."""
    listing = commands.add_parser(
        "list", help="list the scenarios", description="Lists the scenarios, each with its requirement."
    )
    listing.add_argument("globs", nargs="*", metavar="GLOB", help="scenario names, such as TR-* or EL-02/safe")
    listing.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    listing.set_defaults(command=lambda console, a: list_scenarios(console, a.globs))
    explaining = commands.add_parser(
        "explain",
        help="say what a scenario requires and does, step by step",
        description="Says what a scenario requires, why, what it does step by step, and what a release must answer.",
    )
    explaining.add_argument("globs", nargs="+", metavar="SCENARIO", help="scenario name, such as TR-01")
    explaining.add_argument(
        "--kafka", default="newest", metavar="V", help="release that the numbers are predicted for (default: newest)"
    )
    explaining.add_argument(
        "--metadata", choices=("zookeeper", "kraft"), help="metadata mode (default: the release's newer)"
    )
    explaining.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    explaining.set_defaults(
        command=lambda console, a: explain(console, Choice(tuple(a.globs), kafka=a.kafka, metadata=a.metadata))
    )
