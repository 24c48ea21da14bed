"""Is every record accounted for, and is every kind of anomaly found and counted apart?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by

SCENARIOS = (
    Examination(
        name="RC-01",
        id="reconciliation/every-record-is-joined",
        requirement=(
            "Every record that was produced is joined with the prediction that was frozen before the topic was read, "
            "and falls into exactly one class."
        ),
        sources=("RC-01",),
        explanation="The run is kept below this one; its counts are compared with what the model says of its records.",
        examined=by("reconciliation.counts:EVERY_RECORD_IS_JOINED"),
    ),
    Examination(
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
        examined=by("reconciliation.counts:ANOMALIES_ARE_COUNTED"),
    ),
)
