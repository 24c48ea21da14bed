"""How does an option take a whole number? As plain digits within its bounds; anything else is a usage error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Return what argparse calls with an option's text, for numbers from ``least`` to ``most``."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse
