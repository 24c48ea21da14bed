"""kafka-python leaves the socket of a connection that was refused to the garbage collector: it is collected here."""

from __future__ import annotations

import gc
import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

UNCLOSED = "ignore:.*unclosed <socket"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/audit/" in item.path.as_posix():
            item.add_marker(pytest.mark.filterwarnings(f"{UNCLOSED}:ResourceWarning"))


@pytest.fixture(autouse=True)
def refused_connections_are_collected() -> Iterator[None]:
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
