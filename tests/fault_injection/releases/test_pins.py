"""Is a jar of a release refused unless it is the one that was released?"""

import shutil
from pathlib import Path

import pytest

from fault_injection.releases import RELEASES, UsageError, find_release, jars_of
from fault_injection.releases.jars import MANIFEST, JarSet, cached, check_pins, jar_set, own_jars, pins


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def a_set(version: str, **files: bytes) -> JarSet:
    """Keep jars as if a repository had served them."""

    def fill(directory: Path) -> None:
        for name, content in files.items():
            (directory / f"{name}-{version}.jar").write_bytes(content)

    return cached(version, fill)


def test_every_release_of_the_table_is_pinned() -> None:
    for release in RELEASES:
        pinned = pins()[release.version]
        assert f"kafka_{release.scala}-{release.version}.jar" in pinned
        assert f"kafka-clients-{release.version}.jar" in pinned


def test_no_two_jars_have_one_pin() -> None:
    everything = [sha256 for jars in pins().values() for sha256 in jars.values()]
    assert len(set(everything)) == len(everything)
    assert all(len(sha256) == 64 for sha256 in everything)


def test_a_jar_that_another_repository_changed_is_refused_and_named() -> None:
    kept = a_set("4.4.0", kafka_clients=b"changed", **{"kafka-clients": b"also changed"})
    with pytest.raises(UsageError, match=r"kafka\S*-4\.4\.0\.jar is not the one that Kafka 4\.4\.0 was released with"):
        jars_of(find_release("4.4.0"))
    assert kept.directory.exists()


def test_a_jar_that_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    jars = a_set("1.2.3", kafka=b"one")
    whole = {**own_jars("1.2.3", jars), "kafka-clients-1.2.3.jar": "0" * 64}
    monkeypatch.setattr("fault_injection.releases.jars.pins", lambda: {"1.2.3": whole})
    with pytest.raises(UsageError, match=r"kafka-clients-1\.2\.3\.jar .* is missing"):
        check_pins("1.2.3", jars)


def test_the_released_jars_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    jars = a_set("1.2.3", kafka=b"one", guava=b"two")
    assert set(own_jars("1.2.3", jars)) == {"kafka-1.2.3.jar"}
    monkeypatch.setattr("fault_injection.releases.jars.pins", lambda: {"1.2.3": own_jars("1.2.3", jars)})
    assert check_pins("1.2.3", jars) == jars


def test_a_kafka_of_the_users_may_be_any(tmp_path: Path) -> None:
    jars = a_set("4.4.0", **{"kafka_2.13": b"patched"})
    libs = tmp_path / "own" / "libs"
    shutil.copytree(jars.directory, libs)
    (libs / MANIFEST).unlink()
    assert jars_of(find_release("4.4.0"), libs.parent) == jar_set(libs)
