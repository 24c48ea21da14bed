"""Does the command write each file as it should be, after it knows that it can, and nothing that is secret?"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from conformance.audit.audit import CHECKS
from conformance.audit.cluster import ClusterSeen, Setting, Source
from conformance.cli import main
from conformance.commands import auditing
from tests.conformance.audit.made_clusters import good, of_topic, topic, with_topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conformance.clients.client_settings import ClientSettings

ASKED = ["audit", "--bootstrap-server", "broker:9092"]
PASSWORD, KEY_PASSWORD = "pass-of-a-client", "pass-of-a-key"
LOW = with_topic(own=of_topic(unclean=True), line="3.8.1/kraft")
"""A cluster with one finding, of low severity."""
HIGH = with_topic(own=of_topic(1))


class AskedTooEarlyError(Exception):
    """A cluster was asked although a mistake was known."""


class StandIn:
    """Answers for a cluster."""

    def __init__(self, cluster: ClusterSeen | None) -> None:
        self._cluster = cluster

    def read(self, topics: Sequence[str]) -> ClusterSeen:
        if self._cluster is None:
            raise AskedTooEarlyError(topics)
        return self._cluster


def reads(monkeypatch: pytest.MonkeyPatch, cluster: ClusterSeen | None) -> None:
    @contextmanager
    def reader(servers: Sequence[str], client: ClientSettings, patience_s: float) -> Iterator[StandIn]:
        del servers, client, patience_s
        yield StandIn(cluster)

    monkeypatch.setattr(auditing, "cluster_reader", reader)


def files_in(folder: Path) -> dict[str, Path]:
    names = {"html": "audit.html", "sarif": "audit.sarif", "junit": "audit.xml", "write-baseline": "new.yaml"}
    return {kind: folder / name for kind, name in names.items()}


def options(files: dict[str, Path]) -> list[str]:
    return [text for kind, path in files.items() for text in (f"--{kind}", str(path))]


def test_every_file_is_written_and_named_beside_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(monkeypatch, HIGH())
    files = files_in(tmp_path)
    assert main([*ASKED, *options(files), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["files"] == {kind: str(path) for kind, path in files.items()}
    assert [one["check"] for one in told["findings"]] == ["min-isr-1"]
    assert all(path.stat().st_size for path in files.values())
    files["write-baseline"].unlink()
    assert main([*ASKED, *options(files)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if str(tmp_path) in line] == [f"{kind}: {path}" for kind, path in files.items()]


def test_without_files_none_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    reads(monkeypatch, HIGH())
    assert main([*ASKED, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--html", "{}"], "it is a directory; name a file"),
        (["--sarif", "{}/none/audit.sarif"], "none: it does not exist"),
        (["--sarif", "{}/good.yaml/audit.sarif"], "good.yaml: it is no directory"),
        (["--junit", "{}/a", "--html", "{}/a"], "--html and --junit both name"),
        (["--baseline", "{}/good.yaml", "--html", "{}/good.yaml"], "--baseline and --html both name"),
        (["--write-baseline", "{}/there.yaml"], "it is there, and is not overwritten"),
        (["--baseline", "{}/none.yaml"], "cannot be read"),
        (["--baseline", "{}/there.yaml"], "a baseline is"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_cluster_is_asked(
    given: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there, accepts_nothing = tmp_path / "there.yaml", tmp_path / "good.yaml"
    there.write_text("kept")
    accepts_nothing.write_text("accepted: []\n")
    reads(monkeypatch, None)
    assert main([*ASKED, *(text.format(tmp_path) for text in given)]) == 2
    assert told in capsys.readouterr().err
    assert (there.read_text(), accepts_nothing.read_text()) == ("kept", "accepted: []\n")
    assert {*tmp_path.iterdir()} == {there, accepts_nothing}


def test_files_have_no_effect_where_nothing_is_asked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["audit", "--list-checks", "--html", str(tmp_path / "a.html")]) == 2
    assert "--html is about what was found" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_in_the_end_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(monkeypatch, HIGH())
    monkeypatch.setattr(auditing, "check_file", lambda path: path)
    page = tmp_path / "audit.html"
    assert main([*ASKED, "--html", str(page), "--sarif", str(tmp_path / "none" / "a")]) == 2
    told = capsys.readouterr()
    assert "HIGH  min-isr-1" in told.out
    assert f"html: {page}" in told.out
    assert "sarif" not in told.out
    assert "No such file" in told.err


def test_a_baseline_that_somebody_writes_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "accepted.yaml"

    def read(stand_in: StandIn, topics: Sequence[str]) -> ClusterSeen:
        del stand_in, topics
        file.write_text("theirs")
        return HIGH()

    reads(monkeypatch, None)
    monkeypatch.setattr(StandIn, "read", read)
    assert main([*ASKED, "--write-baseline", str(file)]) == 2
    assert file.read_text() == "theirs"
    assert "File exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cluster", "fail_on", "is_accepted", "code"),
    [
        (HIGH, "high", False, 1),
        (HIGH, "critical", False, 0),
        (HIGH, "low", True, 0),
        (LOW, "low", False, 1),
        (LOW, "medium", False, 0),
    ],
)
def test_only_what_is_bad_enough_and_not_accepted_fails(
    cluster: object, fail_on: str, is_accepted: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(cluster)
    reads(monkeypatch, cluster())
    file = tmp_path / "accepted.yaml"
    subject = "topic mistaken" if is_accepted else "topic orders"
    file.write_text(f"accepted:\n  - check: min-isr-1\n    subject: {subject}\n    reason: old\n")
    junit = tmp_path / "audit.xml"
    assert main([*ASKED, "--fail-on", fail_on, "--baseline", str(file), "--junit", str(junit)]) == code
    failures = ET.parse(junit).getroot().get("failures")
    assert failures == str(code)


def test_a_baseline_that_was_written_has_the_next_audit_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads(monkeypatch, HIGH())
    file = tmp_path / "accepted.yaml"
    assert main([*ASKED, "--fail-on", "low", "--write-baseline", str(file)]) == 1
    assert main([*ASKED, "--fail-on", "low", "--baseline", str(file)]) == 0
    reads(monkeypatch, replace(HIGH(), topics=(*HIGH().topics, topic("other", of_topic(1)))))
    assert main([*ASKED, "--fail-on", "low", "--baseline", str(file)]) == 1


def with_secrets() -> ClusterSeen:
    """Return a cluster whose brokers tell more than they should, one value of which they do not show."""
    more = {
        "ssl.key.password": Setting(KEY_PASSWORD, Source.BROKER_FILE),
        "ssl.keystore.password": Setting(None, Source.BROKER_FILE),
    }
    cluster = with_topic(own=of_topic(1))()
    told = [{**one.settings, **more} for one in cluster.brokers if isinstance(one.settings, dict)]
    brokers = tuple(replace(one, settings=own) for one, own in zip(cluster.brokers, told, strict=True))
    return replace(cluster, brokers=brokers)


def test_no_output_has_a_password_or_a_setting_that_no_finding_rests_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(monkeypatch, with_secrets())
    client = tmp_path / "client.properties"
    client.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password={PASSWORD}\n"
    )
    files = files_in(tmp_path)
    getting_in = ["--command-config", str(client)]
    assert main([*ASKED, *getting_in, *options(files), "--json"]) == 0
    told = capsys.readouterr()
    assert main([*ASKED, *getting_in]) == 0
    lines = capsys.readouterr()
    outputs = [told.out, told.err, lines.out, lines.err, *(path.read_text() for path in files.values())]
    for secret in (PASSWORD, KEY_PASSWORD, "ssl.key", "auto.create.topics.enable"):
        assert [text for text in outputs if secret in text] == []
    assert all("min-isr-1" in text for text in outputs if text not in (told.err, lines.err))


def test_a_good_cluster_has_a_file_of_each_kind_without_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads(monkeypatch, good())
    files = files_in(tmp_path)
    assert main([*ASKED, *options(files), "--fail-on", "low"]) == 0
    assert json.loads(files["sarif"].read_text())["runs"][0]["results"] == []
    suite = ET.parse(files["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (str(len(CHECKS)), "0", "0")


def test_commands_get_in_by_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(monkeypatch, HIGH())
    file = tmp_path / "my client.properties"
    file.write_text("security.protocol=PLAINTEXT\n")
    assert main([*ASKED, "--command-config", str(file), "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert f"--bootstrap-server broker:9092 --command-config '{file}' --alter" in finding["command"]
