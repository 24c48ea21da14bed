"""What a failure of Spark says: what was done, and the deepest cause that Java names."""

from __future__ import annotations

import pytest

from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.jvm import failing_as

FIRST = "An error occurred while calling collectToPython."


def said_of(*lines: str) -> str:
    """Return the text of the error that an exception of these lines becomes."""
    with pytest.raises(ReconcileError) as caught, failing_as("reading"):
        raise OSError("\n".join((FIRST, *lines)))
    return str(caught.value)


def test_the_deepest_cause_is_said() -> None:
    said = said_of("Caused by: outer", "\tat somewhere", "Caused by: Checksum error: part-0")

    assert said == f"Failed while reading: {FIRST} Caused by: Checksum error: part-0"


def test_beside_a_cause_that_java_has_printed_already_stands_the_one_before() -> None:
    said = said_of("Caused by: Job aborted", "Caused by: Checksum error", "Caused by: [CIRCULAR REFERENCE: part-0]")

    assert said == f"Failed while reading: {FIRST} Caused by: Checksum error Caused by: [part-0]"
