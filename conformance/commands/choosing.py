"""What did the user choose? Scenarios, release, metadata mode: checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.catalogue.ladder import LADDER
from conformance.expectations import ExpectationError
from conformance.record.directory import RunDirectoryError
from conformance.record.run import read_run
from conformance.registry import UnknownScenarioError, select
from conformance.schedules import SUFFIXES
from conformance.schedules.schedule_file import ScheduleFileError, locate, read_schedule
from conformance.stages.foretelling import foretell
from fault_injection.releases import (
    NO_JARS,
    MetadataMode,
    Release,
    UsageError,
    brought_release,
    find_release,
    jar_names_of_home,
    jars_of,
    schema_jar,
    spark_connector_jars,
)
from oracle.rules.by_version import rules_for
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode as OracleMode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from conformance.catalogue.examination import Entry
    from conformance.commands.parser import Parser
    from conformance.record.directory import RunDirectory
    from conformance.stages.foretelling import Foretold
    from fault_injection.releases import JarSet
    from oracle.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line named.

    Attributes:
        globs: scenario names; empty means the whole profile.
        schedules: the user's own YAML files, or directories of them, instead of the catalogue, in the order in which
            they are run.
        kafka: a release, such as ``4.4.0``, ``4.4``, ``newest`` or ``3.9.2/zookeeper``.
        metadata: ``zookeeper`` or ``kraft``; None chooses the release's newer one.
        kafka_home: the directory of a Kafka of the user's; it decides the release.
        image: a container image with a Kafka of the user's; it decides the release.
    """

    globs: tuple[str, ...] = ()
    schedules: tuple[Path, ...] = ()
    kafka: str = "newest"
    metadata: str | None = None
    profile: str = "quick"
    kafka_home: Path | None = None
    image: str | None = None


def add_choice(parser: Parser) -> None:
    """Add the options that say what is run, or predicted, and on which release."""
    parser.add_argument(
        "globs", nargs="*", metavar="GLOB", help="scenarios, such as TR-01 or TR (default: the profile)"
    )
    add_schedules(parser, "several are taken in order, and run one after another on one cluster")
    parser.add_argument(
        "--kafka", default="newest", metavar="V", help="release, such as 4.4.0 or 0.10.2 (default: newest)"
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
        help=f"a YAML schedule of your own, or a directory of them; {of_several}",
    )


def choice_given(parsed: argparse.Namespace) -> Choice:
    """Return what the options of ``add_choice`` named."""
    profile = getattr(parsed, "profile", None) or "quick"
    own = {name: getattr(parsed, name, None) for name in ("kafka_home", "image")}
    return Choice(tuple(parsed.globs), tuple(parsed.schedule), parsed.kafka, parsed.metadata, profile, **own)


def choice_of_options(option: Callable[[str], Any]) -> Choice:
    """Return what pytest's command line named, given how to ask for an option of the plugin."""
    home = option("--kafka-home")
    return Choice(
        kafka=option("--kafka-version") or "newest",
        metadata=option("--kafka-metadata"),
        kafka_home=Path(home) if home else None,
        image=option("--kafka-image"),
    )


USAGE_ERRORS = (UsageError, UnknownScenarioError, ScheduleFileError, ExpectationError, RunDirectoryError)
"""Errors of the user's making: one sentence, exit code 2."""


def scenarios_of(choice: Choice) -> tuple[Entry, ...]:
    """Return the chosen scenarios and examinations.

    Raises:
        UnknownScenarioError: a name that matches nothing.
        ScheduleFileError: a schedule file that cannot be used.
    """
    if choice.schedules and choice.globs:
        raise ScheduleFileError("name scenarios or give --schedule, not both")
    if choice.schedules:
        return _own(choice.schedules)
    return select(choice.globs, choice.profile)


def _own(paths: tuple[Path, ...]) -> tuple[Entry, ...]:
    """Read the user's schedules; each needs an id of its own, by which runs and errors are told apart."""
    entries: dict[str, tuple[Path, Entry]] = {}
    for path in _files(paths):
        entry = read_schedule(path)
        if entry.name in entries:
            raise ScheduleFileError(f"{path}: {entries[entry.name][0]} has the id {entry.id} too: give it another")
        entries[entry.name] = path, entry
    return tuple(entry for _, entry in entries.values())


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield schedules' files, those of a directory by their names."""
    for path in paths:
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise ScheduleFileError(f"{path}: no schedule is in this directory: no file in it ends with .yaml or .yml")
        yield from files


def release_of(choice: Choice) -> tuple[Release, MetadataMode]:
    """Return the chosen release and metadata mode.

    Raises:
        UsageError: a release that is not known, a mode that it lacks, or two modes.
    """
    version, mode = release_named(choice.kafka, choice.metadata)
    release = _brought(choice, version) or find_release(version)
    wanted = None if mode is None else MetadataMode(mode)
    return release, release.metadata_mode(wanted)


def _brought(choice: Choice, version: str) -> Release | None:
    """Return the release of the Kafka that the user brings, if there is one."""
    if choice.kafka_home is not None and choice.image is not None:
        raise UsageError("--kafka-home and --image both bring a Kafka: give one of them.")
    if choice.kafka_home is not None:
        names = jar_names_of_home(choice.kafka_home)
        return brought_release(names, f"--kafka-home {choice.kafka_home}", version)
    if choice.image is not None:
        from fault_injection.cluster.backends.choice import jar_names_of_image  # noqa: PLC0415 - who asks pays

        names = jar_names_of_image(choice.image)
        return brought_release(names, f"--image {choice.image}", version)
    return None


def jars_for(choice: Choice, release: Release) -> JarSet:
    """Return the jars of the chosen Kafka, none if an image brings them, and see to it that all others are there.

    Raises:
        UsageError: some cannot be had.
    """
    jars = NO_JARS if choice.image is not None else jars_of(release, choice.kafka_home)
    schema_jar()  # this one and the next are needed later: what cannot be had is a usage error, not a failed run
    spark_connector_jars()
    return jars


def rules_of(choice: Choice) -> RuleSet:
    """Return the rule set of the chosen release."""
    release, metadata = release_of(choice)
    return rules_for(release.version, OracleMode(metadata.value))


def locate_error(choice: Choice, scenario: Entry, error: ScheduleError) -> ScheduleFileError:
    """Return a schedule error as one of the user's, with its place."""
    own = next((path for path in _files(choice.schedules) if read_schedule(path).name == scenario.name), None)
    if own is not None:
        return ScheduleFileError(locate(own, error))
    step = "" if error.step is None else f" step {error.step + 1}:"
    return ScheduleFileError(f"{scenario.name}:{step} {error}")


def foretold(entry: Entry, rules: RuleSet) -> Foretold:
    """Return what the model says of a catalogue entry.

    Raises:
        ScheduleFileError: no rule of the release satisfies its schedule.
    """
    try:
        return foretell(entry, rules)
    except ScheduleError as error:
        raise locate_error(Choice(), entry, error) from error


# How is a release named? As ``3.9.2``, or with its metadata mode as ``3.9.2/zookeeper``; every command reads both.


class Named(NamedTuple):
    """What was named.

    Attributes:
        version: such as ``3.9.2``, ``3.9`` or ``newest``; whether there is such a release is not known yet.
        metadata: ``zookeeper`` or ``kraft``; None if neither was named.
    """

    version: str
    metadata: str | None


def release_named(text: str, metadata: str | None = None) -> Named:
    """Return the release and the metadata mode that a text names, and ``--metadata`` beside it.

    Raises:
        UsageError: it names none or several releases, no mode that there is, or another mode than ``--metadata``.
    """
    if "," in text:
        raise UsageError(f"{text!r} names several releases, and this takes one; `matrix --kafka` takes several.")
    if not text.isascii():
        raise UsageError(f"{text!r} is no release: give one such as 3.9.2, in plain digits.")
    version, slash, mode = text.strip().partition("/")
    if not slash:
        return Named(version, metadata)
    if mode not in (modes := [each.value for each in MetadataMode]):
        raise UsageError(f"{text!r}: {mode!r} is no metadata mode; say {' or '.join(modes)}.")
    if metadata not in {None, mode}:
        raise UsageError(f"{text!r} and --metadata {metadata} contradict each other: give one of the two modes.")
    return Named(version, mode)


def release_options(rules: RuleSet) -> str:
    """Return the options that name a release, its metadata mode where another one is the default."""
    version, mode = rules.version, rules.metadata.value
    default = find_release(version).default_metadata_mode.value
    return f"--kafka {version}" if mode == default else f"--kafka {version} --metadata {mode}"


# By which release's rules is an old run to be judged?


def other_rules(run: RunDirectory, rules_of: str | None, metadata: str | None) -> tuple[str, str] | None:
    """Return release and metadata mode of ``--rules-of``; None if it was not given.

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
    release, chosen = release_of(Choice(kafka=version, metadata=wanted))
    return release.version, chosen.value


# On which release can an entry be run that the chosen one does not run? The newest of the ladder that has it.


def line_that_runs(entry: Entry) -> RuleSet | None:
    """Return the rules of the newest line of the ladder that an entry is run on; None if there is none.

    Raises:
        ScheduleFileError: no rule of a release satisfies its schedule.
    """
    for line in reversed(LADDER):
        rules = rules_for(line.release.version, OracleMode(line.metadata.value))
        if foretold(entry, rules).not_run is None:
            return rules
    return None
