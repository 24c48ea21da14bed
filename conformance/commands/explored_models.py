"""Which models can ``explore`` search? A family is names, options of its own, and how to build what is searched.

A new family is one more `Family` in FAMILIES.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.commands import explored_brokers, explored_transactions
from conformance.commands.exploring import ExploreOptions, explore_model
from conformance.commands.parser import add_json, check_file, refuse, whole_number
from fault_injection.releases import UsageError
from oracle.published.catalogue import NAMES, PUBLISHED, subject
from oracle.published.module import Constants

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from conformance.commands.parser import Parser
    from conformance.console import Console
    from oracle.explorer.model import SearchSubject


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
    build: Callable[[argparse.Namespace], SearchSubject[Any]]
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _parser: None
    options: Sequence[str] = ()


def _published(parsed: argparse.Namespace) -> SearchSubject[int]:
    constants = Constants(parsed.replicas, parsed.log_size, parsed.records, parsed.epochs)
    return subject(parsed.model, constants, with_symmetry=parsed.symmetry)


FAMILIES: tuple[Family, ...] = (
    Family((*PUBLISHED, *(name for name in NAMES if name not in PUBLISHED)), _published),
    Family(explored_brokers.NAMES, explored_brokers.subject, explored_brokers.add_options, explored_brokers.OPTIONS),
    Family(
        explored_transactions.NAMES,
        explored_transactions.subject,
        explored_transactions.add_options,
        explored_transactions.OPTIONS,
    ),
)


def subject_of(parsed: argparse.Namespace) -> SearchSubject[Any]:
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


# Which options does ``explore`` have? Its part of the command line.


MAX_STATES = 20_000_000
DEFAULT = 2
USELESS = {
    "AsyncIsr": ("--records",),
    "Brokers": ("--log-size",),
    "Transactions": ("--replicas", "--log-size", "--records", "--epochs"),
}
"""The constants that a model has no use for, by the model or the specification that it is a variant of."""
CONSTANTS = (
    ("--replicas", "R", 1, 9, "replicas of the partition"),
    ("--log-size", "L", 1, 99, "slots of each log"),
    ("--records", "N", 1, 99, "records ever written"),
    ("--epochs", "E", 0, 99, "highest leader epoch"),
)
DESCRIPTION = """Searches every state that a model of replication can reach, breadth first, and says whether its
invariants hold: exactly, not by sampling. A broken one comes with a shortest way to break it, step by step.
What a search must have seen to prove anything (elections, truncations, ISR changes ...) is counted with it."""
EPILOG = """models:
  KafkaTruncateToHighWatermark, Kip101, Kip279, Kip320FirstTry, Kip320, AsyncIsr
      the public TLA+ specifications, step for step: at the same constants TLC counts the same
      states. AsyncIsr is bounded by its leader's log end offset (--log-size) and the controller's
      version (--epochs); it has no use for --records.
  {variants}
      one rule of the specification left out or replaced
  Brokers
      brokers of a release (--kafka) with its own rules and settings, half step by half step; it has
      no use for --log-size. What it finds can be run on real brokers (--write-schedule).
  Transactions
      one transactional id of a release (--kafka) and its transaction.version: its producers, its
      coordinator and its partitions, request by request, in every order, with requests that are
      late; it has constants of its own, see below.

examples:
  kafka-conformance explore --model Kip101 --replicas 2 --log-size 2 --records 2 --epochs 2
      how KIP-101 still loses a committed record: 12 states
  kafka-conformance explore --model Kip320 --replicas 3 --log-size 2 --records 2 --epochs 1
      39619 distinct states, both invariants hold
  kafka-conformance explore --model Kip320/joins-at-high-watermark --replicas 3 --invariant StrongIsr
      why a replica must not join the ISR below the leader's epoch start (KAFKA-7128)
  kafka-conformance explore --model Kip320 --replicas 3 --symmetry --json
      a sixth of the states: those that differ only in brokers' names are one
  kafka-conformance explore --model Brokers --kafka 2.8.0 --invariant AcknowledgedSurvives --write-schedule found.yaml
  kafka-conformance run --schedule found.yaml --kafka 2.8.0
      how 2.8.0 loses an acknowledged record by clean elections, and that real brokers do
  kafka-conformance explore --model Transactions --kafka 3.9.2 --late-requests EndTxn
      how a late EndTxn commits half of the next transaction (KAFKA-17754)
  kafka-conformance explore --model Transactions --kafka 4.4.0 --late 2 --fail-overs 1
      the same and more with transaction.version 2: everything holds

exit codes: 0 holds, 1 violated, 2 usage, 3 unfinished (--max-states), 130 interrupted, with the figures so far
"""


def add_explore(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    variants = "\n  ".join(name for family in FAMILIES for name in family.names if "/" in name)
    parser.describe(DESCRIPTION, EPILOG.format(variants=variants))
    parser.add_argument("--model", required=True, metavar="MODULE", help="which model, see below")
    for option, letter, least, most, what in CONSTANTS:
        parser.add_argument(option, type=whole_number(least, most), metavar=letter, help=f"{what} (default: {DEFAULT})")
    parser.add_argument(
        "--invariant",
        action="append",
        default=[],
        metavar="I",
        help="check this one; repeatable (default: the model's)",
    )
    parser.add_argument("--symmetry", action="store_true", help="states that differ only in brokers' names are one")
    parser.add_argument(
        "--max-states",
        type=whole_number(1, 10**12),
        default=MAX_STATES,
        metavar="N",
        help=f"give up, unfinished, after so many distinct states; each takes some 250 bytes (default: {MAX_STATES})",
    )
    for family in FAMILIES:
        family.add_options(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)
    parser.set_defaults(command=_explore)


def _explore(console: Console, parsed: argparse.Namespace) -> int:
    useless = USELESS.get(parsed.model.partition("/")[0], ())
    refuse(parsed, useless, f"is a constant that {parsed.model} has no use for.")
    if parsed.write_schedule is not None:
        check_file(parsed.write_schedule)
    for option, *_ in CONSTANTS:
        name = option.removeprefix("--").replace("-", "_")
        setattr(parsed, name, DEFAULT if getattr(parsed, name) is None else getattr(parsed, name))
    return explore_model(console, subject_of(parsed), ExploreOptions(tuple(parsed.invariant), parsed.max_states))
