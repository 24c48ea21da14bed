"""Which entries are there? The catalogue of scenarios and examinations, and selection from it by glob and profile.

Every module below ``conformance.scenarios`` is imported; what its tuple ``SCENARIOS`` holds is in the catalogue.
"""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from conformance import scenarios
from conformance.catalogue.examination import Examination
from conformance.catalogue.requirements import CHECKED_IN_EVERY_RUN
from conformance.catalogue.scenario import Scenario
from conformance.schedules import PYTHON, SUFFIXES
from oracle.vocabulary import AREAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.catalogue.examination import Entry


ORDER = tuple(AREAS)
"""The catalogue's order: by the area of the name; what names no area, as regressions do, comes last."""
LISTING = "kafka-conformance list names them all"
CLOSE = 0.5
"""From which ratio of equal letters on a name comes close."""


class UnknownEntryError(ValueError):
    """A glob that matches no entry."""


def _found() -> Iterator[tuple[Entry, str]]:
    """Yield what every module offers, and the module; what a package offers again from its modules comes again."""
    for module in walk_packages(scenarios.__path__, f"{scenarios.__name__}."):
        for entry in getattr(import_module(module.name), "SCENARIOS", ()):
            yield entry, module.name


def family_of(entry: Entry) -> str:
    """Return the requirement that an entry is a variant of, such as HW-14; known defects are one family."""
    return entry.name.split("/", maxsplit=1)[0]


def area_of(entry: Entry) -> str:
    """Return the area of an entry: the letters of its requirement, or ``regressions``."""
    return family_of(entry).split("-", maxsplit=1)[0]


def _place(entry: Entry) -> tuple[int, str]:
    area = area_of(entry)
    return (ORDER.index(area) if area in ORDER else len(ORDER), entry.name)


_FOUND = tuple(_found())
CATALOGUE: tuple[Entry, ...] = tuple(sorted({id(entry): entry for entry, _ in _FOUND}.values(), key=_place))
"""Every entry, by area and name."""
SCENARIOS: tuple[Scenario, ...] = tuple(entry for entry in CATALOGUE if isinstance(entry, Scenario))
"""The entries with a schedule."""
EXAMINATIONS: tuple[Examination, ...] = tuple(entry for entry in CATALOGUE if isinstance(entry, Examination))
"""The entries without one."""


_MODULES = {entry.name: module for entry, module in _FOUND}


def file_of(entry: Entry) -> str:
    """Return the file that declares an entry of the catalogue, from the folder of the package on."""
    return f"{_MODULES[entry.name].replace('.', '/')}.py"


def select(globs: Sequence[str] = (), profile: str = "quick") -> tuple[Entry, ...]:
    """Return the entries whose name, family, area or id matches a glob, in catalogue order; without any, the profile's.

    Case does not matter: ``tr-*`` and ``tr`` are both the area TR. ``HW-14`` is a family, one of which has its name:
    ``HW-14/`` is that one alone.

    Raises:
        UnknownEntryError: if a glob matches nothing; names what comes close.
    """
    if not globs:
        return tuple(entry for entry in CATALOGUE if profile in entry.profiles)
    for glob in globs:
        if not any(_matches(entry, glob) for entry in CATALOGUE):
            raise UnknownEntryError(f"no entry matches {glob!r}; {_instead(glob)}")
    return tuple(entry for entry in CATALOGUE if any(_matches(entry, glob) for glob in globs))


def entries_named(names: Sequence[str]) -> list[Entry]:
    """Return the entries of the catalogue that have these names, in this order: what a lane is told of them."""
    known = {entry.name: entry for entry in CATALOGUE}
    return [known[name] for name in names]


def _instead(glob: str) -> str:
    """Return which names come close, and where all of them are; a number may lack its zero, as in EL-3.

    A file is no name: there it says which option takes one.
    """
    if _is_file(glob):
        return f"`predict` and `run` take a file with a schedule as --schedule {shlex.quote(glob)}"
    padded = re.sub(r"^([a-z]+-)(\d)(?!\d)", r"\g<1>0\2", glob.casefold())
    if padded.upper() in CHECKED_IN_EVERY_RUN:
        return f"{padded.upper()} is checked in every run: every_run in verdict.json counts it; {LISTING}"
    close = _close_to(padded)
    return f"did you mean {', '.join(close)}? {LISTING}" if close else LISTING


def _is_file(text: str) -> bool:
    with suppress(OSError):  # as of a text too long to name any
        return text.casefold().endswith((*SUFFIXES, PYTHON)) or Path(text).is_file()
    return False


def _close_to(word: str) -> list[str]:
    """Return the name that a word is, else up to three that are like it, in catalogue order."""
    names = list(dict.fromkeys(name for entry in CATALOGUE for name in (family_of(entry), entry.name)))
    likeness = {name: SequenceMatcher(None, name.casefold(), word).ratio() for name in names}
    close = sorted((name for name in names if likeness[name] >= CLOSE), key=lambda name: -likeness[name])[:3]
    return [name for name in close if likeness[name] == 1] or sorted(close, key=names.index)


def name_alone(entry: Entry) -> str:
    """Return what selects this entry and no other: its name, with a slash if a family has the same name."""
    is_shared = any(family_of(one) == entry.name for one in CATALOGUE if one is not entry)
    return f"{entry.name}/" if is_shared else entry.name


def _matches(entry: Entry, glob: str) -> bool:
    if glob.endswith("/"):
        return fnmatchcase(entry.name.casefold(), glob.removesuffix("/").casefold())
    known = (entry.name, family_of(entry), area_of(entry), entry.id, entry.name.removeprefix("regressions/"))
    return any(fnmatchcase(text.casefold(), glob.casefold()) for text in known)
