"""Is a release refused whose files, version or changelog are not its own, and does the rest build and pass?"""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.project.documents import ROOT

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "99.0.0"
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Clone the checkout's commit, and give it version and changelog of a release."""
    into = tmp_path / "clone"
    git(ROOT, "clone", "--quiet", "--shared", "--no-tags", str(ROOT), str(into))
    project, changelog = into / "pyproject.toml", into / "CHANGELOG.md"
    project.write_text(re.sub(r'^version = ".*"$', f'version = "{VERSION}"', project.read_text(), flags=re.MULTILINE))
    changelog.write_text(f"# Changelog\n\n## {VERSION}, 2026-12-01\n")
    commit(into)
    return into


def git(where: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *arguments], cwd=where, check=True, capture_output=True)


def commit(clone: Path) -> None:
    git(clone, "commit", "--quiet", "--all", "--message", "release")


def released(clone: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([".ci/release", *arguments], cwd=clone, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_without_a_version_it_says_what_it_does(clone: Path) -> None:
    code, said = released(clone)
    assert code == 2
    assert ".ci/release 0.2.0" in said


def test_what_is_not_committed_is_refused(clone: Path) -> None:
    (clone / "more").touch()
    assert released(clone, VERSION) == (1, "there are files that are not committed: commit them, or put them away\n")


def test_another_version_is_refused(clone: Path) -> None:
    assert released(clone, "99.0.1") == (1, "pyproject.toml has another version than 99.0.1\n")


def test_a_changelog_of_something_else_is_refused(clone: Path) -> None:
    changelog = clone / "CHANGELOG.md"
    changelog.write_text(changelog.read_text().replace(f"## {VERSION}, 2026-12-01", "## Unreleased", 1))
    commit(clone)
    code, said = released(clone, VERSION)
    assert code == 1
    assert f"is '## Unreleased': it has to be '## {VERSION}, YYYY-MM-DD'" in said


def test_a_version_that_has_a_tag_is_refused(clone: Path) -> None:
    git(clone, "tag", f"v{VERSION}")
    assert released(clone, VERSION) == (1, f"v{VERSION} is a tag already\n")


def test_a_release_is_built_and_checked(clone: Path) -> None:
    code, said = released(clone, VERSION, "plain")
    assert code == 0, said
    names = sorted(path.name for path in (clone / "dist").iterdir())
    assert names == [
        "SHA256SUMS",
        f"kafka_conformance-{VERSION}-py3-none-any.whl",
        f"kafka_conformance-{VERSION}.tar.gz",
    ]
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=clone / "dist", check=True)
    assert f"git tag --sign v{VERSION}" in said


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.stem))
def test_issue_templates_are_forms(template: Path) -> None:
    form = yaml.safe_load(template.read_text(encoding="utf-8"))
    if template.stem == "config":
        assert not form["blank_issues_enabled"]
        return
    assert form.keys() == {"name", "description", "labels", "body"}
    assert len({one["id"] for one in form["body"]}) == len(form["body"])
    assert any("kafka-conformance bundle runs/RUN" in one["attributes"].get("description", "") for one in form["body"])
