"""Which options would have no effect? They are refused with the reason, never ignored in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fault_injection.releases import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable


def refuse(parsed: argparse.Namespace, options: Iterable[str], why: str) -> None:
    """Refuse options that were given.

    Args:
        parsed: the command line.
        options: the options by their names; ``GLOB`` stands for scenario names.
        why: completes the sentence that begins with the option.

    Raises:
        UsageError: one of them was given.
    """
    for option in options:
        if is_given(parsed, option):
            raise UsageError(f"{'scenario names' if option == 'GLOB' else option} {why}")


def is_given(parsed: argparse.Namespace, option: str) -> bool:
    """Tell whether an option was given; left out, it must be None, False or nothing."""
    name = "globs" if option == "GLOB" else option.removeprefix("--").replace("-", "_")
    value = getattr(parsed, name)
    return value is not None and value is not False and value != []
