"""By which release's rules is an old run to be judged?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, release_of
from conformance.commands.release_form import release_named
from fault_injection.releases import UsageError, find_release

if TYPE_CHECKING:
    from conformance.run_directory import RunDirectory


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
    own = run.read_json("run.json")["metadata"]
    modes = [each.value for each in find_release(version).metadata_modes]
    wanted = mode or (own if own in modes else modes[0])
    release, chosen = release_of(Choice(kafka=version, metadata=wanted))
    return release.version, chosen.value
