"""May a replica outside the ISR lead where nobody has set unclean.leader.election.enable?"""

from __future__ import annotations

from conformance.catalogue.examination import Examination, by

DEFAULT = Examination(
    name="EL-05",
    id="election/default-of-unclean-election",
    requirement=(
        "Where nobody has set unclean.leader.election.enable, a replica outside the ISR leads up to 0.10.2 while "
        "no ISR member is back; from 0.11 on nobody leads until one is."
    ),
    sources=("EL-05", "EL-01", "EL-02", "001", "002"),
    explanation=(
        "Neither the topic nor a broker has the setting. Broker 2 lacks m1 and is the only one back: whether it leads "
        "is the release's default, and so is whether m1 is there in the end."
    ),
    examined=by("default_setting:DEFAULT_SETTING"),
)

SCENARIOS = (DEFAULT,)
