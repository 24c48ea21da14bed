"""What does a follower say about its lag?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

LAG_GAUGE = Examination(
    name="FE-05",
    id="fetchers/lag-gauge",
    requirement=(
        "A follower's lag gauge is the leader's high watermark, as the last answer told it, minus the offset that "
        "the follower fetches next; it is zero for a follower ahead of that high watermark."
    ),
    sources=("FE-05", "004"),
    explanation=(
        "The follower is outside the ISR, so that all records are committed before it has any, and an answer "
        "holds one of them: the gauge counts down while each next fetch is held."
    ),
    basis=Basis.COMPUTED,
    examined=by("lag:LAG_GAUGE"),
)

SCENARIOS = (LAG_GAUGE,)
