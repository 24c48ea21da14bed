"""How are many releases named shortly? Those of a metadata mode that follow one another, as a range."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

MODES = {"zookeeper": "ZooKeeper", "kraft": "KRaft"}


def in_ranges(some: Collection[str], every: Sequence[str], all_of_them: str) -> str:
    """Return releases in words, such as ``2.8.2 to 3.9.2 (ZooKeeper); 3.9.2 (KRaft)``.

    Args:
        some: the releases, such as ``3.9.2/kraft``.
        every: all that there are, in each mode the older first; a range leaves none of these out.
        all_of_them: what is said if it is every one of several.
    """
    if len(some) == len(every) > 1:
        return all_of_them
    return "; ".join(
        f"{', '.join(ranges)} ({name})"
        for mode, name in MODES.items()
        if (ranges := list(_ranges(some, [one for one in every if one.endswith(mode)])))
    )


def _ranges(some: Collection[str], ordered: Sequence[str]) -> Iterator[str]:
    begun: list[str] = []
    for release in (*ordered, ""):
        if release and release in some:
            begun.append(release.partition("/")[0])
        elif begun:
            yield begun[0] if len(begun) == 1 else f"{begun[0]} to {begun[-1]}"
            begun = []
