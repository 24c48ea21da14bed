"""How are entries run on one line? In a session: one loop for ``run``, ``matrix`` and pytest.

A session has brokers of the line, one Spark and a few second looks. Leaving it ends them, whatever happened.
"""

from __future__ import annotations

import random
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.cluster_pool import ClusterPool, brokers_for, cluster_kind
from conformance.expectations import accepted_in
from conformance.pipeline import Pipeline
from conformance.reconcile.errors import ReconcileError
from conformance.second_look import SecondLook
from conformance.spark_master import SparkMasterError, is_local
from conformance.spark_thread import SparkThread
from conformance.stages.judging import judged_if_interrupted
from fault_injection.cluster.backends.choice import choose_backend
from fault_injection.releases import NO_JARS, UsageError, jars_of, schema_jar, spark_connector_jars

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from pathlib import Path

    from conformance.catalogue.examination import Entry
    from conformance.expectations import AcceptedFinding
    from conformance.line import Line
    from conformance.pipeline import Finished, Taken
    from conformance.run_options import RunOptions
    from conformance.running.standstill import Look
    from fault_injection.cluster.backend import Backend
    from fault_injection.releases import JarSet

    Progress = Callable[[str], None]
SEED_MAX = 2**31 - 1
PIECE_MIN = 3
"""A lane takes so many entries at least, if there are so many of one cluster: a query costs as much for one."""
TOGETHER = 8
"""So many runs are reconciled in one query, which takes hardly longer than that of one."""


@dataclass(frozen=True, slots=True)
class Task:
    """One entry that is to be run.

    Attributes:
        runs: the directory that gets its run directory.
        name: what people are told that it is.
    """

    entry: Entry
    runs: Path
    name: str


@dataclass(frozen=True, slots=True)
class Session:
    """Runs entries on one line.

    Attributes:
        seed: of the record ids of every run.
        looks: what tries findings on used clusters again.
        accepted: findings that the user accepts.
        look: shows a person a run that stands at a checkpoint.
    """

    cluster_pool: ClusterPool
    spark: SparkThread
    seed: int
    progress: Progress
    looks: SecondLook
    accepted: tuple[AcceptedFinding, ...] = ()
    look: Look | None = None

    def run(self, entry: Entry, runs: Path) -> Finished:
        """Run one entry, its run directory in ``runs``; a finding on a used cluster is tried again."""
        return self.looks.run(self.pipeline(runs), entry)

    def pipeline(self, runs: Path) -> Pipeline:
        """Return what runs single entries, their run directories in ``runs``."""
        return Pipeline(self.cluster_pool, self.spark, runs, self.seed, self.progress, self.accepted, self.look)

    def run_together(self, entries: Iterable[Entry], runs: Path) -> list[Finished]:
        """Run entries one after the other, and reconcile them together; then findings are tried again.

        Args:
            entries: asked for the next one when it is to be run.
            runs: the directory that gets the run directories.
        """
        pipeline = self.pipeline(runs)
        taken: list[Taken] = []
        with judged_if_interrupted(one.run for one in taken):
            for entry in entries:
                taken.append(pipeline.take(entry))  # noqa: PERF401 - whoever interrupts the next one finds this one
        finished = pipeline.finish(taken)
        return [self.looks.look(pipeline, one.entry, found) for one, found in zip(taken, finished, strict=True)]

    def run_all(
        self,
        tasks: Sequence[Task],
        where: str = "",
        failed: Callable[[str, str], None] | None = None,
        begin: Callable[[str], None] | None = None,
    ) -> list[Finished]:
        """Run entries in order, and return those that have a verdict.

        Args:
            tasks: what is to be run.
            where: what progress says before the number of each.
            failed: told where and why an entry has no verdict, after which the others are run; None lets the
                exception go on.
            begin: told of each entry that begins; None if nobody counts them.
        """
        placed = [(f"{where}[{number}/{len(tasks)}]", task) for number, task in enumerate(tasks, start=1)]
        finished: list[Finished] = []
        for first in range(0, len(placed), TOGETHER):
            finished += self._run_some(placed[first : first + TOGETHER], failed, begin)
        return finished

    def _run_some(
        self,
        placed: Sequence[tuple[str, Task]],
        failed: Callable[[str, str], None] | None,
        begin: Callable[[str], None] | None,
    ) -> list[Finished]:
        """Run some tasks, and reconcile them together."""
        taken: list[tuple[str, Task, Taken]] = []
        with judged_if_interrupted(one.run for _, _, one in taken):
            for place, task in placed:
                if begin is not None:
                    begin(task.name)
                self.progress(f"{place} {task.name}: {task.entry.requirement}")
                with _telling(failed, (place, task)):
                    taken.append((place, task, self.pipeline(task.runs).take(task.entry)))
        finished: list[Finished] = []
        with _telling(failed, *((place, task) for place, task, _ in taken)):
            judged = self.pipeline(placed[0][1].runs).finish([one for _, _, one in taken])
            for (place, task, _), found in zip(taken, judged, strict=True):
                with _telling(failed, (place, task)):
                    finished.append(self.looks.look(self.pipeline(task.runs), task.entry, found))
                    self.progress(f"{place} {task.name}: {_words(finished[-1])}")
        return finished


@contextmanager
def _telling(failed: Callable[[str, str], None] | None, *placed: tuple[str, Task]) -> Iterator[None]:
    """Tell where and why tasks have no verdict, if somebody is to be told; else the exception goes on."""
    try:
        yield
    except Exception as error:
        if failed is None:
            raise
        for place, task in placed:
            failed(place, f"{task.name} could not be run: {error!r}")


def _words(finished: Finished) -> str:
    verdict = finished.verdict
    promise = verdict.promise.value if verdict.promise else None
    return verdict_words(verdict.conformance.value, promise, finished.seconds)


def verdict_words(conformance: str, promise: str | None, seconds: float) -> str:
    """Return both verdicts of a run as progress tells them, and how long it took."""
    return f"{conformance}{f' + {promise}' if promise else ''} ({seconds:.1f} s)"


@contextmanager
def session_on(
    line: Line,
    options: RunOptions,
    seed: int,
    progress: Progress,
    words: str,
    shared_brokers: frozenset[int] = frozenset(),
    looks: SecondLook | None = None,
) -> Iterator[Session]:
    """Open a session on a line, and end all that it started when it is left.

    Args:
        line: what is run.
        options: how it is run.
        seed: of the record ids.
        progress: tells people what is going on.
        words: the beginning of the sentence that says where brokers run, and why there.
        shared_brokers: brokers that every schedule's cluster has, as ``ClusterPool`` has it.
        looks: what tries findings again; None for a few second looks at findings on used clusters.

    Raises:
        UsageError: the jars, the backend or Spark cannot be had.
    """
    jars = jars_for(line)
    with ExitStack() as stack:
        spark = stack.enter_context(SparkThread(options.spark_master))
        backend, why = backend_for(options)
        cluster_pool = stack.enter_context(
            ClusterPool(line=line, jars=jars, backend=backend, progress=progress, fetch_sessions=options.fetch_sessions)
        )
        progress(f"{words} {why}")
        spark.start()
        if not is_local(options.spark_master):
            await_spark(progress, spark, options.spark_master)
        cluster_pool.shared_brokers = shared_brokers
        yield Session(cluster_pool, spark, seed, progress, looks or SecondLook(), accepted_in(options.accept))


def seed_of(options: RunOptions) -> int:
    """Return the seed that was asked for, or a new one."""
    return new_seed() if options.seed is None else options.seed


def new_seed() -> int:
    """Return a seed for runs that were given none; it is printed, so that they can be repeated."""
    return random.SystemRandom().randint(1, SEED_MAX)


# What can be had? Asked before anything starts.


def jars_for(line: Line) -> JarSet:
    """Return the jars of a line's Kafka, none if an image brings them, and see to it that all others are there.

    Raises:
        UsageError: some cannot be had.
    """
    own = line.own
    jars = NO_JARS if own is not None and own.image else jars_of(line.release, None if own is None else own.home)
    schema_jar()  # this one and the next are needed later: what cannot be had is a usage error, not a failed run
    spark_connector_jars()
    return jars


def backend_for(options: RunOptions) -> tuple[Backend, str]:
    """Return where brokers run, and why there.

    Raises:
        UsageError: containers are asked for and cannot be had, or there is no Java.
    """
    image = None if options.own is None else options.own.image
    try:
        return choose_backend(options.backend, options.jre_image, image)
    except UsageError as refused:
        if options.backend == "docker" and image is None:
            raise UsageError(f"{refused} --backend process needs no containers.") from refused
        raise


def await_spark(progress: Progress, spark: SparkThread, master: str) -> None:
    """Wait for a Spark that may not be there, before brokers start that would wait for it in vain.

    Raises:
        SparkMasterError: it does not start.
    """
    progress(f"waiting for Spark on {master} (Spark itself gives up after a minute)")
    try:
        spark.await_started()
    except ReconcileError as error:
        why = f"Spark did not start there, as when what listens is no Spark master ({error})"
        raise SparkMasterError(f"--spark-master {master}: {why}") from error


# In which order are entries run, so that those that can share a cluster come one after the other?


def in_running_order(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries with those of one cluster together; else, and within one cluster, in the order given."""
    return tuple(entry for group in _groups(entries) for entry in group)


def in_pieces(entries: Sequence[Entry], lanes: int) -> Iterator[tuple[Entry, ...]]:
    """Yield the entries in running order, in pieces of which each can share a cluster and is reconciled at once.

    Towards the end pieces are smaller, so that no lane has much left when the others have ended.
    """
    left = len(entries)
    for group in map(tuple, _groups(entries)):
        first = 0
        while first < len(group):
            size = min(TOGETHER, max(PIECE_MIN, -(-left // lanes)))
            piece = group[first : first + size]
            first, left = first + len(piece), left - len(piece)
            yield piece


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    groups: dict[Hashable, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(_cluster_of(entry), []).append(entry)
    return list(groups.values())


def _cluster_of(entry: Entry) -> Hashable:
    """Return what two entries must have in common to share a cluster; examinations of one area often do."""
    if isinstance(entry, Scenario):
        return (brokers_for(entry.schedule), *cluster_kind(entry.schedule).values())
    return type(entry.subject).__module__
