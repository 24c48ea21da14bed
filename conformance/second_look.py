"""Was it what the cluster had seen before? A finding on a used cluster is tried again on fresh ones.

First alone, in a hunt several times. If it vanishes, after the last runs that came before it, in their order. The
verdict says which of the three reproduced it; the runs made for that lie in ``again/`` of the run's directory.
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
PREDECESSORS_MAX = 20
"""After so many of the runs that came before a finding it is tried again; a cover has a hundred on one cluster."""
REPRODUCED = "reproduced alone on a fresh cluster"
NOT_REPRODUCED = f"not {REPRODUCED}"


class SecondLook:
    """Runs the entries of one call, and looks again at findings on clusters that other runs had used.

    Args:
        left: how many findings may still be tried again; None for all of them.
        tries: how often each is tried alone.
        is_thorough: whether a finding on a fresh cluster is tried again, too.
    """

    def __init__(self, left: int | None = SECOND_LOOKS_MAX, tries: int = 1, *, is_thorough: bool = False) -> None:
        self._left = left
        self._tries = tries
        self._is_thorough = is_thorough
        self._entries: dict[str, Entry] = {}

    def run(self, pipeline: Pipeline, entry: Entry) -> Finished:
        """Run an entry; a finding on a used cluster is tried again, and its verdict says what came of that."""
        return self.look(pipeline, entry, pipeline.run(entry))

    def look(self, pipeline: Pipeline, entry: Entry, finished: Finished) -> Finished:
        """Try a finding again if a used cluster may be its reason; its verdict says what came of that."""
        self._entries[finished.run.path.name] = entry
        before = read_run(finished.run).cluster_runs or ()
        if not _is_finding(finished.verdict) or not (before or self._is_thorough) or self._left == 0:
            return finished
        if self._left is not None:
            self._left -= 1
        again = replace(pipeline, runs=finished.run.path / "again", look=None)
        update_run(finished.run, second_look=self._tried_again(again, entry, before))
        pipeline.cluster_pool.discard_cluster()  # runs that are nobody's predecessors have used it
        return replace(finished, verdict=pipeline.judge(finished.run))

    def _tried_again(self, pipeline: Pipeline, entry: Entry, before: Sequence[str]) -> TriedAgain:
        """Try a finding again; return what run.json says of that."""
        told = self._tried_alone(pipeline, entry, before)
        if told.came_back or not before:
            return told
        before = before[-PREDECESSORS_MAX:]
        pipeline.progress(f"{entry.name}: tried again after the {len(before)} runs that came before it")
        last = _on_fresh_cluster(pipeline, [*(self._entries[name] for name in before if name in self._entries), entry])
        after, repeated = last.verdict, read_run(last.run).cluster_runs or ()
        runs = f"after the runs that came before it on its cluster ({', '.join(before)})"
        vanished = f"{NOT_REPRODUCED} ({told.alone})"
        if len(repeated) < len(before):
            return replace(told, text=f"{vanished}; the runs before it could not be repeated on one cluster")
        seen = "reproduced" if _is_finding(after) else f"nor ({after.conformance.value})"
        return replace(told, after_predecessors=after.conformance.value, text=f"{vanished}, {seen} {runs}")

    def _tried_alone(self, pipeline: Pipeline, entry: Entry, before: Sequence[str]) -> TriedAgain:
        """Try a finding on fresh clusters, as often as each is tried; tell how often it came back."""
        where = "a used cluster, tried again alone on a fresh one" if before else "a fresh cluster, tried again"
        pipeline.progress(f"{entry.name}: a finding on {where}")
        verdicts = [_on_fresh_cluster(pipeline, [entry]).verdict for _ in range(self._tries)]
        found = [verdict for verdict in verdicts if _is_finding(verdict)]
        alone = (found or verdicts)[-1].conformance.value
        often = "" if self._tries == 1 else f", {len(found)} of {self._tries} times"
        text = f"{REPRODUCED}{often}" if found else f"{NOT_REPRODUCED} ({alone}){often}"
        return TriedAgain(tuple(before), alone, text, tries=self._tries, came_back=len(found))


def _is_finding(verdict: Verdict) -> bool:
    return verdict.counted is Conformance.DEVIATES


def _on_fresh_cluster(pipeline: Pipeline, entries: Sequence[Entry]) -> Finished:
    """Run entries in order on a cluster of their own; return the last one."""
    pipeline.cluster_pool.discard_cluster()
    return [pipeline.run(entry) for entry in entries][-1]
