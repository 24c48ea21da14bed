"""Every command takes a release as ``3.9.2/zookeeper`` or with ``--metadata``, and says it when the two contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.choosing import release_options
from conformance.line import Named, release_named
from fault_injection.releases import UsageError
from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "metadata", "expected"),
    [
        ("3.9.2", None, Named("3.9.2", None)),
        ("3.9.2", "kraft", Named("3.9.2", "kraft")),
        ("3.9.2/zookeeper", None, Named("3.9.2", "zookeeper")),
        (" 3.9/kraft ", "kraft", Named("3.9", "kraft")),
        ("newest/kraft", None, Named("newest", "kraft")),
    ],
)
def test_a_release_is_named_with_or_without_its_mode(text: str, metadata: str | None, expected: Named) -> None:
    assert release_named(text, metadata) == expected


@pytest.mark.parametrize(
    ("text", "metadata", "why"),
    [
        ("3.9.2/zookeeper", "kraft", "'3.9.2/zookeeper' and --metadata kraft contradict each other"),
        ("3.9.2/zk", None, "'3.9.2/zk': 'zk' is no metadata mode; say zookeeper or kraft."),
        ("3.9.2/", None, "'3.9.2/': '' is no metadata mode"),
        ("3.9.2,4.3.1", None, "'3.9.2,4.3.1' names several releases"),
    ],
)
def test_what_names_no_single_release_is_refused(text: str, metadata: str | None, why: str) -> None:
    with pytest.raises(UsageError, match=r".") as refused:
        release_named(text, metadata)

    assert str(refused.value).startswith(why)


@pytest.mark.parametrize("command", [["predict", "TR-01"], ["explain", "TR-01"], ["list", "EL-0*"], ["faults"]])
def test_the_two_forms_are_answered_alike(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    answers = []
    for form in (["3.9.2/zookeeper"], ["3.9.2", "--metadata", "zookeeper"], ["3.9.2"]):
        assert main([*command, "--kafka", *form]) == 0
        answers.append(capsys.readouterr().out)

    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize(
    "command", [["predict", "TR-01"], ["explain", "TR-01"], ["run", "TR-01"], ["faults"], ["list"]]
)
def test_contradicting_modes_are_refused(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main([*command, "--kafka", "3.9.2/zookeeper", "--metadata", "kraft"]) == 2
    assert "'3.9.2/zookeeper' and --metadata kraft contradict each other" in capsys.readouterr().err


def test_a_run_is_judged_by_the_rules_of_a_release_in_a_mode(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = str(write_ideal_run(tmp_path).path)

    assert main(["trace", run, "--rules-of", "4.3.1/zookeeper"]) == 2
    assert "Kafka 4.3.1 does not run in zookeeper mode" in capsys.readouterr().err
    assert main(["trace", run, "--rules-of", "3.9.2/zookeeper", "--metadata", "kraft"]) == 2
    assert "contradict" in capsys.readouterr().err


def test_explored_brokers_are_of_the_mode_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--records", "1", "--epochs", "1", "--quiet"]

    assert main(["explore", "--model", "Brokers", "--kafka", "3.9.2/zookeeper", *small]) == 0
    assert "kafka 3.9.2, metadata zookeeper" in capsys.readouterr().out


def test_the_options_of_a_release_name_its_mode_where_it_is_not_the_default() -> None:
    assert release_options(rules_for("3.9.2", MetadataMode.KRAFT)) == "--kafka 3.9.2"
    assert release_options(rules_for("3.9.2", MetadataMode.ZOOKEEPER)) == "--kafka 3.9.2 --metadata zookeeper"
    assert release_options(rules_for("2.8.2", MetadataMode.ZOOKEEPER)) == "--kafka 2.8.2"
