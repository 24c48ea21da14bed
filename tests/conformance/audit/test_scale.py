"""Does the benchmark of many topics fail where an audit saw others than were created?"""

from __future__ import annotations

import pytest

from benchmarks.audit_at_scale import check_whole


@pytest.mark.parametrize("seen", [(940, 9400), (1000, 9990), (1001, 10_000)])
def test_figures_of_other_topics_than_were_created_are_refused(seen: tuple[int, int]) -> None:
    topics, partitions = seen
    with pytest.raises(SystemExit, match="were seen; 1000 with 10000 are there"):
        check_whole({"topics": topics, "partitions": partitions}, 1000)


def test_figures_of_all_topics_are_taken() -> None:
    check_whole({"topics": 1000, "partitions": 10_000}, 1000)
