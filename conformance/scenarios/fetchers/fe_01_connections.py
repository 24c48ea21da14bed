"""How many connections do fetchers hold?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

CONNECTIONS = Examination(
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
    examined=by("connections:CONNECTION_COUNTS"),
)

SCENARIOS = (CONNECTIONS,)
