"""How many connections do fetchers hold, and which of them serves which partition?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

SCENARIOS = (
    Examination(
        name="FE-01",
        id="fetchers/connections-of-a-broker",
        requirement=(
            "A broker that follows partitions of every other broker on every fetcher has (brokers - 1) x "
            "num.replica.fetchers replication connections; one that follows fewer has no more than it needs."
        ),
        sources=("FE-01", "004"),
        explanation=(
            "Counted twice: by the connections that carried a fetch, and by those open at the gate. A fetcher exists "
            "only while it has partitions, so one partition makes one connection, whatever the setting says."
        ),
        basis=Basis.COMPUTED,
        examined=by("fetchers.connections:CONNECTION_COUNTS"),
    ),
    Examination(
        name="FE-02",
        id="fetchers/one-fetcher-a-partition",
        requirement=(
            "A partition is served by one fetcher of its follower, |31 x hash(topic) + partition| modulo "
            "num.replica.fetchers, and each fetcher has one connection to its leader."
        ),
        sources=("FE-02", "004"),
        explanation="A fetcher names itself in every request, so each partition's fetcher is read off the wire.",
        basis=Basis.COMPUTED,
        examined=by("fetchers.connections:FETCHER_ASSIGNMENT"),
    ),
)
