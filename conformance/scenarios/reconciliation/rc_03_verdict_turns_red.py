"""Does whatever is doctored turn the verdict red: the topic, the ledger, the prediction, the release's rules?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

DOCTORED = Examination(
    name="RC-03",
    id="reconciliation/doctoring-turns-the-verdict-red",
    requirement=(
        "A doctored topic, a doctored ledger and the rules of another release each turn the verdict red, and a "
        "prediction that was changed after it was frozen is refused."
    ),
    sources=("RC-03", "TR-02"),
    explanation=(
        "TR-02 ends otherwise on 0.10.2 than on every later release, so each release is judged by rules that are "
        "wrong for it: m1 is there although they lose it, or lost although they keep it. The copy that is not "
        "doctored conforms: what turns the others red is the doctoring."
    ),
    examined=by("doctored_runs:DOCTORING_IS_SEEN"),
)

SCENARIOS = (DOCTORED,)
