"""Is a cached jar set trusted only while it is exactly what was resolved?"""

from collections.abc import Callable
from pathlib import Path

import pytest

from fault_injection.releases.jars import MANIFEST, cached


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class Filler:
    """Fills a directory with two jars and counts how often it was asked to."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, directory: Path) -> None:
        self.times += 1
        (directory / "a.jar").write_bytes(b"first")
        (directory / "b.jar").write_bytes(b"second")


def test_a_set_is_filled_once_and_then_found() -> None:
    filler = Filler()
    first, second = cached("1.0", filler), cached("1.0", filler)
    assert filler.times == 1
    assert first == second
    assert [file.name for file in first.files] == ["a.jar", "b.jar"]
    assert first.class_path == f"{first.directory}/a.jar:{first.directory}/b.jar"
    assert (first.directory / MANIFEST).read_text().splitlines()[0].endswith("  a.jar")


def change(file: Path) -> None:
    file.write_bytes(b"changed")


def truncate(file: Path) -> None:
    file.write_bytes(b"")


def remove(file: Path) -> None:
    file.unlink()


def add_a_foreign_one(file: Path) -> None:
    file.with_name("c.jar").write_bytes(b"foreign")


def remove_the_manifest(file: Path) -> None:
    file.with_name(MANIFEST).unlink()


@pytest.mark.parametrize("damage", [change, truncate, remove, add_a_foreign_one, remove_the_manifest])
def test_a_damaged_set_is_resolved_again(damage: Callable[[Path], None]) -> None:
    filler = Filler()
    whole = cached("1.0", filler)
    damage(whole.files[1])
    assert cached("1.0", filler) == whole
    assert filler.times == 2
    assert sorted(file.name for file in whole.directory.iterdir()) == [MANIFEST, "a.jar", "b.jar"]


def test_a_filling_that_fails_leaves_nothing_behind() -> None:
    def fails(directory: Path) -> None:
        (directory / "a.jar").write_bytes(b"half")
        raise ConnectionError

    with pytest.raises(ConnectionError):
        cached("1.0", fails)
    filler = Filler()
    assert len(cached("1.0", filler).files) == 2
    assert filler.times == 1


def test_other_contents_have_another_digest() -> None:
    def other(directory: Path) -> None:
        (directory / "a.jar").write_bytes(b"other")

    assert cached("1.0", Filler()).digest != cached("1.1", other).digest
