"""By which release's rules is an old run to be judged?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, release_of
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from conformance.run_directory import RunDirectory


def other_rules(run: RunDirectory, rules_of: str | None, metadata: str | None) -> tuple[str, str] | None:
    """Return release and metadata mode of ``--rules-of``; None if it was not given.

    The mode is the run's own if that release has it, unless ``--metadata`` says another.

    Raises:
        UsageError: there is no such release, it does not have that mode, or a mode was given alone.
    """
    if rules_of is None and metadata is not None:
        raise UsageError("--metadata chooses the mode of --rules-of: give both.")
    if rules_of is None:
        return None
    own = run.read_json("run.json")["metadata"]
    release, _ = release_of(Choice(kafka=rules_of))
    modes = [mode.value for mode in release.metadata_modes]
    wanted = metadata or (own if own in modes else modes[0])
    _, chosen = release_of(Choice(kafka=rules_of, metadata=wanted))
    return release.version, chosen.value
