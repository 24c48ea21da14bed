"""What has been covered of a release so far? One file a release, to which runs add, and which can be merged.

``coverage/4.4.0-kraft.json`` has for each graph, by its bounds, the edges that were held and those that were passed on
the wire only, and over the whole vocabulary what rules decided of steps, each with the runs that did. Counting a run
twice, or merging two files that have it, changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from conformance.hunting.deciding import RuleDecision
from conformance.record.directory import write_whole
from fault_injection.releases import UsageError
from oracle.vocabulary import Acks, HighWatermarkCheckpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from conformance.coverage.counting import RunEdges
    from oracle.brokers.questions import SearchBounds
    from oracle.rules.rule_set import RuleSet

RUNS_MAX = 3
"""So many runs are named of each edge: the first by name, so that merging in any order gives one file."""

Runs = dict[str, tuple[str, ...]]


class CoverageFileError(UsageError):
    """A coverage file cannot be read; the message says where and why."""


@dataclass(slots=True)
class CoveredEdges:
    """The edges of one graph that were covered, each with some of the runs that did."""

    held: Runs = field(default_factory=dict)
    passed: Runs = field(default_factory=dict)


@dataclass(slots=True)
class Covered:
    """What was covered of one release.

    Attributes:
        kafka: the rules, such as ``4.4.0``.
        graphs: by ``graph_name``.
        decisions: each ``RuleDecision`` in one word.
    """

    kafka: str
    metadata: str
    graphs: dict[str, CoveredEdges] = field(default_factory=dict)
    decisions: Runs = field(default_factory=dict)

    @property
    def met(self) -> frozenset[RuleDecision]:
        """Return what rules decided of steps.

        Raises:
            CoverageFileError: the file has what is none.
        """
        try:
            return frozenset(map(RuleDecision.named, self.decisions))
        except ValueError as error:
            message = f"the coverage file of Kafka {self.kafka} has decisions that cannot be read: {error}"
            raise CoverageFileError(message) from error

    def graph(self, name: str) -> CoveredEdges:
        """Return what is covered of a graph."""
        return self.graphs.setdefault(name, CoveredEdges())

    def add(self, name: str, run: str, edges: RunEdges) -> None:
        """Add what a run has been through."""
        graph = self.graph(name)
        _add(graph.held, dict.fromkeys(edges.held, (run,)))
        _add(graph.passed, dict.fromkeys(edges.passed, (run,)))

    def add_decisions(self, run: str, decisions: Iterable[RuleDecision]) -> None:
        """Add what rules decided of a run's steps."""
        _add(self.decisions, dict.fromkeys(map(str, decisions), (run,)))

    def merge(self, other: Covered) -> None:
        """Add what another file has of the same release.

        Raises:
            CoverageFileError: it is of another one.
        """
        if (other.kafka, other.metadata) != (self.kafka, self.metadata):
            raise CoverageFileError(
                f"that file is of Kafka {other.kafka} ({other.metadata}), and not of {self.kafka} ({self.metadata})"
            )
        for name, edges in other.graphs.items():
            _add(self.graph(name).held, edges.held)
            _add(self.graph(name).passed, edges.passed)
        _add(self.decisions, other.decisions)


def _add(known: Runs, more: Mapping[str, Iterable[str]]) -> None:
    for edge, runs in more.items():
        known[edge] = tuple(sorted({*known.get(edge, ()), *runs}))[:RUNS_MAX]


def graph_name(bounds: SearchBounds) -> str:
    """Return what tells the graphs of a release apart, in words."""
    settings = bounds.settings
    options = {
        f"acks={int(bounds.acks)}": bounds.acks is not Acks.ALL,
        f"min.insync.replicas={settings.min_insync_replicas}": settings.min_insync_replicas != 1,
        "unclean": settings.unclean_leader_election,
        "without-checkpoint": bounds.checkpointing is not HighWatermarkCheckpoint.PROMPT,
        "stops": bounds.stops,
        "power-failure": bounds.power_failure,
        "late-joins": bounds.late_joins,
        "late-fetches": bounds.late_fetches,
    }
    sizes = f"replicas={bounds.replicas} records={bounds.records} epochs={bounds.epochs}"
    return " ".join((sizes, *(words for words, is_on in options.items() if is_on)))


def covered_file(directory: Path, rules: RuleSet) -> Path:
    """Return the file of a release."""
    return directory / f"{rules.version}-{rules.metadata.value}.json"


def read_covered(path: Path, rules: RuleSet) -> Covered:
    """Read what was covered of a release; nothing, if there is no file.

    Raises:
        CoverageFileError: the file cannot be read, or is of another release.
    """
    found = Covered(rules.version, rules.metadata.value)
    if path.exists():
        found.merge(read_other(path))
    return found


def read_other(path: Path) -> Covered:
    """Read a coverage file.

    Raises:
        CoverageFileError: it is not there, or none.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Covered)
    except FileNotFoundError as error:
        raise CoverageFileError(f"{path} does not exist: give a file that `coverage` wrote") from error
    except (OSError, msgspec.DecodeError) as error:
        raise CoverageFileError(f"{path} is no coverage file: {error}; name another, or move it away") from error


def write_covered(path: Path, covered: Covered) -> None:
    """Write what was covered, sorted, so that equal coverage is an equal file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, msgspec.json.format(msgspec.json.encode(covered, order="sorted"), indent=1).decode() + "\n")
