"""Is a line named in one form, and is a Kafka of the user's put on the line whose rules hold for it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.commands.matrix_line import line_folder
from conformance.line import line_named
from conformance.run_options import OwnKafka, run_options
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def own_kafka(directory: Path, version: str, **named: str) -> OwnKafka:
    """Return a distribution whose broker's jar has a version; the jar is empty."""
    (directory / "libs").mkdir(parents=True)
    (directory / "libs" / f"kafka_2.13-{version}.jar").write_bytes(b"")
    return OwnKafka(home=directory, **named)


@pytest.mark.parametrize(
    ("version", "text", "line", "build"),
    [
        ("4.4.0", "newest", "4.4.0/kraft", "4.4.0"),
        ("4.4.1-SNAPSHOT", "newest", "4.4.1/kraft", "4.4.1-SNAPSHOT"),
        ("3.9.1", "3.9/zookeeper", "3.9.1/zookeeper", "3.9.1"),
        ("7.9.1-ccs", "newest/zookeeper", "3.9.2/zookeeper", "7.9.1-ccs"),
    ],
)
def test_a_kafka_of_the_user_s_is_on_the_line_of_its_release(
    tmp_path: Path, version: str, text: str, line: str, build: str
) -> None:
    named = line_named(text, own=own_kafka(tmp_path, version))
    assert (named.text, named.release.build, named.words) == (line, build, line)
    assert line_named("4.4.0").release.build is None


def test_one_that_is_newer_than_every_known_release_is_judged_by_the_rules_that_are_named(tmp_path: Path) -> None:
    own = own_kafka(tmp_path, "4.5.0-SNAPSHOT", rules_of="4.4.0", label="fork")
    line = line_named("newest", own=own)

    assert (line.text, line.words, line.release.build) == ("4.4.0/kraft", "4.4.0/kraft (fork)", "4.5.0-SNAPSHOT")
    assert line.rules == line_named("4.4.0").rules
    assert line_folder(tmp_path, line, "process").name == "4.4.0-kraft-fork-process"
    assert line_folder(tmp_path, line_named("4.4.0"), "process").name == "4.4.0-kraft-process"


@pytest.mark.parametrize(
    ("version", "text", "rules_of", "said"),
    [
        ("4.5.0-SNAPSHOT", "newest", None, "With --rules-of V it is judged by the rules of release V."),
        ("4.5.0-SNAPSHOT", "newest", "9.9", "'9.9' is not a supported release"),
        ("4.5.0-SNAPSHOT", "newest", "4.4.0/zookeeper", "does not run in zookeeper mode"),
        ("4.5.0-SNAPSHOT", "4.4.0", "4.4.0", "--kafka and --rules-of both name the release"),
        ("3.9.2", "newest", "4.4.0", "holds Kafka 3.9.2, and the rules of 3.9 are known: run it by them."),
    ],
)
def test_what_cannot_be_judged_so_is_refused(
    tmp_path: Path, version: str, text: str, rules_of: str | None, said: str
) -> None:
    own = own_kafka(tmp_path, version)
    with pytest.raises(UsageError) as refused:
        line_named(text, own=OwnKafka(own.home, rules_of=rules_of))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"--label": "fork"}, "--label is about a Kafka of your own: give --kafka-home or --image too."),
        ({"--image": "own:1", "--label": "../up"}, "--label '../up': take letters, digits, dots, hyphens"),
        ({"--image": "own:1", "--label": "a b"}, "--label 'a b': take letters, digits, dots, hyphens"),
    ],
)
def test_options_that_mean_nothing_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        run_options(given.get)
    assert str(refused.value).startswith(said)


def test_what_is_left_out_has_its_default() -> None:
    options = run_options({}.get)
    assert (options.backend, options.spark_master, options.seed) == ("auto", "local[2]", None)
    assert (options.fetch_sessions, options.own) == (True, None)
