"""Is a missing, broken or old Java refused with one clear sentence?"""

from pathlib import Path

import pytest

from fault_injection.releases import UsageError, find_java


def java_home(directory: Path, script: str) -> str:
    launcher = directory / "bin" / "java"
    launcher.parent.mkdir()
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(0o755)
    return str(directory)


@pytest.mark.parametrize(
    ("banner", "feature"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea"', 25),
    ],
)
def test_a_new_enough_java_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, banner: str, feature: int) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, f"echo '{banner}' >&2"))
    found = find_java()
    assert (found.feature_version, found.executable) == (feature, tmp_path / "bin" / "java")


@pytest.mark.parametrize(
    ("banner", "feature"), [('java version "1.8.0_402"', 8), ('openjdk version "11.0.22" 2024-01-16', 11)]
)
def test_an_old_java_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, banner: str, feature: int) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, f"echo '{banner}' >&2"))
    with pytest.raises(UsageError, match=f"is Java {feature}, but Java 17 or newer is needed"):
        find_java()


def test_a_java_that_does_not_start_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", java_home(tmp_path, "echo no memory >&2; exit 1"))
    with pytest.raises(UsageError, match="does not start: no memory"):
        find_java()


def test_no_java_at_all_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="No java was found in JAVA_HOME"):
        find_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="No java was found in the PATH"):
        find_java()
