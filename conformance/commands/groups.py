"""Which commands are there? Each with its group in ``--help`` and the module that is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from conformance.commands.parser import Parser

COMMANDS = "conformance.commands"


class Command(NamedTuple):
    """A word of the command line; what it takes and does is imported when it is called.

    Attributes:
        name: the word.
        help: what it does, in a few words.
        module: of ``conformance.commands``.
        adds: that module's function, which adds the options and the command itself to a parser.
    """

    name: str
    help: str
    module: str
    adds: str

    def add_to(self, parser: Parser) -> None:
        """Import the command, and have it add what it takes."""
        getattr(import_module(f"{COMMANDS}.{self.module}"), self.adds)(parser)


GROUPS: dict[str, tuple[Command, ...]] = {
    "ask the model; no cluster is needed": (
        Command(
            "guarantees", "say what each release can lose, with which settings", "guarantee_arguments", "add_guarantees"
        ),
        Command("list", "list the catalogue, and what a release does not run", "listing", "add_list"),
        Command("explain", "say what an entry requires and does, step by step", "explaining", "add_explain"),
        Command("predict", "say what must happen on a release", "prediction", "add_predict"),
        Command(
            "site",
            "write a page for every requirement, known defect and setting, with the predicted course drawn",
            "site.writing",
            "add_site",
        ),
        Command(
            "explore",
            "search a model of replication exhaustively, and show how a rule breaks",
            "explored_models",
            "add_explore",
        ),
    ),
    "run real brokers": (
        Command("run", "run scenarios on real brokers and write the report", "running", "add_run"),
        Command(
            "matrix",
            "run the catalogue on several releases and write one table of requirement by release",
            "matrix",
            "add_matrix",
        ),
        Command(
            "hunt", "grow schedules that nobody wrote down, run them, and say what deviates", "hunting", "add_hunt"
        ),
        Command(
            "soak",
            "send many records under faults, predict each from the wire, and reconcile all of them",
            "soaking",
            "add_soak",
        ),
        Command(
            "coverage",
            "say how much of a release's model brokers have been through, and run the rest",
            "coverage",
            "add_coverage",
        ),
    ),
    "look at a cluster that you run": (
        Command("compose", "write a cluster of a release that Docker Compose starts", "composing", "add_compose"),
        Command(
            "audit",
            "say what a running cluster can lose by its settings; reads, and writes nothing",
            "auditing",
            "add_audit",
        ),
        Command(
            "attach",
            "write to a running cluster while you break it, and say of every record whether it kept it",
            "attaching",
            "add_attach",
        ),
    ),
    "look at finished runs": (
        Command("report", "write one report over existing runs", "reporting", "add_report"),
        Command("compare", "say in what two runs differ, and where their wires part", "comparing", "add_compare"),
        Command("judge", "judge an old run again from its files", "judgement", "add_judge"),
        Command("bundle", "pack runs into one file, for somebody else to judge", "bundling", "add_bundle"),
        Command("trace", "print the wire trace of a run, and check it against the model", "tracing", "add_trace"),
    ),
    "look something up": (
        Command("versions", "list the supported releases and their rules", "versions", "add_versions"),
        Command(
            "track-record",
            "list the known defects that are shown here, and those that are out of reach",
            "versions",
            "add_track_record",
        ),
        Command(
            "faults",
            "list the faults that can be injected, and the protocol points of a release",
            "faults",
            "add_faults",
        ),
        Command("new-scenario", "write a scenario that runs, to start from", "beginning", "add_new_scenario"),
        Command("schedule-help", "document the steps of a schedule file", "schedule_help", "add_schedule_help"),
        Command("completion", "print the completion script of bash, zsh or fish", "completion", "add_completion"),
    ),
}
"""Every command, as ``--help`` lists them."""
