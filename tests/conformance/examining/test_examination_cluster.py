"""Is a stand's trace whole after the examination, and its cluster used again only if that went well?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from conformance.examining.examination_cluster import examination_cluster
from conformance.record.directory import RunDirectory

if TYPE_CHECKING:
    from pathlib import Path

    from conformance.examining.context import ExaminationContext


@dataclass
class Place:
    """As much of a context, its pool and its gate as an examination cluster uses; notes what is asked of them."""

    run: RunDirectory
    asked: list[str] = field(default_factory=list)

    @property
    def cluster_pool(self) -> Place:
        return self

    @property
    def gate(self) -> Place:
        return self

    def cluster_of(self, spec: object) -> object:
        self.asked.append("cluster")
        return spec

    def discard_cluster(self) -> None:
        self.asked.append("discard")

    def trace_to(self, path: Path) -> None:
        self.asked.append(path.name)

    def end_trace(self) -> None:
        self.asked.append("end")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(RunDirectory(tmp_path))


def test_the_trace_is_ended_and_the_cluster_kept(place: Place) -> None:
    with examination_cluster(cast("ExaminationContext", place), cast("Any", "a cluster")) as given:
        assert given.cluster == cast("Any", "a cluster")
        assert place.asked == ["cluster", "wire.ndjson"]

    assert place.asked == ["cluster", "wire.ndjson", "end"]


@pytest.mark.parametrize("failure", [AssertionError, KeyboardInterrupt, GeneratorExit])
def test_a_cluster_on_which_an_examination_failed_is_not_used_again(place: Place, failure: type[BaseException]) -> None:
    with pytest.raises(failure), examination_cluster(cast("ExaminationContext", place), cast("Any", "a cluster")):
        raise failure

    assert place.asked[-1] == "discard"
