"""Was it what the cluster had seen before? A finding on a used cluster is tried again on fresh ones.

First alone. If it vanishes, after the runs that came before it, in their order. The verdict says which of the three
reproduced it; the runs that were made for that lie in ``again/`` of the run's directory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.record.run import TriedAgain, read_run, update_run
from conformance.record.verdict import Conformance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.catalogue.examination import Entry
    from conformance.pipeline import Finished, Pipeline
    from conformance.record.verdict import Verdict

SECOND_LOOKS_MAX = 3
"""How many findings are tried again in one call of the tester."""


class SecondLook:
    """Runs the entries of one call, and looks again at findings on clusters that other runs had used.

    Args:
        left: how many findings may still be tried again.
    """

    def __init__(self, left: int = SECOND_LOOKS_MAX) -> None:
        self._left = left
        self._entries: dict[str, Entry] = {}

    def run(self, pipeline: Pipeline, entry: Entry) -> Finished:
        """Run an entry; a finding on a used cluster is tried again, and its verdict says what came of that."""
        finished = pipeline.run(entry)
        self._entries[finished.run.path.name] = entry
        before = read_run(finished.run).cluster_runs or ()
        if not _is_finding(finished.verdict) or not before or self._left == 0:
            return finished
        self._left -= 1
        again = replace(pipeline, runs=finished.run.path / "again")
        update_run(finished.run, second_look=self._tried_again(again, entry, before))
        pipeline.cluster_pool.discard_cluster()  # runs that are nobody's predecessors have used it
        return replace(finished, verdict=pipeline.judge(finished.run))

    def _tried_again(self, pipeline: Pipeline, entry: Entry, before: Sequence[str]) -> TriedAgain:
        """Try a finding again; return what run.json says of that."""
        pipeline.progress(f"{entry.name}: a finding on a used cluster, tried again alone on a fresh one")
        alone = _on_fresh_cluster(pipeline, [entry]).verdict
        told = TriedAgain(tuple(before), alone.conformance.value, "reproduced alone on a fresh cluster")
        if _is_finding(alone):
            return told
        pipeline.progress(f"{entry.name}: tried again after the {len(before)} runs that came before it")
        last = _on_fresh_cluster(pipeline, [*(self._entries[name] for name in before if name in self._entries), entry])
        after, repeated = last.verdict, read_run(last.run).cluster_runs or ()
        runs = f"after the runs that came before it on its cluster ({', '.join(before)})"
        vanished = f"not reproduced alone on a fresh cluster ({alone.conformance.value})"
        if len(repeated) < len(before):
            return replace(told, text=f"{vanished}; the runs before it could not be repeated on one cluster")
        seen = "reproduced" if _is_finding(after) else f"nor ({after.conformance.value})"
        return replace(told, after_predecessors=after.conformance.value, text=f"{vanished}, {seen} {runs}")


def _is_finding(verdict: Verdict) -> bool:
    return verdict.counted is Conformance.DEVIATES


def _on_fresh_cluster(pipeline: Pipeline, entries: Sequence[Entry]) -> Finished:
    """Run entries in order on a cluster of their own; return the last one."""
    pipeline.cluster_pool.discard_cluster()
    return [pipeline.run(entry) for entry in entries][-1]
