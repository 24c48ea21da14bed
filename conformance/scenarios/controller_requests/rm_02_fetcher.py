"""When does a fetcher stop and start?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by
from conformance.catalogue.where import WITH_CONTROLLER_REQUESTS

FETCHERS = Examination(
    name="RM-02",
    id="controller-requests/fetcher-stops-and-starts",
    requirement=(
        "Becoming leader ends the broker's fetches of the partition; becoming follower starts them, at the new "
        "leader alone."
    ),
    sources=("RM-02", "003", "004"),
    explanation="The tester plays both other brokers: what they are asked is all that the broker's fetcher does.",
    where=WITH_CONTROLLER_REQUESTS,
    examined=by("controller_requests:FETCHERS"),
)

SCENARIOS = (FETCHERS,)
