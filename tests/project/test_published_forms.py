"""Do workflows, actions, issue forms and compose files, also those in the documents, have the form that is published?

GitHub, GitLab and Docker publish schemas of their files; check-jsonschema brings them along.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.project.documents import ROOT, blocks, page

if TYPE_CHECKING:
    from pathlib import Path

GITHUB = ROOT / ".github"
FILES = {
    "github-workflows": sorted((GITHUB / "workflows").glob("*.yml")),
    "github-actions": [ROOT / "action.yml"],
    "github-issue-config": [GITHUB / "ISSUE_TEMPLATE" / "config.yml"],
    "github-issue-forms": [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"],
    "compose-spec": sorted((ROOT / "compose").glob("*/docker-compose.yaml")),
}
"""By the name of a schema, the files of it."""
SHOWN = {"name: conformance\n": "github-workflows", "# .gitlab-ci.yml\n": "gitlab-ci"}
"""By its beginning, of which form an example in docs/ci.md is, if it is a whole file."""


def refusals(schema: str, *paths: Path) -> str:
    """Return what is wrong with files of one form; nothing if they have it."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout if done.returncode else ""


@pytest.mark.parametrize("schema", FILES)
def test_files_have_the_form_that_is_published(schema: str) -> None:
    assert FILES[schema]
    assert refusals(schema, *FILES[schema]) == ""


@pytest.mark.parametrize("beginning", SHOWN)
def test_examples_in_the_documents_have_it_too(beginning: str, tmp_path: Path) -> None:
    (shown,) = (block for block in blocks(page("ci"), "yaml") if block.startswith(beginning))
    example = tmp_path / "example.yml"
    example.write_text(shown)
    assert refusals(SHOWN[beginning], example) == ""


@pytest.mark.parametrize("schema", FILES)
def test_a_file_that_has_it_not_is_refused(schema: str, tmp_path: Path) -> None:
    spoilt = tmp_path / FILES[schema][0].name
    spoilt.write_text(FILES[schema][0].read_text() + "\nrunz-on: [unknown]\n")
    assert "runz-on" in refusals(schema, spoilt)
