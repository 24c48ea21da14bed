"""``list`` and ``explain`` of many: areas with counts, what a release does not run and why, families in a table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from conformance.catalogue.examination import Basis, basis_of
from conformance.cli import main
from conformance.registry import CATALOGUE, file_of, name_alone, select
from conformance.stages.predicting import predict_entry
from oracle.rules.by_version import rules_for
from oracle.vocabulary import AREAS, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = re.compile(r"^(\w+)  (.*): (\d+) (?:entry|entries)$")


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(arguments) == 0
    return capsys.readouterr().out.splitlines()


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:  # noqa: ANN401
    assert main((*arguments, "--json")) == 0
    return json.loads(capsys.readouterr().out)


def not_run(names: Sequence[str], version: str, mode: MetadataMode) -> dict[str, str]:
    entries = select(names) if names else CATALOGUE
    reasons = {entry.name: predict_entry(entry, rules_for(version, mode)).not_run for entry in entries}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def test_the_list_has_every_area_with_its_count(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "list")
    heads = [match.groups() for line in lines if (match := HEAD.match(line))]

    assert [(area, title) for area, title, _ in heads][:-1] == list(AREAS.items())
    assert heads[-1][0] == "regressions"
    assert sum(int(count) for _, _, count in heads) == len(CATALOGUE)
    assert [line.split()[0] for line in lines if re.match(r"  \S", line)] == [entry.name for entry in CATALOGUE]
    assert lines[-1].startswith(f"{len(CATALOGUE)} entries: ")


def test_a_filtered_list_counts_what_it_lists(capsys: pytest.CaptureFixture[str]) -> None:
    first, *lines, last = said(capsys, "list", "TR-0*")
    entries = select(["TR-0*"])

    assert first == f"TR  Truncation, loss and divergence: {len(entries)} entries"
    assert last.startswith(f"{len(entries)} entries: {len(entries) - 1} predicted by the model, 1 documented")
    assert [line.split()[0] for line in lines if re.match(r"  \S", line)] == [entry.name for entry in entries]


def test_what_is_not_the_models_prediction_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    words = {Basis.COMPUTED: "computed by a rule outside the model", Basis.DOCUMENTED: "documented, not modelled"}
    lines = said(capsys, "list")
    marked = {lines[n - 1].split()[0]: line.strip() for n, line in enumerate(lines) if line.strip() in words.values()}
    assert marked == {one.name: words[basis_of(one)] for one in CATALOGUE if basis_of(one) is not Basis.PREDICTED}
    assert {one["name"]: one["basis"] for one in told(capsys, "list")} == {one.name: basis_of(one) for one in CATALOGUE}


@pytest.mark.parametrize(
    ("name", "words"),
    [("TR-01", "predicted by the model"), ("FE-01", "computed by a rule outside"), ("TR-09", "documented, not")],
)
def test_one_is_explained_with_where_its_answers_come_from(
    capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    assert any(line.startswith(f"Answers:     {words}") for line in said(capsys, "explain", name))


def test_a_release_marks_what_it_does_not_run_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = not_run(["RM-0*"], "3.9.2", MetadataMode.KRAFT)
    lines = said(capsys, "list", "RM-0*", "--kafka", "3.9.2/kraft")

    marked = {lines[n - 1].split()[0]: line.strip() for n, line in enumerate(lines) if " not run: exists" in line}
    assert marked == {name: f"not run: {reason}" for name, reason in reasons.items()}
    assert lines[-1].endswith(f"run on Kafka 3.9.2 (kraft); not run: {len(reasons)}")
    assert reasons


@pytest.mark.parametrize(
    ("kafka", "options", "last"),
    [
        ("2.8.2", (), "run on Kafka 2.8.2 (zookeeper)"),
        ("4.3.1", (), "not run on Kafka 4.3.1 (kraft)"),
        ("4.3.1", ("--not-run",), "not run on Kafka 4.3.1 (kraft)"),
    ],
)
def test_one_that_was_named_is_not_counted(
    capsys: pytest.CaptureFixture[str], kafka: str, options: tuple[str, ...], last: str
) -> None:
    assert said(capsys, "list", "TR-07", "--kafka", kafka, *options)[-1] == last


def test_what_is_not_run_can_be_listed_alone_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = not_run(["RM-0*", "EL-06*"], "4.3.1", MetadataMode.KRAFT)
    *lines, last = said(capsys, "list", "RM-0*", "EL-06*", "--kafka", "4.3.1", "--not-run")

    assert [line.removesuffix(":") for line in lines if not line.startswith(" ")] == list(
        dict.fromkeys(reasons.values())
    )
    assert {line.strip() for line in lines if line.startswith(" ")} == set(reasons)
    assert last.endswith(f"not run: {len(reasons)}")


def test_the_machine_format_says_what_a_release_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    reasons = not_run(["RM-0*"], "4.3.1", MetadataMode.KRAFT)
    values = told(capsys, "list", "RM-0*", "--kafka", "4.3.1")

    assert {one["name"]: one["not_run"] for one in values if one["not_run"] is not None} == reasons
    assert len(values) > len(reasons) > 0
    assert "not_run" not in told(capsys, "list", "RM-02")[0]


@pytest.mark.parametrize("option", [("--metadata", "kraft"), ("--not-run",)])
def test_what_is_about_a_release_needs_one(capsys: pytest.CaptureFixture[str], option: tuple[str, ...]) -> None:
    assert main(("list", *option)) == 2
    assert capsys.readouterr().err == f"kafka-conformance: {option[0]} is about one release: give --kafka too.\n"


def test_many_of_one_family_are_explained_once_and_by_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "explain", "EL-03", "--kafka", "2.0.0")
    cells = {line.split()[0]: line.split(maxsplit=2)[2] for line in lines if line.startswith("  acks=")}

    assert lines[0].startswith("EL-03, 48 entries: acks, min.insync.replicas, unclean elections and the number")
    assert len(lines) < 60
    assert len(cells) == 36
    assert sum(line.startswith("  power-failure,acks=all,") for line in lines) == 12
    assert cells["acks=0,min=1,unclean=off,replicas=2"] == "NO_PROMISE; m4 refused"
    assert cells["acks=1,min=1,unclean=off,replicas=2"] == "ALLOWED_BY_SETTINGS; m1 lost; m4 refused"
    assert cells["acks=all,min=2,unclean=off,replicas=2"] == "KEPT; m1 refused"
    assert sum(line.startswith("One cell of the settings matrix: ") for line in lines) == 1


def test_a_broken_promise_stands_in_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "explain", "EL-03", "--kafka", "0.10.2.2")

    (row,) = (line for line in lines if line.startswith("  acks=all,min=2,unclean=on,replicas=2 "))
    assert row.endswith("BROKEN_AS_PREDICTED; m0 lost; m1 refused")


def test_scenarios_with_sentences_of_their_own_are_told_with_them(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, "explain", "RM-01*", "--kafka", "4.3.1")

    for entry in select(["RM-01*"]):
        assert any(entry.requirement in line for line in lines)
    reasons = not_run(["RM-01*"], "4.3.1", MetadataMode.KRAFT)
    assert [line for line in lines if line.startswith("  Not run: ")] == [
        f"  Not run: {', '.join(name.split('/')[1] for name, why in reasons.items() if why == reason)}: {reason}"
        for reason in dict.fromkeys(reasons.values())
    ]


def test_the_whole_texts_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    names = [entry.name for entry in select(["EL-01*"])]
    whole = said(capsys, "explain", "EL-01*", "--full")

    assert len(names) > 1
    assert whole == [line for name in names for line in said(capsys, "explain", name)]
    last = said(capsys, "explain", "EL-01*")[-1]
    first = next(name for name in names if name not in not_run(["EL-01*"], "4.4.0", MetadataMode.KRAFT))
    assert last.startswith(f"One of them, step by step: kafka-conformance explain {first} --kafka ")


@pytest.mark.parametrize("row", ["HW-14", "TR-05"])
def test_a_table_names_the_file_of_its_row_and_one_entry_that_selects_itself(
    row: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(capsys, "explain", row)
    (example,) = re.findall(r"kafka-conformance explain (\S+) --kafka", lines[-1])
    (declared,) = [line for line in lines if line.startswith("Declared in: ")]

    assert declared == f"Declared in: {file_of(select([row])[0])}"
    assert [name_alone(entry) for entry in select([example])] == [example]
    assert select([example])[0].name not in not_run([row], "4.4.0", MetadataMode.KRAFT)


def test_a_profile_is_listed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["name"] for one in told(capsys, "list", "--profile", "quick")] == [one.name for one in select()]
    assert main(("list", "TR", "--profile", "quick")) == 2
    assert "chooses entries where none is named" in capsys.readouterr().err
