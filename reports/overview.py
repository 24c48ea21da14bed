"""What is said of all runs of a page? The facts below the headline, what is imposed, the counts, the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.record.verdict import Conformance
from reports.chapters import round_of
from reports.promises import BROKEN
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS
from reports.version_matrix import age, line_words, metadata_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from reports.chapters import Tally
    from reports.model import RunView


FEW = 4
"""So many different seeds are listed, more are counted."""
NOT_AS_RELEASED = "Not as released"
"""What brokers had that their release has not, such as a jar of another one."""


def releases(runs: Sequence[RunView]) -> dict[str, str]:
    """Return which releases were run, what is not theirs, and whose rules judged them if not their own."""
    known = [run for run in runs if run.kafka != "?"]
    return _told(
        {
            "Kafka": _joined(_release_words(run) for run in sorted(known, key=age)),
            NOT_AS_RELEASED: "; ".join(_unlike_the_release(known)),
            "Judged by": _joined(f"the rules of {run.rules}, not of {run.kafka}" for run in known if run.rules),
        }
    )


def environment(runs: Sequence[RunView]) -> dict[str, str]:
    """Return backend, seed, date, duration and machine, each value once."""
    known = [run for run in runs if run.kafka != "?"]
    started = sorted(run.started for run in known if run.started)
    seconds = sum(run.seconds or 0 for run in runs)
    return _told(
        {
            "Backend": _joined(run.backend for run in known),
            "Seed": _few(run.seed for run in known),
            "Started": started[0].strftime("%-d %B %Y, %H:%M %Z").strip() if started else "",
            "Duration": duration_words(seconds) if seconds else "",
            "Environment": _environment(known),
        }
    )


def _told(found: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in found.items() if value}


def _release_words(run: RunView) -> str:
    own = f", {run.own}" if run.own else ""
    return f"{run.kafka} ({metadata_words(run.metadata)}){own}"


def duration_words(seconds: float | None) -> str:
    """Return seconds as people say them: 14.2 s, 3 min 5 s, or 2 h 5 min."""
    if seconds is None:
        return ""
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 6000:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60} min"


def _joined(values: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(value for value in values if value))


def _few(values: Iterable[str]) -> str:
    different = list(dict.fromkeys(value for value in values if value))
    return ", ".join(different) if len(different) <= FEW else f"{len(different)} different ones"


def _unlike_the_release(runs: Sequence[RunView]) -> list[str]:
    """Return what the brokers had that their release has not; with its releases where the page has several."""
    ordered = sorted(runs, key=age)
    several = len({run.kafka for run in runs}) > 1
    quirks = dict.fromkeys(quirk for run in ordered for quirk in run.quirks)
    releases = {quirk: _joined(run.kafka for run in ordered if quirk in run.quirks) for quirk in quirks}
    return [f"{releases[quirk]}: {quirk}" if several else quirk for quirk in quirks]


def _environment(runs: Sequence[RunView]) -> str:
    """Return what the runs were made on, each name once with all its values."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, value in run.environment.items():
            found.setdefault(name, {})[value] = None
    return ", ".join(f"{name} {' or '.join(values)}" for name, values in found.items())


# Which broker properties does the tester impose on every run of a page, and which on one run alone?


def imposed_on_all(runs: Sequence[RunView]) -> dict[str, str]:
    """Return the properties that all runs have alike; none unless there are several runs to compare."""
    settings = [run.imposed_settings for run in runs if run.imposed_settings]
    if len(settings) < 2:
        return {}
    return {name: value for name, value in settings[0].items() if all(one.get(name) == value for one in settings)}


def imposed_on_run(run: RunView, on_all: Mapping[str, str]) -> dict[str, str]:
    """Return what is imposed on a run besides that."""
    return {name: value for name, value in run.imposed_settings.items() if name not in on_all}


# How is a run told from the others of its page, and how are many of them counted in a line?


def varying(runs: Sequence[RunView]) -> frozenset[str]:
    """Return what the runs of a page differ in: release, backend, round."""
    values: dict[str, set[Any]] = {
        "release": {line_words(one) for one in runs},
        "backend": {one.backend for one in runs if one.backend},
        "round": {round_of(one) for one in runs},
    }
    return frozenset(name for name, different in values.items() if len(different) > 1)


def place_words(run: RunView, different: Collection[str]) -> str:
    """Return release, backend and round of a run, each only if the page has more than one."""
    parts = []
    if "release" in different:
        parts.append(line_words(run))
    if "backend" in different:
        parts.append(run.backend)
    number = round_of(run)
    if number is not None and "round" in different:
        parts.append(f"round {number}")
    return ", ".join(part for part in parts if part)


def tally_words(tally: Tally) -> str:
    """Return how many runs had which verdict, what broke, and the time, in one line."""
    count = len(tally.runs)
    said = [
        f"{CONFORMANCE_LOOKS[word].word.lower()} {tally.conformance[word]}"
        for word in Conformance
        if tally.conformance[word]
    ]
    said += [
        f"promise {PROMISE_LOOKS[word].word.lower()}: {tally.promise[word]}" for word in BROKEN if tally.promise[word]
    ]
    return f"{count} run{'' if count == 1 else 's'}: {', '.join(said)}; {duration_words(tally.seconds)}"


# What do the words of a page mean? One sentence each, for who has not read how Kafka replicates.


GLOSSARY = {
    "log end offset, LEO": "The offset that the next record of a replica's log will have: one more than its last.",
    "high watermark, HW": "The first offset that a replica does not know to be committed; consumers read up to it.",
    "ISR": (
        "The in-sync replicas, as the controller has them: a record is committed once all of them have it, and a clean "
        "election chooses among them."
    ),
    "ELR": (
        "Eligible leader replicas (KIP-966, from Kafka 4.0 on): they left the ISR when it fell below "
        "min.insync.replicas; as nothing is committed then, they miss no committed record, and may be elected cleanly."
    ),
    "leader epoch": (
        "The number of a leadership: it rises with every election, and records carry it from message format 2 "
        "(Kafka 0.11) on."
    ),
    "remote LEO (derived)": (
        "What the leader knows of a follower's log end offset: no broker tells it, so it is taken from the last fetch "
        "that was let through to the leader; none: this leader has seen no fetch of that follower yet."
    ),
    "held, released": "The tester kept a frame from its receiver, and later let it go on.",
    "late": (
        "The tester delivered a held request after its sender's connection had ended: the receiver cannot know that."
    ),
    "discharged": "The connection of a held frame ended, as by a kill of its broker: the frame will never arrive.",
    "lost": "Committed, or acknowledged to its producer, and no longer in the topic.",
    "absent": "Neither committed nor acknowledged, and not in the topic.",
    "article 000 to 004": "The five articles on replication that the catalogue began with.",
}
"""Terms in the order in which a reader needs them; the names are those of tables, pictures and sources."""
