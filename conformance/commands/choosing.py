"""What did the user choose? Scenarios, release, metadata mode: checked before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.expectations import ExpectationError
from conformance.registry import UnknownScenarioError, select
from conformance.schedule_file import ScheduleFileError, locate, read_schedule
from fault_injection.releases import MetadataMode, Release, UsageError, find_release
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode as OracleMode

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.scenario import Scenario
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import ScheduleError


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line named.

    Attributes:
        globs: scenario names; empty means the whole profile.
        schedule: a user's own YAML file instead of the catalogue.
        kafka: a release, such as ``4.3.1``, ``4.3`` or ``newest``.
        metadata: ``zookeeper`` or ``kraft``; None chooses the release's newer one.
    """

    globs: tuple[str, ...] = ()
    schedule: Path | None = None
    kafka: str = "newest"
    metadata: str | None = None
    profile: str = "quick"


USAGE_ERRORS = (UsageError, UnknownScenarioError, ScheduleFileError, ExpectationError)
"""Errors of the user's making: one sentence, exit code 2."""


def scenarios_of(choice: Choice) -> tuple[Scenario, ...]:
    """Return the chosen scenarios.

    Raises:
        UnknownScenarioError: a name that matches nothing.
        ScheduleFileError: a schedule file that cannot be used.
    """
    if choice.schedule is not None and choice.globs:
        raise ScheduleFileError("name scenarios or give --schedule, not both")
    if choice.schedule is not None:
        return (read_schedule(choice.schedule),)
    return select(choice.globs, choice.profile)


def release_of(choice: Choice) -> tuple[Release, MetadataMode]:
    """Return the chosen release and metadata mode.

    Raises:
        UsageError: a release that is not known, or a mode that it lacks.
    """
    release = find_release(choice.kafka)
    wanted = None if choice.metadata is None else MetadataMode(choice.metadata)
    return release, release.metadata_mode(wanted)


def rules_of(choice: Choice) -> RuleSet:
    """Return the rule set of the chosen release."""
    release, metadata = release_of(choice)
    return rules_for(release.version, OracleMode(metadata.value))


def locate_error(choice: Choice, scenario: Scenario, error: ScheduleError) -> ScheduleFileError:
    """Return a schedule error as one of the user's, with its place."""
    if choice.schedule is not None:
        return ScheduleFileError(locate(choice.schedule, error))
    step = "" if error.step is None else f" step {error.step + 1}:"
    return ScheduleFileError(f"{scenario.name}:{step} {error}")
