"""Does every partition get its turn, however little fits into an answer?"""

from __future__ import annotations

from conformance.catalogue.examination import Basis, Examination, by
from conformance.catalogue.where import Where

LISTING_PARTITIONS = Examination(
    name="FE-03",
    id="fetchers/no-partition-starves",
    requirement=(
        "A partition that gave records moves to the end of the fetcher's next request, so that however few bytes "
        "an answer may have, every partition progresses at the same pace."
    ),
    sources=("FE-03", "004", "KIP-74"),
    explanation=(
        "Partitions are numbered by their place in the held request. With room for one batch an answer serves the "
        "first partition that has records; the rule makes that 0, 1, 2, and again 0, 1, 2. Fetch sessions are off: "
        "a fetch of a session does not list the partitions, so their order would not show."
    ),
    basis=Basis.COMPUTED,
    examined=by("partition_order:LISTING_PARTITIONS"),
)

IN_A_SESSION = Examination(
    name="FE-03/sessions",
    id="fetchers/no-partition-starves-in-a-session",
    requirement=(
        "In a fetch session the leader moves a partition that gave records to the end of its order, so that "
        "however few bytes an answer may have, every partition progresses."
    ),
    sources=("FE-03", "004", "KIP-74", "KIP-227"),
    explanation=(
        "An incremental request does not show the order, so partitions are numbered as their first records come: "
        "each must come before any comes again. Before 3.0 a partition also moves for a new high watermark alone."
    ),
    where=Where(since="1.1.0", why="fetch sessions (KIP-227)"),
    basis=Basis.COMPUTED,
    examined=by("partition_order:IN_A_SESSION"),
)

SCENARIOS = (LISTING_PARTITIONS, IN_A_SESSION)
