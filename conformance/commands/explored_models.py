"""Which models can ``explore`` search? A family is names, options of its own, and how to build what is searched.

A new family is one more `Family` in FAMILIES.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.commands import explored_brokers
from fault_injection.releases import UsageError
from oracle.published.catalogue import NAMES, PUBLISHED, subject
from oracle.published.constants import Constants

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from oracle.explorer.subject import Subject


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are built alike.

    Attributes:
        names: what ``--model`` calls them.
        build: returns what is searched, from the parsed command line; raises UsageError if it cannot.
        add_options: adds the family's own options to the command, besides the constants that all have.
        options: those; each is None where it is not given.
    """

    names: Sequence[str]
    build: Callable[[argparse.Namespace], Subject[Any]]
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    options: Sequence[str] = ()


def _published(parsed: argparse.Namespace) -> Subject[int]:
    constants = Constants(parsed.replicas, parsed.log_size, parsed.records, parsed.epochs)
    return subject(parsed.model, constants, with_symmetry=parsed.symmetry)


FAMILIES: tuple[Family, ...] = (
    Family((*PUBLISHED, *(name for name in NAMES if name not in PUBLISHED)), _published),
    Family(explored_brokers.NAMES, explored_brokers.subject, explored_brokers.add_options, explored_brokers.OPTIONS),
)


def subject_of(parsed: argparse.Namespace) -> Subject[Any]:
    """Return what the command line asks to search.

    Raises:
        UsageError: no family has a model of that name; lists the names there are. Or an option is given that
            only another family reads.
    """
    for family in FAMILIES:
        if parsed.model in family.names:
            _refuse_options_of_others(parsed, family)
            return family.build(parsed)
    names = ", ".join(name for family in FAMILIES for name in family.names)
    raise UsageError(f"no model is called {parsed.model!r}; there are: {names}")


def _refuse_options_of_others(parsed: argparse.Namespace, family: Family) -> None:
    for other in FAMILIES:
        useless = [option for option in other.options if option not in family.options and _is_given(parsed, option)]
        if useless:
            raise UsageError(f"only {', '.join(other.names)} reads {', '.join(useless)}; {parsed.model} does not")


def _is_given(parsed: argparse.Namespace, option: str) -> bool:
    return getattr(parsed, option.removeprefix("--").replace("-", "_")) is not None
