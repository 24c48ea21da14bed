"""Is every kind of anomaly found and counted apart?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

ANOMALIES = Examination(
    name="RC-02",
    id="reconciliation/anomalies-are-counted-apart",
    requirement=(
        "Lost, phantom, resurrected, duplicated, reordered, moved, changed and diverged records are found and "
        "counted, each kind for itself."
    ),
    sources=("RC-02",),
    explanation=(
        "Brokers that behave give none of these, so each is made in a copy of a real run's files. Two swapped "
        "records are both elsewhere than they were acknowledged, and one of them is out of order; so is m2 when "
        "the refused record, which was produced before it, appears behind it."
    ),
    basis=Basis.DOCUMENTED,
    examined=by("doctored_runs:ANOMALIES_ARE_COUNTED"),
)

SCENARIOS = (ANOMALIES,)
