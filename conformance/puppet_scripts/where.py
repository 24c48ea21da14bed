"""On which releases can the tester play the controller of a broker? Up to 3.9, with ZooKeeper."""

from __future__ import annotations

from dataclasses import replace

from conformance.catalogue.where import Where
from oracle.vocabulary import MetadataMode

WITH_CONTROLLER_REQUESTS = Where(
    metadata=MetadataMode.ZOOKEEPER,
    why="in KRaft mode no controller sends requests to brokers, they read the metadata log",
    needs_jars=True,
)
WITH_PUPPETS = replace(
    WITH_CONTROLLER_REQUESTS, why="the tester plays the broker's controller, which it can with ZooKeeper only"
)


def since(version: str, why: str) -> Where:
    """Return the releases with puppets from one on; ``why`` says what those before do not have."""
    return replace(WITH_PUPPETS, since=version, why_since=why)
