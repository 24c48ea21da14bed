"""How is an SVG element written? Escaped text, escaped attributes, short numbers, nothing else."""

from __future__ import annotations

from markupsafe import Markup, escape

Attribute = str | float | int | None


def element(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """Return one element; a trailing underscore is dropped (``class_``), others become hyphens."""
    written = Markup("").join(
        Markup(' {}="{}"').format(_attribute_name(key), _short(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(escape(child) for child in children)
    if not inside:
        return Markup("<{0}{1}/>").format(name, written)
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, inside)


def group(*children: Markup, **attributes: Attribute) -> Markup:
    """Return a ``<g>`` around the children."""
    return element("g", *children, **attributes)


def label(x: float, y: float, words: str, css: str = "", **attributes: Attribute) -> Markup:
    """Return a ``<text>`` at a point."""
    return element("text", words, x=x, y=y, class_=css or None, **attributes)


def titled(words: str) -> Markup:
    """Return the ``<title>`` that a pointer or a screen reader finds on its parent."""
    return element("title", words)


SIGNS = "\N{LEFTWARDS ARROW}"
"""Arrows and signs, which begin here, are wider than letters."""


def text_width(words: str, size: float = 12.0) -> float:
    """Estimate how wide words are in a sans-serif face, in user units; errs on the wide side."""
    narrow = sum(1 for letter in words if letter in "iljtf.,:;'|! ()[]")
    signs = sum(1 for letter in words if letter >= SIGNS)
    return size * (0.57 * (len(words) - narrow - signs) + 0.32 * narrow + 1.15 * signs)


def clipped(words: str, letters_max: int) -> str:
    """Return words, cut with an ellipsis if they are longer than allowed."""
    return words if len(words) <= letters_max else words[: letters_max - 1] + "…"


def _attribute_name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _short(value: Attribute) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
