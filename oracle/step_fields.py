"""How is a step's field declared? With the sentence that documents it, and the name that files give it."""

from __future__ import annotations

from dataclasses import Field, field
from typing import Any


def described(text: str, *, written: str | None = None, **options: Any) -> Any:  # noqa: ANN401 - as dataclasses.field
    """Declare a step's field with the sentence that documents it, and with its name in files if that is another."""
    return field(metadata={"help": text, "written": written}, **options)


def written_name(declared: Field[Any]) -> str:
    """Return a step's field as schedule files name it: settings have Kafka's names."""
    name: str = declared.metadata["written"] or declared.name
    return name
