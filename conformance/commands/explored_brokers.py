"""How does ``explore --model Brokers`` search real brokers' half steps? One release, one choice of settings.

A counterexample that can be shown on brokers is written as a schedule for ``run`` if a file is named.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.choosing import Choice, rules_of
from conformance.commands.parser import whole_number
from conformance.schedules.schedule_file import schedule_text
from fault_injection.releases import UsageError
from oracle.brokers.answers import schedule_of
from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.explorer.model import Always, SearchSubject, Sometimes
from oracle.properties import ALWAYS, ASKED, SOMETIMES
from oracle.rules.eligible_leaders import KIP_966
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, HighWatermarkCheckpoint

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from oracle.explorer.model import Exploration
    from oracle.state import FetchInFlight, PartitionState, ReplicaState

NAMES = ("Brokers",)
SWITCHES = (
    ("--unclean", "unclean.leader.election.enable"),
    ("--without-checkpoint", "no high watermark reaches the disk"),
    ("--stops", "brokers also stop gracefully"),
    ("--power-failure", "one broker, once, loses the tail of its log"),
    ("--late-joins", "the controller adds replicas in its own time"),
    ("--late-fetches", "a fetch can reach its leader after its sender has died"),
)
OPTIONS = ("--kafka", "--metadata", "--acks", "--min-isr", *(option for option, _ in SWITCHES), "--write-schedule")
"""What only this model reads; each is None where it is not given."""
ACKS = {"0": Acks.NONE, "1": Acks.LEADER, "all": Acks.ALL}
SAME_REPLICAS = "replicas of Brokers are not alike: elections follow the order of the assignment; leave --symmetry out"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that only the brokers' model reads."""
    options = parser.add_argument_group("model Brokers", "a release's own rules, half step by half step")
    options.add_argument("--kafka", metavar="V", help="release (default: newest)")
    options.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode")
    add_partition(options)
    options.add_argument("--write-schedule", type=Path, metavar="F", help="write what is found as a schedule for `run`")


def add_partition(options: argparse._ActionsContainer) -> None:
    """Add the options that say what the partition is like, and what may happen to it; ``bounds_of`` reads them."""
    options.add_argument("--acks", choices=tuple(ACKS), help="what producers wait for (default: all)")
    minimum = whole_number(1, 99)
    options.add_argument("--min-isr", type=minimum, metavar="N", help="min.insync.replicas (default: 1)")
    for option, what in SWITCHES:
        options.add_argument(option, action="store_const", const=True, help=what)


def subject(parsed: argparse.Namespace) -> SearchSubject[PartitionState]:
    """Return the brokers to search.

    Raises:
        UsageError: symmetry is asked for, which this model does not have.
    """
    if parsed.symmetry:
        raise UsageError(SAME_REPLICAS)
    brokers = _Brokers(rules_of(Choice(kafka=parsed.kafka or "newest", metadata=parsed.metadata)), bounds_of(parsed))

    def conclude(found: Exploration[PartitionState]) -> Iterator[str]:
        if parsed.write_schedule is not None:
            yield _written(brokers, found, parsed.write_schedule)

    return SearchSubject(
        brokers,
        _constants(brokers),
        tuple(Always(name, holds) for name, holds in ALWAYS.items()),
        _lines,
        lambda state: list(_lines(state)),
        further=tuple(Always(name, ASKED[name]) for name in ASKED if name not in ALWAYS),
        sometimes=tuple(
            Sometimes(name, SOMETIMES[name]) for name in SOMETIMES if name not in excluded_coverage(brokers)
        ),
        conclude=conclude,
    )


def excluded_coverage(brokers: Brokers) -> frozenset[str]:
    """Return the places that the release's rules or the settings exclude: that they are never seen is no warning."""
    rules, bounds = brokers.rules, brokers.bounds
    settings, truncation = bounds.settings, rules.truncation
    minimum = rules.effective_min_isr(settings.min_insync_replicas, bounds.replicas)
    elects_last_known_leader = KIP_966 in rules.rules  # from outside the ISR, whatever the settings
    excluded = {
        "unclean election": not settings.unclean_leader_election and not elects_last_known_leader,
        "produce refused": minimum == 1 or bounds.acks is not Acks.ALL,
        "record acknowledged": bounds.acks is Acks.NONE,
        "epoch lookup": not truncation.asks_leader,
        "diverging fetch": not truncation.checks_on_fetch,
    }
    return frozenset(name for name, is_excluded in excluded.items() if is_excluded)


class _Brokers(Brokers):
    """Brokers that count only what can occur."""

    def occurrences(self) -> dict[str, int]:  # type: ignore[explicit-override]  # from Python 3.12 on
        """Return the model's own counts without those of excluded places."""
        excluded = excluded_coverage(self)
        return {name: times for name, times in super().occurrences().items() if name not in excluded}


def bounds_of(parsed: argparse.Namespace) -> SearchBounds:
    """Return what is searched, within which bounds."""
    without = parsed.without_checkpoint
    return SearchBounds(
        replicas=parsed.replicas,
        records=parsed.records,
        epochs=parsed.epochs,
        acks=ACKS[parsed.acks or "all"],
        settings=TopicSettings(parsed.min_isr or 1, bool(parsed.unclean)),
        checkpointing=HighWatermarkCheckpoint.NEVER if without else HighWatermarkCheckpoint.PROMPT,
        stops=bool(parsed.stops),
        power_failure=bool(parsed.power_failure),
        late_joins=bool(parsed.late_joins),
        late_fetches=bool(parsed.late_fetches),
    )


def _constants(brokers: Brokers) -> dict[str, object]:
    bounds = brokers.bounds
    return {
        "kafka": brokers.rules.version,
        "metadata": brokers.rules.metadata.value,
        "replicas": bounds.replicas,
        "records": bounds.records,
        "epochs": bounds.epochs,
        "acks": "all" if bounds.acks is Acks.ALL else int(bounds.acks),
        "min_isr": bounds.settings.min_insync_replicas,
        "unclean": bounds.settings.unclean_leader_election,
        "checkpointing": bounds.checkpointing.value,
        "stops": bounds.stops,
        "power_failure": bounds.power_failure,
        "late_joins": bounds.late_joins,
        "late_fetches": bounds.late_fetches,
    }


def _lines(state: PartitionState) -> Iterator[str]:
    view = state.controller
    yield f"leader {view.leader or 'none'} in epoch {view.leader_epoch}, ISR {{{', '.join(map(str, view.isr))}}}"
    yield from map(_replica_line, state.replicas)


def _replica_line(replica: ReplicaState) -> str:
    records = " ".join(f"{entry.label}/{entry.leader_epoch}" for entry in replica.log.entries)
    state = f"{replica.role.value}, {_link(replica.fetch)}" if replica.alive else "down"
    return f"broker {replica.broker}: [{records}] high watermark {replica.high_watermark}, {state}"


def _link(fetch: FetchInFlight | None) -> str:
    return "no request" if fetch is None else f"{fetch.kind.value} at {fetch.offset} {fetch.stage.value}"


def _written(brokers: Brokers, found: Exploration[PartitionState], out: Path) -> str:
    schedule = schedule_of(brokers, found) if found.path else None
    if schedule is None:
        return f"no schedule is written: {found.verdict.value}, and nothing that steps could show at rest"
    named = replace(schedule, id=f"found/{out.stem}", requirement=f"{found.property_name} holds.")
    comment = f"Found by the explorer under the rules of {brokers.rules.version} ({brokers.rules.metadata.value})."
    out.write_text(schedule_text(named, comment), encoding="utf-8")
    return f"wrote {out}: {len(schedule.steps)} steps"
