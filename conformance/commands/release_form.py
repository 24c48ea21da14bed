"""How is a release named? As ``3.9.2``, or with its metadata mode as ``3.9.2/zookeeper``; every command reads both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fault_injection.releases import MetadataMode, UsageError, find_release

if TYPE_CHECKING:
    from oracle.rules.rule_set import RuleSet


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
