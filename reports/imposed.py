"""Which broker properties does the tester impose on every run of a page, and which on one run alone?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reports.model import RunView


def imposed_on_all(runs: Sequence[RunView]) -> dict[str, str]:
    """Return the properties that all runs have alike; none unless there are several runs to compare."""
    settings = [run.imposed_settings for run in runs if run.imposed_settings]
    if len(settings) < 2:
        return {}
    return {name: value for name, value in settings[0].items() if all(one.get(name) == value for one in settings)}


def imposed_besides(run: RunView, on_all: Mapping[str, str]) -> dict[str, str]:
    """Return what is imposed on a run besides that."""
    return {name: value for name, value in run.imposed_settings.items() if name not in on_all}
