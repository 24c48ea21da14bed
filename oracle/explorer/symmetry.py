"""Which states differ only in the names of replicas? One of each such set stands for all.

Sound where a model treats replicas alike: then states that are renamings of each other have successors that are, and
so do their shortest paths. A renaming moves replicas between fields and renames brokers within every part. The
representative has the least int, compared by its head first: fields that stay where they are and tell most brokers
apart, such as who leads and who is in sync. The renamings that make a head least are few and remembered, so that
only these are tried on the rest of a state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from oracle.explorer.factored import Numbering


@dataclass(frozen=True, slots=True)
class Renaming:
    """A permutation of brokers, applied to a state.

    Attributes:
        moves: fields whose part goes to another field.
        renames: by field, how its part looks with the brokers' other names; fields that name none are left out.
    """

    moves: Mapping[int, int]
    renames: Mapping[int, Callable[[Any], Hashable]]


class Images(dict[int, int]):
    """Where a renaming puts a field's contents, and what they become."""

    def __init__(self, source: Numbering, target: Numbering, rename: Callable[[Any], Hashable]) -> None:
        super().__init__()
        self.source = source
        self.target = target
        self.rename = rename

    def __missing__(self, fields: int) -> int:
        image = self[fields] = self.target.place(self.rename(self.source.part(fields)))
        return image


class Heads(dict[int, tuple[int, tuple[int, ...]]]):
    """Each head's least image, and the numbers of the renamings that make it."""

    def __init__(self, images: Sequence[Sequence[tuple[int, Images]]]) -> None:
        super().__init__()
        self.images = images

    def __missing__(self, head: int) -> tuple[int, tuple[int, ...]]:
        reached = [sum(images[head & mask] for mask, images in renaming) for renaming in self.images]
        least = min(reached)
        found = self[head] = least, tuple(number for number, image in enumerate(reached) if image == least)
        return found


class Symmetry:
    """The key of a state under which all its renamings are one.

    Args:
        numberings: the model's fields.
        renamings: every one there is, the identity included.
        head: fields that no renaming moves.
    """

    def __init__(self, numberings: Sequence[Numbering], renamings: Sequence[Renaming], head: frozenset[int]) -> None:
        rest = [number for number in range(len(numberings)) if number not in head]
        self.head_mask = sum(numberings[number].mask for number in head)
        self._heads = Heads([_images(numberings, one, sorted(head)) for one in renamings])
        self._rests = [_images(numberings, one, rest) for one in renamings]

    def key(self, state: int) -> int:
        """Return the least renaming of a state."""
        head, numbers = self._heads[state & self.head_mask]
        least = -1
        for number in numbers:
            image = 0
            for mask, images in self._rests[number]:
                image += images[state & mask]
            if image < least or least < 0:
                least = image
        return head + least


def _images(numberings: Sequence[Numbering], renaming: Renaming, fields: Sequence[int]) -> list[tuple[int, Images]]:
    sources = [numberings[number] for number in fields]
    targets = [numberings[renaming.moves.get(number, number)] for number in fields]
    renames = [renaming.renames.get(number, _unchanged) for number in fields]
    return [(one[0].mask, Images(*one)) for one in zip(sources, targets, renames, strict=True)]


def _unchanged(part: Hashable) -> Hashable:
    return part
