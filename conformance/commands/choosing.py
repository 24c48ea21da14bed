"""What did the user choose? Scenarios, release, metadata mode: checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.catalogue.ladder import LADDER
from conformance.expectations import ExpectationError
from conformance.line import NEWEST, held_against, line_named, release_named
from conformance.record.directory import RunDirectoryError
from conformance.record.run import read_run
from conformance.registry import UnknownEntryError, select
from conformance.run_options import RunOptions, run_options_in_pytest
from conformance.schedules import SUFFIXES
from conformance.schedules.own_scenarios import has_scenarios, locate_own, read_scenarios
from conformance.schedules.schedule_file import ScheduleFileError
from conformance.spark_extra import SparkMissingError
from conformance.stages.predicting import predict_entry
from fault_injection.releases import UsageError, find_release
from oracle.steps.step import ScheduleError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from conformance.catalogue.examination import Entry
    from conformance.commands.parser import Parser
    from conformance.line import Line
    from conformance.record.directory import RunDirectory
    from conformance.stages.predicting import EntryPrediction
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line named.

    Attributes:
        globs: names of entries; empty means the whole profile.
        schedules: the user's own files in YAML or Python, or directories of them, instead of the catalogue, in the
            order in which they are run.
        kafka: a release, such as ``2.8.2``, ``2.8``, ``newest`` or ``3.9.2/zookeeper``.
        metadata: ``zookeeper`` or ``kraft``; None chooses the release's newer one.
    """

    globs: tuple[str, ...] = ()
    schedules: tuple[Path, ...] = ()
    kafka: str = NEWEST
    metadata: str | None = None
    profile: str = "quick"


def add_choice(parser: Parser) -> None:
    """Add the options that say what is run, or predicted, and on which release."""
    parser.add_argument("globs", nargs="*", metavar="GLOB", help="entries, such as TR-01 or TR (default: the profile)")
    add_schedules(parser, "several are taken in order, and run one after another on one cluster")
    parser.add_argument(
        "--kafka", default=NEWEST, metavar="V", help="release, such as 3.9.2 or 0.10.2 (default: newest)"
    )
    parser.add_argument(
        "--metadata", choices=("zookeeper", "kraft"), help="metadata mode (default: the release's newer)"
    )


def add_schedules(parser: Parser, of_several: str) -> None:
    """Add the option that names schedules of the user's own; its help ends with what becomes of several."""
    parser.add_argument(
        "--schedule",
        type=Path,
        metavar="F",
        action="append",
        default=[],
        help=f"a YAML schedule of your own, a Python file with SCENARIOS, or a directory of them; {of_several}",
    )


def choice_given(parsed: argparse.Namespace) -> Choice:
    """Return what the options of ``add_choice`` named."""
    profile = getattr(parsed, "profile", None) or "quick"
    return Choice(tuple(parsed.globs), tuple(parsed.schedule), parsed.kafka, parsed.metadata, profile)


_OF_FILES = ScheduleFileError, ExpectationError, RunDirectoryError
USAGE_ERRORS = UsageError, SparkMissingError, UnknownEntryError, *_OF_FILES
"""Errors of the user's making: one sentence, exit code 2."""


def scenarios_of(choice: Choice) -> tuple[Entry, ...]:
    """Return the chosen scenarios and examinations.

    Raises:
        UnknownEntryError: a name that matches nothing.
        ScheduleFileError: a schedule file that cannot be used.
    """
    if choice.schedules and choice.globs:
        raise ScheduleFileError("name entries or give --schedule, not both")
    if choice.schedules:
        return _own(choice.schedules)
    return select(choice.globs, choice.profile)


SCHEDULES_ARE = (
    "give a YAML schedule, a Python file with SCENARIOS, or a directory of them; "
    "`kafka-conformance schedule-help --example TR-01` prints one to start from"
)


def _own(paths: tuple[Path, ...]) -> tuple[Entry, ...]:
    """Read the user's schedules; each needs an id of its own, by which runs and errors are told apart."""
    entries: dict[str, tuple[Path, Entry]] = {}
    for path in _files(paths):
        for entry in read_scenarios(path):
            if entry.name in entries:
                raise ScheduleFileError(f"{path}: {entries[entry.name][0]} has the id {entry.id} too: give it another")
            entries[entry.name] = path, entry
    return tuple(entry for _, entry in entries.values())


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield schedules' files, those of a directory by their names."""
    for path in paths:
        if not path.exists():
            raise ScheduleFileError(f"{path} does not exist: {SCHEDULES_ARE}")
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES or has_scenarios(file))
        if not files:
            what = "no file in it ends with .yaml or .yml, or is Python with SCENARIOS"
            raise ScheduleFileError(f"{path}: no schedule is in this directory: {what}")
        yield from files


def line_of(choice: Choice, options: RunOptions | None = None) -> Line:
    """Return the chosen release in its metadata mode; options say whose Kafka is run, and by whose rules.

    Raises:
        UsageError: a release or a rule that is not known, a mode that it lacks, or two modes.
    """
    options = options or RunOptions()
    return held_against(line_named(choice.kafka, choice.metadata, options.own), options.rules_of)


def line_in_pytest(option: Callable[[str], Any]) -> Line:
    """Return what pytest's command line names, given how to ask for one of its options.

    Raises:
        UsageError: a release that is not known, a mode that it lacks, or two modes.
    """
    choice = Choice(kafka=option("--kafka-version") or NEWEST, metadata=option("--kafka-metadata"))
    return line_of(choice, run_options_in_pytest(option))


def rules_of(choice: Choice) -> RuleSet:
    """Return the rule set of the chosen release."""
    return line_of(choice).rules


def check_predictable(choice: Choice, entries: Iterable[Entry], rules: RuleSet) -> None:
    """Predict every entry before the first broker starts.

    Raises:
        ScheduleFileError: a schedule that no rule of the release can satisfy.
    """
    for entry in entries:
        entry_prediction(entry, rules, choice)


def locate_error(choice: Choice, scenario: Entry, error: ScheduleError) -> ScheduleFileError:
    """Return a schedule error as one of the user's, with its place."""
    for path in _files(choice.schedules):
        for own in read_scenarios(path):
            if own.name == scenario.name:
                return locate_own(path, own, error)
    step = "" if error.step is None else f" step {error.step + 1}:"
    return ScheduleFileError(f"{scenario.name}:{step} {error}")


def entry_prediction(entry: Entry, rules: RuleSet, choice: Choice | None = None) -> EntryPrediction:
    """Return what the model says of an entry; the choice has the files of schedules of the user's.

    Raises:
        ScheduleFileError: no rule of the release satisfies its schedule.
    """
    try:
        return predict_entry(entry, rules)
    except ScheduleError as error:
        raise locate_error(choice or Choice(), entry, error) from error


def release_options(rules: RuleSet) -> str:
    """Return the options that name a release, its metadata mode where another one is the default."""
    version, mode = rules.version, rules.metadata.value
    default = find_release(version).default_metadata_mode.value
    return f"--kafka {version}" if mode == default else f"--kafka {version} --metadata {mode}"


# By which release's rules is an old run to be judged?


def other_rules(run: RunDirectory, rules_of: str | None, metadata: str | None) -> RuleSet | None:
    """Return the rules of the release of ``--rules-of``; None if it was not given.

    The mode is the run's own if that release has it, unless another is named.

    Raises:
        UsageError: there is no such release, it does not have that mode, or a mode was given alone.
    """
    if rules_of is None and metadata is not None:
        raise UsageError("--metadata chooses the mode of --rules-of: give both.")
    if rules_of is None:
        return None
    version, mode = release_named(rules_of, metadata)
    own = read_run(run).metadata
    modes = [each.value for each in find_release(version).metadata_modes]
    wanted = mode or (own if own in modes else modes[0])
    return line_named(version, wanted).rules


# On which release can an entry be run that the chosen one does not run? The newest of the ladder that has it.


def line_that_runs(entry: Entry) -> RuleSet | None:
    """Return the rules of the newest line of the ladder that an entry is run on; None if there is none.

    Raises:
        ScheduleFileError: no rule of a release satisfies its schedule.
    """
    for line in reversed(LADDER):
        rules = line.rules
        if entry_prediction(entry, rules).not_run is None:
            return rules
    return None
