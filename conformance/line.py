"""On what is something run, and by whose rules? A line: a release in a metadata mode, named ``3.9.2/zookeeper``.

The one parser of that form: every command that takes a release reads it here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from fault_injection.releases import (
    MetadataMode,
    Release,
    UsageError,
    brought_release,
    find_release,
    jar_names_of_home,
    newer_build,
)
from oracle.rules.by_version import rules_for
from oracle.rules.release import plain_version
from oracle.vocabulary import MetadataMode as OracleMode

if TYPE_CHECKING:
    from conformance.run_options import OwnKafka
    from oracle.rules.rule_set import RuleSet

NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Line:
    """A release in a metadata mode, and the rules that it is held against.

    Attributes:
        own: the user's Kafka that is run as this release; None if its own jars are.
        rules_of: another release whose rules it is held against, in the same mode, or one with rules that are swapped
            (``oracle.rules.release``); None of its own.
    """

    release: Release
    metadata: MetadataMode
    own: OwnKafka | None = None
    rules_of: str | None = None

    @property
    def label(self) -> str | None:
        """What the user calls the Kafka that is run; None if it has no name but its release's."""
        return None if self.own is None else self.own.label

    @property
    def words(self) -> str:
        """Return the line as people are told of it: its text, and the label of a user's own Kafka."""
        return self.text if self.label is None else f"{self.text} ({self.label})"

    @property
    def text(self) -> str:
        """Return the line as the command line takes it, such as ``3.9.2/kraft``."""
        return f"{self.release.version}/{self.metadata.value}"

    @property
    def rules(self) -> RuleSet:
        """What the model says that the release does in this mode, or another one whose rules were asked for."""
        return rules_for(self.rules_of or self.release.version, OracleMode(self.metadata.value))


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


def line_named(text: str, metadata: str | None = None, own: OwnKafka | None = None) -> Line:
    """Return the line that a text names, and ``--metadata`` beside it; without a mode it is the release's newer one.

    Args:
        text: such as ``3.9.2/zookeeper``; ``newest`` stands for the release of the user's Kafka, if there is one.
        metadata: the mode, if it is named beside.
        own: the user's Kafka that is run as this release.

    Raises:
        UsageError: no such release, a mode that it does not have, or two modes; or the user's Kafka is another one.
    """
    if own is not None and own.rules_of is not None:
        return _of_newer_build(own, own.rules_of, text, metadata)
    version, mode = release_named(text, metadata)
    release = find_release(version) if own is None else brought_release(_jar_names(own), own.words, version)
    return _line(release, mode, own)


def held_against(line: Line, rules_of: str | None) -> Line:
    """Return a line that is held against the rules of another release; its own if none is named.

    Raises:
        UsageError: no such release or rule, or the release does not have the line's mode.
    """
    if rules_of is None:
        return line
    find_release(plain_version(rules_of))
    try:
        rules_for(rules_of, OracleMode(line.metadata.value))
    except ValueError as error:
        raise UsageError(f"--rules-of {error}") from error
    return replace(line, rules_of=rules_of)


def _of_newer_build(own: OwnKafka, rules_of: str, text: str, metadata: str | None) -> Line:
    if text != NEWEST:
        raise UsageError("--kafka and --rules-of both name the release whose rules hold: give one of them.")
    version, mode = release_named(rules_of, metadata)
    return _line(newer_build(_jar_names(own), own.words, find_release(version)), mode, own)


def _line(release: Release, mode: str | None, own: OwnKafka | None) -> Line:
    return Line(release, release.metadata_mode(None if mode is None else MetadataMode(mode)), own)


def _jar_names(own: OwnKafka) -> list[str]:
    if own.home is not None:
        return jar_names_of_home(own.home)
    from fault_injection.cluster.backends.choice import jar_names_of_image  # noqa: PLC0415 - who asks pays

    return jar_names_of_image(own.image or "")
