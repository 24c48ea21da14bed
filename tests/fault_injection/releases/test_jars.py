"""Are jars found offline, from a directory, and refused with one clear sentence otherwise?"""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from fault_injection.releases import UsageError, find_release, jars_of
from fault_injection.releases.ivy import (
    MAVEN_CENTRAL,
    PLAIN_HTTP_VARIABLE,
    REPOSITORY_VARIABLE,
    repository,
)

USER = "me:s%26cret"
"""A user and a password, as a URL has them."""


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_kafka_home_replaces_the_jars_wherever_a_broker_looks_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-4.3.1.jar").write_bytes(b"a jar")
    jars = jars_of(find_release("4.3"), kafka_home=tmp_path)
    assert [file.name for file in jars.files] == ["kafka_2.13-4.3.1.jar"]
    monkeypatch.chdir(tmp_path.parent)
    assert jars_of(find_release("4.3"), kafka_home=Path(tmp_path.name)) == jars


def test_a_kafka_home_without_jars_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no directory of a Kafka: it has no libs/\*\.jar\.$"):
        jars_of(find_release("4.3"), kafka_home=tmp_path)
    with pytest.raises(UsageError, match=r"is no directory of a Kafka: it does not exist\.$"):
        jars_of(find_release("4.3"), kafka_home=tmp_path / "absent")


@pytest.mark.broker
def test_a_kafka_home_of_a_release_that_java_17_breaks_gets_what_repairs_it(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    for name in ("kafka_2.12-2.0.1.jar", "zookeeper-3.4.13.jar", "zkclient-0.10.jar"):
        (tmp_path / "libs" / name).write_bytes(name.encode())
    jars = jars_of(find_release("2.0.1"), kafka_home=tmp_path)

    names = ["kafka_2.12-2.0.1.jar", "zkclient-0.10.jar", "zookeeper-3.5.9.jar", "zookeeper-jute-3.5.9.jar"]
    assert [file.name for file in jars.files] == names
    assert all(file.is_file() for file in jars.files)


def test_nothing_cached_and_no_network_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(REPOSITORY_VARIABLE, f"http://127.0.0.1:{closed_port()}/maven2")
    with pytest.raises(UsageError, match=r"kafka_2\.13:4\.3\.1 is not cached and .* cannot be reached"):
        jars_of(find_release("4.3"))
    assert not list((tmp_path / "kafka-conformance" / "jars").glob("4.*"))


def test_maven_central_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(REPOSITORY_VARIABLE, raising=False)
    assert repository().url == MAVEN_CENTRAL


def test_a_mirror_in_the_maven_settings_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(REPOSITORY_VARIABLE, raising=False)
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(
        '<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors>'
        "<mirror><id>other</id><mirrorOf>other</mirrorOf><url>http://other.example/</url></mirror>"
        "<mirror><id>all</id><mirrorOf>*,!other</mirrorOf><url>https://mirror.example/maven</url></mirror>"
        "</mirrors></settings>"
    )
    assert repository().url == "https://mirror.example/maven/"
    monkeypatch.setenv(REPOSITORY_VARIABLE, "https://named.example/")
    assert repository().url == "https://named.example/"


def test_a_repository_that_is_not_there_is_not_said_to_lack_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(REPOSITORY_VARIABLE, "https://nowhere.example/maven2")
    with pytest.raises(UsageError, match=r"4\.3\.1 is not cached and .* cannot be reached \(Host .* not found"):
        jars_of(find_release("4.3"))


def test_plain_http_is_refused_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPOSITORY_VARIABLE, f"http://{USER}@named.example/maven")
    with pytest.raises(UsageError, match=r"is plain http.* set \w+_ALLOW_HTTP=1") as refused:
        repository()
    assert str(refused.value).startswith("http://named.example/maven/ ")
    monkeypatch.setenv(PLAIN_HTTP_VARIABLE, "1")
    assert repository().url == "http://named.example/maven/"
    monkeypatch.delenv(PLAIN_HTTP_VARIABLE)
    monkeypatch.setenv(REPOSITORY_VARIABLE, "http://localhost:8081/maven")
    assert repository().url == "http://localhost:8081/maven/"


def test_a_password_in_what_is_no_url_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REPOSITORY_VARIABLE, "user:secret@named.example/maven")
    with pytest.raises(UsageError, match=r"^named\.example/maven/ is no URL") as refused:
        repository()
    assert "secret" not in str(refused.value)


class _Private(BaseHTTPRequestHandler):
    """A repository that wants a password, and has nothing."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        said = self.headers.get("Authorization")
        self.seen.append(said or "")
        self.send_response(401 if said is None else 404)
        if said is None:
            self.send_header("WWW-Authenticate", 'Basic realm="jars"')
        self.end_headers()

    do_HEAD = do_GET  # noqa: N815 - as the base class calls it

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def private() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Private) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_a_password_in_the_url_is_used_and_neither_shown_nor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(REPOSITORY_VARIABLE, f"http://{USER}@127.0.0.1:{private}/maven2")
    with pytest.raises(UsageError, match="does not exist: http") as refused:
        jars_of(find_release("4.3"))
    assert f"Basic {b64encode(b'me:s&cret').decode()}" in _Private.seen
    assert "cret" not in str(refused.value)
    assert "cret" not in repr(repository())
    assert not any(b"cret@" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


@pytest.mark.broker
def test_cached_jars_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    first = jars_of(find_release("4.3"))
    monkeypatch.setenv(REPOSITORY_VARIABLE, f"http://127.0.0.1:{closed_port()}/")
    assert jars_of(find_release("4.3")) == first
    assert any(file.name == "kafka_2.13-4.3.1.jar" for file in first.files)
