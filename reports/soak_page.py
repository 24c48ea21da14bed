"""How does the page of a soak come about? From its directory, one file without script, small whatever was sent."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from conformance.layout import size_words
from conformance.record.directory import cleaned
from conformance.record.ledger import NOT_SENT
from conformance.record.soak import FAULTS_FILE, read_soak
from conformance.record.soak_counted import CLASS_MEANS, CLASSES, OF_NOTE, ClassCounted, ComparedAs, read_counted
from conformance.record.soak_faults import FaultTimeline, read_faults
from conformance.record.soak_prediction import read_soak_prediction
from conformance.record.soak_verdict import ApartAs, read_soak_verdict
from conformance.record.verdict import Conformance, PromiseKept
from oracle.vocabulary import ProduceOutcome
from reports.course_picture import LEFT, WIDTH
from reports.html import breakable, style_sheet, template_environment
from reports.overview import duration_words
from reports.soak_picture import soak_picture
from reports.soak_ranges import acks_word, ranges_of
from reports.verdict_words import CONFORMANCE_LOOKS, PROMISE_LOOKS
from reports.version_matrix import column_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.record.directory import RunDirectory
    from conformance.record.soak import Soak
    from conformance.record.soak_counted import SoakCounted, SoakPartition, SoakRecord
    from conformance.record.soak_verdict import SoakVerdict

PAGE = "report.html"
NS = 1_000_000_000
SAMPLES_SHOWN, PARTITIONS_SHOWN, NOTES_SHOWN, PLANNED_SHOWN, ERRORS_SHOWN = 5, 200, 40, 5, 12
DEEDS_SHOWN, DEEDS_OPEN = 500, 20
WITHOUT_ANSWER = {
    Conformance.DEVIATES: "The brokers did something that is not predicted of their release",
    Conformance.INCONCLUSIVE: "This soak decides nothing",
    Conformance.HARNESS_ERROR: "The tester failed; this says nothing about Kafka",
    Conformance.NOT_RUN: "Nothing was run",
}
ANSWERS = {
    PromiseKept.KEPT: "Every acknowledged record is there, as predicted",
    PromiseKept.ALLOWED_BY_SETTINGS: "Records are lost, exactly those predicted, and no setting promised to keep them",
    PromiseKept.BROKEN_AS_PREDICTED: "Acknowledged records are lost, exactly those predicted of this release",
    PromiseKept.BROKEN: "Records are lost that the settings promise to keep",
    PromiseKept.NO_PROMISE: "Every record became what was predicted",
}
CONFORMANCE_MEANS = {
    Conformance.CONFORMS: "Every record is in the class and at the offset that the rules of the release predict.",
    Conformance.DEVIATES: "The topic or the wire shows what the rules of the release rule out.",
    Conformance.INCONCLUSIVE: "Too much is open, or what was counted does not add up: no answer.",
}
JUDGED_WORDS = {
    ComparedAs.PREDICTED: "as predicted",
    ComparedAs.EITHER: "left open",
    ComparedAs.AGAINST: "against the prediction",
}


APART_WORDS = {
    ApartAs.PREDICTED: "differ, as predicted",
    ApartAs.EITHER: "differ, where it is open whether they do",
    ApartAs.NOT_THERE: "are alike, against the prediction",
    ApartAs.AGAINST: "differ, against the prediction",
}
APART_LOOKS = {ApartAs.PREDICTED: "good", ApartAs.EITHER: "open", ApartAs.NOT_THERE: "bad", ApartAs.AGAINST: "bad"}
SHOWN_OF_REPLICAS = 20


def write_soak_page(run: RunDirectory) -> Path:
    """Write the page of a soak that was judged.

    Raises:
        RunDirectoryError: a file of it cannot be read.
    """
    soak, verdict = cleaned(read_soak(run)), cleaned(read_soak_verdict(run))
    counted, prediction = cleaned(read_counted(run)), cleaned(read_soak_prediction(run))
    ranges = ranges_of(run, soak)
    environment = template_environment()
    environment.filters |= {"many": "{:,}".format, "duration": duration_words, "upper_first": _upper_first}
    environment.filters |= {"acks": acks_word, "breakable": breakable, "size": size_words}
    page = environment.get_template("soak.html.j2").render(
        soak=soak,
        line=column_words(soak.version, soak.metadata),
        repeat=repeat_command(soak, _faults(run)),
        prediction=prediction,
        rules=column_words(*prediction.rules_of.split(" ", 1)),
        ranges=ranges,
        picture=soak_picture(run, soak, ranges.partitions),
        of_note=OF_NOTE,
        size={"width": WIDTH, "left": LEFT},
        css=style_sheet("report.css", "picture.css", "soak.css"),
        **_answered(verdict, counted),
        **_counted(counted),
        **_replicas(counted, verdict),
        **_left_out(run, verdict),
        **_lasted(soak),
    )
    path = run.path / PAGE
    path.write_text(page, encoding="utf-8")
    return path


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _answered(verdict: SoakVerdict, counted: SoakCounted) -> dict[str, object]:
    """Return both answers in words."""
    acknowledged, lost = counted.told(ProduceOutcome.ACKNOWLEDGED), counted.total("lost").records
    kept = f"{lost:,} of {acknowledged:,} acknowledged records are lost"
    return {
        "verdict": verdict,
        "headline": WITHOUT_ANSWER.get(verdict.conformance) or ANSWERS[verdict.promise],
        "conformance": CONFORMANCE_LOOKS[verdict.conformance],
        "conformance_means": CONFORMANCE_MEANS.get(verdict.conformance, ""),
        "promise": PROMISE_LOOKS[verdict.promise],
        "promise_reason": kept if verdict.findings else "",
        "notes": verdict.faults.notes[:NOTES_SHOWN],
        "more_notes": len(verdict.faults.notes[NOTES_SHOWN:]),
        "deeds_shown": DEEDS_SHOWN,
        "deeds_open": DEEDS_OPEN,
    }


def _counted(counted: SoakCounted) -> dict[str, object]:
    """Return the classes with records first, then those without; and some of the records."""
    totals = [(name, counted.total(name)) for name in CLASSES]
    return {
        "counted": counted,
        "means": CLASS_MEANS,
        "classes": [one for one in totals if one[1].records],
        "clear": [name for name, total in totals if not total.records],
        "samples": _samples(counted.samples),
        "judged_words": JUDGED_WORDS,
        "partitions": counted.partitions[:PARTITIONS_SHOWN],
        "more_partitions": len(counted.partitions[PARTITIONS_SHOWN:]),
        "against_of": _against_of,
        "none_counted": ClassCounted(),
        "not_sent": counted.errors.get(NOT_SENT, 0),
        "errors": _errors(counted),
        "beside": sum(one.not_predicted for one in counted.partitions),
        "beyond": sum(one.beyond_end for one in counted.partitions),
    }


def _replicas(counted: SoakCounted, verdict: SoakVerdict) -> dict[str, object]:
    """Return what was found in the replicas' logs, the gravest last, and how it is told."""
    logs, judged = counted.replicas, verdict.replicas
    if logs is None or judged is None:
        return {"logs": None}
    return {
        "logs": logs,
        "apart": judged,
        "apart_words": APART_WORDS,
        "apart_looks": APART_LOOKS,
        "apart_counts": [(words, judged.of(name), APART_LOOKS[name]) for name, words in APART_WORDS.items()],
        "tails": logs.lost_tails[:SHOWN_OF_REPLICAS],
        "more_tails": len(logs.lost_tails[SHOWN_OF_REPLICAS:]),
        "unread": logs.unread[:SHOWN_OF_REPLICAS],
        "more_unread": len(logs.unread[SHOWN_OF_REPLICAS:]),
    }


def _errors(counted: SoakCounted) -> list[tuple[str, int]]:
    """Return the errors that producers were told most, with how often."""
    told = [(name, count) for name, count in counted.errors.items() if name != NOT_SENT]
    return sorted(told, key=lambda one: (-one[1], one[0]))[:ERRORS_SHOWN]


def _against_of(one: SoakPartition) -> int:
    return sum(counted.against for counted in one.primary.values()) + one.not_predicted + one.beyond_end


def _samples(samples: Sequence[SoakRecord]) -> list[SoakRecord]:
    """Return the first few of each class: those against the prediction first, then by how grave their class is."""
    taken: Counter[str] = Counter()
    chosen = []
    for one in sorted(
        samples, key=lambda one: (one.judged is not ComparedAs.AGAINST, CLASSES.index(one.classification))
    ):
        taken[one.classification] += 1
        if taken[one.classification] <= SAMPLES_SHOWN:
            chosen.append(one)
    return chosen


def _faults(run: RunDirectory) -> FaultTimeline:
    return read_faults(run) if run.has(FAULTS_FILE) else FaultTimeline()


def _left_out(run: RunDirectory, verdict: SoakVerdict) -> dict[str, object]:
    """Return the first of the faults that never came."""
    planned = _faults(run)
    begun = verdict.faults.begun
    left_out = planned.sentences()[begun : begun + verdict.faults.left_out]
    return {"planned": planned, "left_out": cleaned([one.strip() for one in left_out[:PLANNED_SHOWN]])}


def _lasted(soak: Soak) -> dict[str, object]:
    lasted_s = None if soak.ended_ns is None else (soak.ended_ns - soak.began_ns) / NS
    return {"lasted": duration_words(lasted_s), "end": sum(soak.ends)}


def repeat_command(soak: Soak, faults: FaultTimeline) -> list[str]:
    """Return the command that does the same again: faults that were drawn are drawn again.

    Those of a file are the soak's own, so that its directory is where the command is given. Its parts are to be joined
    by blanks: the command, and each option with its value.
    """
    seed = soak.faults.removeprefix("seed ") if soak.every_s is not None else None
    options = {
        "--kafka": f"{soak.version}/{soak.metadata}",
        "--records": soak.records,
        "--duration": None if soak.duration_s is None else f"{soak.duration_s:g}s",
        "--rate": soak.rate,
        "--partitions": soak.partitions,
        "--replicas": soak.replicas,
        "--min-insync-replicas": soak.min_insync_replicas,
        "--producers": soak.producers,
        "--acks": soak.acks.value,
        "--value-bytes": soak.value_length,
        "--seed": soak.seed,
        "--faults": seed or (FAULTS_FILE if faults.faults else "none"),
        "--every": None if soak.every_s is None else f"{soak.every_s:g}s",
        "--rules-of": soak.rules_of,
    }
    given = [shlex.join([name, str(value)]) for name, value in options.items() if value is not None]
    flags = {"--provoke": soak.is_provoking and seed is not None, "--idempotent": soak.is_idempotent}
    return ["kafka-conformance soak", *given, *(name for name, is_set in flags.items() if is_set)]
