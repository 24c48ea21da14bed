"""Does a page name what each number of an answer is, and mark the one that differs?"""

from __future__ import annotations

import pytest

from conformance.puppet_scripts import (
    acts,
    client_acts,
    controller_acts,
    following_acts,
    leading_acts,
)
from reports.answer_parts import UNBRACKETED, Part, error_words, parts_of, tree_of
from reports.model import QuestionView

STAGES = (acts, client_acts, controller_acts, following_acts, leading_acts)


def rows(
    what: str, predicted: str, measured: str, *, agrees: bool | None, parts: tuple[bool, ...] = ()
) -> tuple[Part, ...]:
    return parts_of(QuestionView(what, predicted, measured, "", agrees, parts))


def said(what: str, answer: str) -> list[tuple[str, str]]:
    return [(row.what, " / ".join(row.measured)) for row in rows(what, answer, answer, agrees=True)]


@pytest.mark.parametrize(
    ("what", "answer", "shown"),
    [
        ("error code and offset", "[0, 2]", [("error code", "no error (0)"), ("offset", "2")]),
        (
            "error code, first and last offset, high watermark",
            "[74, none, none, none]",
            [
                ("error code", "FENCED_LEADER_EPOCH (74)"),
                ("first offset", "none"),
                ("last offset", "none"),
                ("high watermark", "none"),
            ],
        ),
        (
            "log end offset, high watermark, in-sync replicas",
            "[3, 0, [1, 2]]",
            [("log end offset", "3"), ("high watermark", "0"), ("in-sync replicas", "1, 2")],
        ),
        (
            "leader epochs on disk and where they start",
            "[[5, 0], [7, 2]]",
            [("leader epochs on disk and where they start", "epoch 5 from offset 0 / epoch 7 from offset 2")],
        ),
        ("leader epochs on disk and where they start", "[]", [("leader epochs on disk and where they start", "none")]),
        (
            "pairs (leader epoch, first offset) that broker 1 has",
            "[[0, 0]]",
            [("leader epoch, first offset that broker 1 has", "leader epoch 0, first offset 0")],
        ),
        (
            "the next fetch: [offset, on the same connection]",
            "[2, yes]",
            [("the next fetch: offset", "2"), ("the next fetch: on the same connection", "yes")],
        ),
        (
            "files: [segment, offsets in .log, in .index]",
            "[[0, [0, 1], []]]",
            [("files", "segment 0: offsets in .log 0, 1; in .index none")],
        ),
        ("error codes in answers", "[0, 6]", [("error codes in answers", "no error (0), NOT_LEADER_OR_FOLLOWER (6)")]),
        ("records, once it is there", "[0, 1]", [("records, once it is there", "0, 1")]),
        ("order, request by request", "[[0, 1], [1, 0]]", [("order, request by request", "0 1; 1 0")]),
        ("offset of the first fetch", "3", [("offset of the first fetch", "3")]),
    ],
)
def test_every_part_of_an_answer_has_a_name(what: str, answer: str, shown: list[tuple[str, str]]) -> None:
    assert said(what, answer) == shown


def test_the_part_that_differs_is_marked_alone() -> None:
    code, offset = rows("error code and offset", "[0, 2]", "[0, 3]", agrees=False, parts=(True, False))

    assert (code.differs, offset.differs) == (False, True)
    assert (offset.predicted, offset.measured) == (("2",), ("3",))


def test_an_answer_that_was_never_given_has_parts_without_measure() -> None:
    never = rows("error code and offset", "[0, 2]", "", agrees=None)
    missing = rows("error code and offset", "[0, 2]", "", agrees=False)

    assert [(row.measured, row.agrees) for row in never] == [((), None), ((), None)]
    assert all(row.differs for row in missing)


@pytest.mark.parametrize("parts", [(), (True, True)])
def test_a_difference_that_no_part_shows_is_the_whole_answer_s(parts: tuple[bool, ...]) -> None:
    (row,) = rows("error code and offset", "[0, 2]", "[0, 3]", agrees=False, parts=parts)

    assert row.differs


def test_which_part_differs_is_the_judges_word_alone() -> None:
    code, offset = rows("error code and offset", "[0, 2]", "[0, 3]", agrees=False, parts=(False, True))

    assert (code.differs, offset.differs) == (True, False)


@pytest.mark.parametrize("answer", ["[0, 1", "[0]]", "[]", "[0, 1], [2]"])
def test_words_in_brackets_that_are_no_list_stay_as_they_are(answer: str) -> None:
    is_list = answer == "[]"
    assert tree_of(answer) == ([] if is_list else answer)


def test_what_a_stage_asks_for_in_one_list_is_known_by_its_parts() -> None:
    asked = {text for stage in STAGES for text in vars(stage).values() if isinstance(text, str)}
    several = {text for text in asked if text.startswith(("error code", "log end", "diverging", "leader epochs"))}

    assert {text for text in several if ", " in text or " and " in text} == UNBRACKETED


def test_a_code_has_kafkas_name_and_other_words_stay() -> None:
    assert error_words("74") == "FENCED_LEADER_EPOCH (74)"
    assert error_words("none") == "none"
    assert error_words("9999") == "9999"
