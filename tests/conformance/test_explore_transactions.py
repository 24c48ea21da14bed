"""Does ``explore --model Transactions`` search what it is asked to, and refuse what it cannot?"""

from __future__ import annotations

import json

import pytest

from conformance.cli import main

SMALL = ["explore", "--model", "Transactions", "--quiet"]


def told(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, object]:
    main([*SMALL, "--json", *options])
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_a_late_end_is_told_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--kafka", "3.9.2", "--late-requests", "EndTxn"]) == 1
    said = capsys.readouterr().out
    assert "NothingAbortedIsRead is VIOLATED; the shortest way there has 11 states" in said
    assert "10  late: EndTxn commit in epoch 0" in said
    assert "* partition 0: [t1/0 COMMIT/0 t2/0 COMMIT/0]" in said
    assert "transactions: 1 committed" in said


def test_the_newest_release_holds_with_what_new_clusters_have(capsys: pytest.CaptureFixture[str]) -> None:
    answer = told(capsys, "--kafka", "4.4.0")
    assert (answer["verdict"], answer["constants"]["transaction_version"]) == ("holds", 2)  # type: ignore[index]


@pytest.mark.parametrize(
    ("options", "invariant"),
    [
        (["--kafka", "4.4.0", "--transaction-version", "1", "--late-requests", "EndTxn"], "NothingAbortedIsRead"),
        (["--kafka", "4.4.0~transaction-is-verified"], "OpenIsKnown"),
        (["--kafka", "4.1.2", "--late-requests", "WriteTxnMarkers"], "NothingAbortedIsRead"),
        (["--kafka", "3.5.2", "--late-requests", "Produce", "--partitions", "1"], "OpenIsKnown"),
        (["--late", "0", "--unclean-elections", "1", "--transactions", "1"], "NothingCommittedIsMissing"),
    ],
)
def test_what_is_asked_for_is_searched(capsys: pytest.CaptureFixture[str], options: list[str], invariant: str) -> None:
    answer = told(capsys, *options)
    assert (answer["verdict"], answer["invariant"]) == ("violated", invariant)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kafka", "0.10.2.2"], "0.10.2.2 has no transactions"),
        (["--kafka", "3.9.2", "--transaction-version", "2"], "has no transaction.version 2; it has 0 alone"),
        (["--kafka", "3.9.2~no-such-rule"], "there is no rule 'no-such-rule' of transactions"),
        (["--records", "3"], "--records is a constant that Transactions has no use for"),
        (["--min-isr", "2"], "only Brokers reads --min-isr; Transactions does not"),
        (["--symmetry"], "Transactions has no symmetry to use"),
    ],
)
def test_what_cannot_be_searched_is_refused(capsys: pytest.CaptureFixture[str], options: list[str], said: str) -> None:
    assert main([*SMALL, *options]) == 2
    assert said in capsys.readouterr().err


def test_other_models_do_not_read_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--model", "Brokers", "--late", "1"]) == 2
    assert "only Transactions reads --late; Brokers does not" in capsys.readouterr().err
