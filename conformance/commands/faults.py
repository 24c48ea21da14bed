"""``faults``: what can be done to a cluster, and at which protocol points of a release?"""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

from conformance.commands.parser import add_json
from conformance.line import line_named
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.faults.catalogue import CATALOGUE, points_of, why_no_point
from fault_injection.releases import UsageError
from fault_injection.wire.points import POINTS

if TYPE_CHECKING:
    from conformance.commands.parser import Parser
    from conformance.console import Console
    from fault_injection.faults.catalogue import CatalogueEntry

DESCRIPTION = """Lists every fault: what it does, how it is taken back, and what proves that it fired. A schedule's
steps (see schedule-help) and your own tests inject them; a run's timeline.ndjson says of each when it was armed, when
it fired and on which frame, and when it was healed. A fault that is armed and never fires makes a run a HARNESS_ERROR
that says what was awaited and what came instead. With --kafka also the protocol points at which frames of that release
can be held, dropped, delayed, closed or answered."""
EPILOG = """examples:
  kafka-conformance faults
  kafka-conformance faults --kafka 2.8 --metadata zookeeper   with the protocol points of that release
  kafka-conformance faults --json

in a test of your own:
  with FaultAccount(cluster) as faults:       # healthy before; heals in reverse order however it ends; healthy after
      faults.inject(Kill(1))                  # fault_injection.faults.process
      faults.inject(cut(gate, 1, 2))          # fault_injection.faults.network
"""
FAMILIES = {
    "process": "processes of brokers",
    "disk": "disks of brokers",
    "network": "the network between nodes",
    "frame": "single frames, at protocol points",
}
WIDTH = 100


def add_faults(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    parser.add_argument("--kafka", metavar="V", help="also the protocol points of a release, such as 3.9 or newest")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of that release")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: list_faults(console, a.kafka, a.metadata))


def list_faults(console: Console, kafka: str | None, metadata: str | None) -> int:
    """Print every fault, and the protocol points of a release if one is named.

    Raises:
        UsageError: a release that is not known, a mode that it lacks, or a mode of no release.
    """
    if kafka is None and metadata is not None:
        raise UsageError("--metadata chooses the mode of a release: give --kafka too.")
    spec = None if kafka is None else _spec(kafka, metadata)
    if console.as_json:
        points = None if spec is None else {name: why_no_point(name, spec) or None for name in POINTS}
        console.answer_json({"faults": [asdict(entry) for entry in CATALOGUE], "points": points})
        return 0
    for family, entries in groupby(CATALOGUE, lambda entry: entry.family):
        console.answer(f"Faults of {FAMILIES[family]}:")
        for entry in entries:
            console.answer("\n".join(_told(entry, console.width(WIDTH))))
    if spec is not None:
        console.answer("\n".join(_points(spec)))
    return 0


def _spec(kafka: str, metadata: str | None) -> ClusterSpec:
    line = line_named(kafka, metadata)
    return ClusterSpec(line.release, line.metadata, client_links=True)


def _told(entry: CatalogueEntry, width: int) -> list[str]:
    lines = [entry.does, f"Healed: {entry.heals}", f"Proof: {entry.proof}."]
    where = " and ".join(entry.backends) + " backend" + ("s" if len(entry.backends) > 1 else "")
    lines.append(f"On: {where}, Kafka {entry.since} and newer" + (f"; needs {entry.needs}." if entry.needs else "."))
    wrapped = (line for text in lines for line in textwrap.wrap(text, width - 6, subsequent_indent="  "))
    return [f"  {entry.name}", *(f"      {line}" for line in wrapped)]


def _points(spec: ClusterSpec) -> list[str]:
    mode = spec.metadata_mode.value
    lines = [f"Protocol points of Kafka {spec.release.version} ({mode}):"]
    lines += [f"  {name}" for name in points_of(spec)]
    absent = {name: why_no_point(name, spec) for name in POINTS if name not in points_of(spec)}
    return lines + [f"  (no {name}: {why})" for name, why in absent.items()]
