"""How does the guarantee table read at a glance? One line for each choice of settings, one word or two for a search."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from conformance.commands.parser import table_lines
from oracle.brokers.questions import SEARCHED, Faults, cells
from oracle.rules.release import age
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from oracle.brokers.answers import SearchAnswer
    from oracle.brokers.guarantee_table import GuaranteeRow
    from oracle.brokers.questions import GuaranteeCell

WIDTH = 120  # of a heading
NO_BREAK = "\N{NO-BREAK SPACE}"  # within the name of a release


def short_tables(rows: Iterable[GuaranteeRow], asked: Collection[str]) -> Iterator[str]:
    """Yield what releases can lose: one table for all that can lose the same, however many states were searched.

    Args:
        rows: of the table.
        asked: the releases that head it; the others that can lose the same are named behind them.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        alike.setdefault(tuple(_short_lines(row)), []).extend(row.releases)
    for lines, releases in alike.items():
        named = _listed(one for one in releases if one in asked)
        others = _listed(one for one in releases if one not in asked)
        named += f" (the same: {others})" if others else ""
        yield "\n".join((*(line.replace(NO_BREAK, " ") for line in textwrap.wrap(named, WIDTH)), *lines))


def _listed(releases: Iterable[str]) -> str:
    return ", ".join(one.replace(" ", NO_BREAK) for one in sorted(releases, key=_age))


def _age(release: str) -> tuple[bool, tuple[int, ...]]:
    version, mode = release.split()
    return age(version, MetadataMode(mode))


def _short_lines(row: GuaranteeRow) -> Iterator[str]:
    """Yield a line for each group of settings that can lose the same, whatever else they say."""
    for replicas in SEARCHED:
        yield ""
        head = (f"{replicas} replica{'s' * (replicas > 1)}", tuple(faults.value for faults in Faults))
        yield from (f"  {line}" for line in table_lines([head, *answer_rows(row, replicas)]))
    yield ""


def answer_rows(
    row: GuaranteeRow, replicas: int, is_asked: Callable[[GuaranteeCell], bool] = lambda _cell: True
) -> list[tuple[str, tuple[str, ...]]]:
    """Return a line for each group of settings that can lose the same: the settings, and a few words a kind of fault.

    Args:
        row: of the table.
        replicas: of a partition.
        is_asked: whether a choice of settings is told; all are unless it says otherwise.
    """
    answered: dict[tuple[Acks, tuple[str, ...]], list[GuaranteeCell]] = {}
    for settings in filter(lambda choice: is_asked(choice[0]), _choices(replicas)):
        found = tuple(answer_words(row.answers[cell], replicas) for cell in settings)
        answered.setdefault((settings[0].acks, found), []).append(settings[0])
    return [(_named(part), found) for (_, found), same in answered.items() for part in _parts(same)]


def _parts(same: list[GuaranteeCell]) -> list[list[GuaranteeCell]]:
    """Part cells with the same answers until each part is every choice of some minimums and some elections."""
    if len(same) == len({cell.min_isr for cell in same}) * len({cell.unclean for cell in same}):
        return [same]
    return [[cell for cell in same if cell.unclean is unclean] for unclean in (False, True)]


def _choices(replicas: int) -> Iterator[tuple[GuaranteeCell, ...]]:
    """Yield the cells of every choice of settings, one for each kind of fault."""
    found: dict[str, list[GuaranteeCell]] = {}
    for cell in cells():
        if cell.replicas == replicas:
            found.setdefault(cell.settings, []).append(cell)
    yield from map(tuple, found.values())


def _named(same: Sequence[GuaranteeCell]) -> str:
    """Return the settings of cells with the same answers: those that all have in common, and the choices left."""
    acks = same[0].acks
    words = [f"acks={'all' if acks is Acks.ALL else int(acks)}"]
    minimums = sorted({cell.min_isr for cell in same})
    unclean = sorted({cell.unclean for cell in same})
    words.append(f"min.isr={','.join(map(str, minimums))}" if len(minimums) < 3 else "any min.isr")
    words.append(f"unclean={'on' if unclean[0] else 'off'}" if len(unclean) == 1 else "unclean on or off")
    return " ".join(words)


def answer_words(found: SearchAnswer, replicas: int) -> str:
    """Return an answer in a few words: what is lost, whether that is allowed, and in how many steps."""
    if found.lost is None:
        return "nothing acknowledged"
    if found.lost.actions is None:
        return found.lost.none_found(replicas)
    if found.broken is not None and found.broken.actions is not None:
        return f"PROMISE BROKEN{_steps(found.broken.steps)}"
    return f"lost{_steps(found.lost.steps)}{', as allowed' if found.broken is not None else ''}"


def _steps(steps: int | None) -> str:
    return "" if steps is None else f" in {steps} steps"
