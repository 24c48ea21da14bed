"""Is a script of transactions the same once it was written and read again, and is a mistake named with its line?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.examining import transaction_scripts
from conformance.examining.transaction_scripts import TransactionScript
from conformance.schedules.own_scenarios import read_scenarios
from conformance.schedules.schedule_file import ScheduleFileError
from conformance.schedules.transaction_file import WORDS, script_text, word_of
from oracle.rules.transactions import transaction_rules
from oracle.transactions.drawing import draw

if TYPE_CHECKING:
    from pathlib import Path

    from oracle.transactions.script import TransactionAct

FILE = """\
id: my/late-abort
requirement: An abort that arrives late aborts nothing but its own transaction.
transactions:
  - initialise: {}
  - send: m1
  - abort: {late: first}
  - abort: {}
  - send: {label: m2, partition: 1}
  - deliver: first
  - commit: {}
  - read: at the end
"""
CATALOGUE = [one.acts for one in vars(transaction_scripts).values() if isinstance(one, TransactionScript)]
DRAWN = [draw(random.Random(seed), [transaction_rules("3.9.2")]).acts for seed in range(40)]


def written(directory: Path, text: str) -> Path:
    path = directory / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("acts", CATALOGUE + DRAWN)
def test_what_is_written_is_read_again(acts: tuple[TransactionAct, ...], tmp_path: Path) -> None:
    text = script_text("my/script", "It is: so.", acts, comment="told\n\nabove")
    (entry,) = read_scenarios(written(tmp_path, text))
    assert (entry.name, entry.requirement) == ("my/script", "It is: so.")
    assert entry.subject == TransactionScript(acts)  # type: ignore[union-attr]
    assert text.startswith("# told\n#\n# above\nid: my/script\n")


def test_every_word_is_in_some_script() -> None:
    assert {word_of(act) for acts in CATALOGUE + DRAWN for act in acts} == set(WORDS)


def test_one_act_is_one_line(tmp_path: Path) -> None:
    (entry,) = read_scenarios(written(tmp_path, FILE))
    acts = entry.subject.acts  # type: ignore[union-attr]
    assert script_text(entry.name, entry.requirement, acts) == FILE


def test_it_says_which_transaction_version_its_cluster_has(tmp_path: Path) -> None:
    (entry,) = read_scenarios(written(tmp_path, f"transaction.version: 1\n{FILE}"))
    assert entry.subject.level == 1  # type: ignore[union-attr]
    assert entry.where.since == "4.0.0"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("send: m1", "sent: m1", r":5: act 2: no act is called 'sent'; there are initialise, add, send"),
        ("label: m2", "labl: m2", r":8: act 5: send has no field 'labl'; it has label, partition"),
        ("partition: 1", "partition: 2", r":8: act 5: partition is 0 to 1"),
        ("partition: 1", "partition: one", r":8: act 5: partition of send is a whole number, not 'one'"),
        ("partition: 1", "again: 1", r":8: act 5: again of send is true or false, not 1"),
        ("{label: m2, partition: 1}", "{partition: 1}", r":8: act 5: send needs label"),
        ("- send: m1", "- m1", r":5: act 2: an act is one word with its fields"),
        ("initialise: {}", "initialise: 9", r":4: act 1: producer is 0 to 8"),
        ("requirement", "requires", r":2: 'requires' is no key"),
        ("id: my/late-abort\n", "", r":1: 'id' is missing"),
        ("id: my", "sources: TX-05\nid: my", r":1: 'sources' is no list"),
        ("id: my", "transaction.version: 3\nid: my", r":1: 'transaction.version' is one of 0, 1, 2"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(old: str, new: str, told: str, tmp_path: Path) -> None:
    path = written(tmp_path, FILE.replace(old, new, 1))
    with pytest.raises(ScheduleFileError, match=told) as refused:
        read_scenarios(path)
    assert str(refused.value).startswith(str(path))


def test_acts_that_are_no_list_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ScheduleFileError, match=":3: 'transactions' has no list of acts"):
        read_scenarios(written(tmp_path, f"{FILE.partition('transactions')[0]}transactions: none\n"))


def test_predict_takes_it_and_says_where_it_is_impossible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, FILE)
    assert main(["predict", "--schedule", str(path), "--kafka", "3.9.2"]) == 0
    assert "7. the producer commits: answer" in capsys.readouterr().out
    written(tmp_path, FILE.replace("deliver: first", "deliver: last"))
    assert main(["predict", "--schedule", str(path), "--kafka", "3.9.2"]) == 2
    assert f"{path}:9: step 6: nothing is kept back as 'last'" in capsys.readouterr().err
    written(tmp_path, FILE)
    assert main(["predict", "--schedule", str(path), "--kafka", "0.10.2.2"]) == 0
    assert "before there were no transactions (KIP-98)" in capsys.readouterr().out
