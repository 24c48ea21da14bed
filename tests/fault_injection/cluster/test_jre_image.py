"""Does building the base image say what is missing?"""

from pathlib import Path

import pytest

from fault_injection.cluster.backends.container_image import ImageBuildError, build


def program(directory: Path, name: str, script: str) -> None:
    (directory / name).write_text(f"#!/bin/sh\n{script}\n")
    (directory / name).chmod(0o755)


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImageBuildError, match="debootstrap is not installed"):
        build("image:1", "bookworm", None)


def test_a_failing_program_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "debootstrap", "echo no such suite >&2; exit 1")
    program(tmp_path, "docker", "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ImageBuildError, match="debootstrap failed: no such suite"):
        build("image:1", "bookworm", None)
