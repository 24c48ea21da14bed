"""Which documents has the project, and what do they hold? Code blocks by language, links, names in backticks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
CHANGELOG = ROOT / "CHANGELOG.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
PAGES = tuple(sorted((ROOT / "docs").glob("*.md")))
BESIDE = (
    ROOT / "compose" / "README.md",
    ROOT / "oracle" / "README.md",
    *sorted((ROOT / "docs" / "findings").glob("*.md")),
)
"""Documents that tell the reader to type other programs' commands too."""
EXAMPLES = tuple(sorted((ROOT / "examples").glob("*.yaml")))

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENTED_COMMAND = re.compile(r"^#\s+(kafka-conformance .*)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#\s]+)")
_ANCHOR = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a console block with the lines of its output that the document shows."""

    command: str
    output: tuple[str, ...]


def blocks(document: Path, language: str) -> tuple[str, ...]:
    """Return the contents of a document's code blocks in one language."""
    return tuple(text for name, text in _BLOCK.findall(document.read_text(encoding="utf-8")) if name == language)


def commands(document: Path) -> tuple[str, ...]:
    """Return every command that a document tells the reader to type."""
    typed = [line for text in blocks(document, "sh") for line in text.splitlines() if line and line[0] != "#"]
    return (*typed, *(shown.command for shown in shown_commands(document)))


def shown_commands(document: Path) -> tuple[Shown, ...]:
    """Return the commands of console blocks with what the document says they print."""
    found: list[Shown] = []
    for text in blocks(document, "console"):
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, *output = part.splitlines()
            found.append(Shown(command, tuple(line for line in output if line.strip() not in ("", "…"))))
    return tuple(found)


def commented_commands(example: Path) -> tuple[str, ...]:
    """Return the commands in an example's comments."""
    return tuple(_COMMENTED_COMMAND.findall(example.read_text(encoding="utf-8")))


def page(name: str) -> Path:
    """Return the page of docs/ with a name."""
    return ROOT / "docs" / f"{name}.md"


def plain(document: Path) -> str:
    """Return a document's text on one line."""
    return " ".join(document.read_text(encoding="utf-8").split())


def linked_files(document: Path) -> tuple[Path, ...]:
    """Return the targets of a document's links that are files of this project."""
    targets = _LINK.findall(document.read_text(encoding="utf-8"))
    return tuple((document.parent / target).resolve() for target in targets if "://" not in target)


def linked_headings(document: Path) -> tuple[tuple[Path, str], ...]:
    """Return the links of a document that lead to a heading: the file, and the heading's anchor."""
    found = _ANCHOR.findall(document.read_text(encoding="utf-8"))
    return tuple(((document.parent / target).resolve() if target else document, anchor) for target, anchor in found)


def anchors(document: Path) -> tuple[str, ...]:
    """Return the anchors of a document's headings, as its readers' sites make them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return tuple(re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings)


def quoted_names(document: Path) -> tuple[str, ...]:
    """Return what a document puts in backticks, outside code blocks."""
    prose = _BLOCK.sub("", document.read_text(encoding="utf-8"))
    return tuple(re.findall(r"`([^`\n]+)`", prose))
