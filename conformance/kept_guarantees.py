"""Where is the guarantee table kept? Beside the model that it was searched with."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from oracle.brokers.guarantee_table import GuaranteeTable, decode

FILE = files("oracle.brokers") / "guarantee_table.json"


@cache
def kept_table() -> GuaranteeTable:
    """Return the table that is kept with the model."""
    return decode(json.loads(FILE.read_text(encoding="utf-8")))
