"""Which fetcher serves which partition?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

ONE_FETCHER = Examination(
    name="FE-02",
    id="fetchers/one-fetcher-a-partition",
    requirement=(
        "A partition is served by one fetcher of its follower, |31 x hash(topic) + partition| modulo "
        "num.replica.fetchers, and each fetcher has one connection to its leader."
    ),
    sources=("FE-02", "004"),
    explanation="A fetcher names itself in every request, so each partition's fetcher is read off the wire.",
    basis=Basis.COMPUTED,
    examined=by("connections:FETCHER_ASSIGNMENT"),
)

SCENARIOS = (ONE_FETCHER,)
