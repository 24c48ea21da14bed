"""Which version is the tester itself? The one of the installed package, as ``--version`` prints it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PACKAGE = "kafka-conformance"


def own_version() -> str:
    """Return the version of the tester, such as ``0.1.0``; if it is used without being installed, that."""
    try:
        return version(PACKAGE)
    except PackageNotFoundError:
        return "of a checkout that is not installed"
