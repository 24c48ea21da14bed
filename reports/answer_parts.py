"""What is each number of an answer? A list gets one row a part, named by its question, and error codes their names.

Questions name the parts of a list where they ask for one: ``error code and offset``, ``[fetch offset, records] of …``,
``…: [segment, offsets]``, ``pairs (leader epoch, first offset) that …``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from conformance.record.answers import error_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.model import QuestionView

Tree: TypeAlias = "str | list[Tree]"
"""An answer: one word, or a list of them."""

_TOKEN = re.compile(r"\[|\]|, |[^\[\],]+(?:,(?! )[^\[\],]*)*")
_NAMED = re.compile(r"^(?P<before>.*?)(?:pairs )?[\[(](?P<names>[^\])]+)[\])](?P<after>.*)$")


UNBRACKETED = frozenset(
    {
        "error code and offset",
        "error code, epoch, end offset",
        "error code, first and last offset, high watermark",
        "error code, first and last offset, last stable offset",
        "error code, records, high watermark",
        "log end offset, high watermark",
        "log end offset, high watermark, in-sync replicas",
        "diverging epoch and where it ends",
        "leader epochs on disk and where they start",
    }
)
"""What one broker among puppets is asked for after each step: names of parts, and nothing else."""
_IN_A_GROUP = {"leader epochs on disk": "epoch", "where they start": "from offset"}


@dataclass(frozen=True, slots=True)
class Part:
    """One row of a comparison.

    Attributes:
        what: what the number or word is.
        predicted: in words; one line each, several for a list of groups; empty if nothing was predicted.
        measured: in words, as ``predicted``.
        agrees: whether both are the same; None if the run never came that far.
    """

    what: str
    predicted: tuple[str, ...]
    measured: tuple[str, ...]
    agrees: bool | None

    @property
    def differs(self) -> bool:
        """Return whether the part speaks against the brokers."""
        return self.agrees is False


def parts_of(asked: QuestionView) -> tuple[Part, ...]:
    """Return the rows of one question: one for each named part, or one for the whole answer."""
    predicted, measured = tree_of(asked.predicted), tree_of(asked.measured)
    what, names = named_parts(asked.what)
    given = [tree for tree in (predicted, measured) if tree is not None]
    if names and given and all(_fits(tree, names) for tree in given):
        is_known = asked.agrees is not False or len(given) == 1 or not all(asked.parts or (True,))
        if is_known:
            return tuple(_named(asked, what, names, (predicted, measured)))
    groups = names if all(_is_of_groups(tree, names) for tree in given) else ()
    label = _label(asked.what, what, names) if groups else asked.what
    return (Part(label, _lines(predicted, label, groups), _lines(measured, label, groups), asked.agrees),)


def tree_of(text: str) -> Tree | None:
    """Return an answer in words as a tree; None if there is none, and the words themselves if they are no list."""
    if not text.startswith("[") or not text.endswith("]"):
        return text or None
    stack: list[list[Tree]] = [[]]
    for sign in _TOKEN.findall(text):
        if sign == "[":
            stack.append([])
        elif sign == "]" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        elif sign != ", ":
            stack[-1].append(sign)
    return stack[0][0] if len(stack) == 1 and len(stack[0]) == 1 else text


def named_parts(what: str) -> tuple[str, tuple[str, ...]]:
    """Return a question with ``{}`` where the name of a part belongs, and the names; none if it has one answer."""
    bracketed = _NAMED.match(what)
    if bracketed is not None and "," in bracketed["names"]:
        before, after = bracketed["before"].rstrip(" "), bracketed["after"]
        return f"{before} {{}}{after}".strip(), tuple(_split(bracketed["names"]))
    return ("{}", tuple(_split(what))) if what in UNBRACKETED else (what, ())


def _label(asked: str, what: str, names: Sequence[str]) -> str:
    if what == "{}":
        return asked
    return what.removesuffix(": {}").replace("{}", ", ".join(names))


def _split(names: str) -> Iterator[str]:
    expanded = names.replace("first and last offset", "first offset, last offset")
    yield from (name.strip() for name in re.split(r", | and ", expanded))


def _fits(tree: Tree, names: Sequence[str]) -> bool:
    is_row = isinstance(tree, list) and len(tree) == len(names)
    return is_row and not _is_of_groups(tree, names)


def _is_of_groups(tree: Tree, names: Sequence[str]) -> bool:
    """Return whether an answer is a list of groups, each of which has every name."""
    if len(names) < 2 or not isinstance(tree, list) or not tree:
        return len(names) > 1 and tree in ([], "none")
    return all(isinstance(one, list) and len(one) == len(names) for one in tree)


def _named(
    asked: QuestionView, what: str, names: Sequence[str], trees: tuple[Tree | None, Tree | None]
) -> Iterator[Part]:
    for number, name in enumerate(names):
        label = what.replace("{}", name)
        predicted, measured = ((tree[number] if isinstance(tree, list) else None) for tree in trees)
        agrees = asked.parts[number] if asked.agrees is not None and asked.parts else asked.agrees
        yield Part(label, _lines(predicted, name, ()), _lines(measured, name, ()), agrees)


def _lines(tree: Tree | None, what: str, names: Sequence[str]) -> tuple[str, ...]:
    if tree is None:
        return ()
    if names and isinstance(tree, list) and tree:
        return tuple(_group(one, names) for one in tree)
    return (_words(tree, is_code="error code" in what),)


def _group(one: Tree, names: Sequence[str]) -> str:
    said = [
        f"{_IN_A_GROUP.get(name, name)} {_words(part, is_code=False)}" for name, part in zip(names, one, strict=False)
    ]
    if names[0] in _IN_A_GROUP:
        return " ".join(said)
    return ", ".join(said) if len(said) == 2 else f"{said[0]}: {'; '.join(said[1:])}"


def _words(tree: Tree, *, is_code: bool) -> str:
    if isinstance(tree, str):
        return error_words(tree) if is_code else tree
    said = [_words(one, is_code=is_code) if isinstance(one, str) else " ".join(_flat(one)) or "none" for one in tree]
    return ("; " if any(isinstance(one, list) for one in tree) else ", ").join(said) or "none"


def _flat(tree: Tree) -> Iterator[str]:
    for one in tree:
        yield from _flat(one) if isinstance(one, list) else (one,)


# Which step is a question about? Its text begins with the number and the prose of the step.


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Questions about one step, or about none.

    Attributes:
        step: number and prose of the step; empty if the questions name none.
        asked: the questions, without the step.
    """

    step: str
    asked: tuple[QuestionView, ...]


def by_step(asked: Sequence[QuestionView], steps: Sequence[str]) -> tuple[AnswerGroup, ...]:
    """Group questions that begin with the number and prose of a step; their order stays."""
    parted = [_parted(one, steps) for one in asked]
    groups = groupby(parted, key=lambda pair: pair[0])
    return tuple(AnswerGroup(step, tuple(one for _, one in members)) for step, members in groups)


def _parted(asked: QuestionView, steps: Sequence[str]) -> tuple[str, QuestionView]:
    number = asked.what.partition(". ")[0]
    if number.isdecimal() and 0 < int(number) <= len(steps):
        step = f"{number}. {steps[int(number) - 1]}"
        if asked.what.startswith(f"{step}: "):
            return step, replace(asked, what=asked.what.removeprefix(f"{step}: "))
    return "", asked
