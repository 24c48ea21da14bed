"""What does a browser find on a page? Elements with their attributes and text, nesting checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = {"meta", "br", "link", "img", "input", "hr", "wbr"}


@dataclass
class Found:
    name: str
    attributes: dict[str, str]
    parents: tuple[str, ...]
    text: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


class PageReader(HTMLParser):
    """Collects every element; raises on wrong nesting."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[Found] = []
        self._open: list[Found] = []
        self.feed(page)
        self.close()
        assert not self._open, f"never closed: {[item.name for item in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parents = tuple(item.name for item in self._open)
        found = Found(tag, {name: value or "" for name, value in attrs}, parents)
        self.elements.append(found)
        if tag not in _VOID:
            self._open.append(found)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.handle_data(" ")
        opened = self._open.pop()
        assert opened.name == tag, f"<{opened.name}> closed by </{tag}>"

    def handle_data(self, data: str) -> None:
        for item in self._open:
            item.text.append(data)

    def named(self, *names: str) -> list[Found]:
        return [item for item in self.elements if item.name in names]

    def with_attribute(self, name: str) -> list[str]:
        return [item.attributes[name] for item in self.elements if name in item.attributes]
