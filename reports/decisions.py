"""Which step and which rule decided? The words of a prediction, with steps linked and rules set apart."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_RULE = r"[a-z0-9]+(?:-[a-z0-9]+)+"
_PARTS = re.compile(
    r"(?P<step>\bstep (?P<number>\d+))"
    rf"|(?P<rule>(?<=\bby ){_RULE}(?=;|$)|(?<=\(){_RULE}(?=\)(?:;|$)))"
    r"|(?P<part>; )"
)


def decision(text: str, anchor: str, steps: int) -> Markup:
    """Return the words with every step linked to the list of steps, one clause a line.

    Args:
        text: such as ``cut on broker 2 at step 4 (kill 1) by truncate-on-fetch; …``.
        anchor: of the run on the page.
        steps: how many steps the page lists; others are not linked.
    """
    written, end = [], 0
    for found in _PARTS.finditer(text):
        written.append(escape(text[end : found.start()]))
        written.append(_marked(found, anchor, steps))
        end = found.end()
    return Markup("").join([*written, escape(text[end:])])


def _marked(found: re.Match[str], anchor: str, steps: int) -> Markup:
    if found["rule"]:
        return Markup('<span class="rule">{}</span>').format(found["rule"])
    if found["part"]:
        return Markup(";<br>")
    if 1 <= int(found["number"]) <= steps:
        return Markup('<a href="#{}-step-{}">{}</a>').format(anchor, found["number"], found["step"])
    return escape(found["step"])
