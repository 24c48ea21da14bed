"""How do one scenario's predictions read? Releases that predict the same share one paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.step import ScheduleError
from oracle.vocabulary import MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from oracle.prediction import Moment, Prediction, RecordPrediction
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule

RELEASES = (
    ("0.10.2.2", MetadataMode.ZOOKEEPER),
    ("0.11.0.3", MetadataMode.ZOOKEEPER),
    ("1.1.1", MetadataMode.ZOOKEEPER),
    ("2.8.2", MetadataMode.ZOOKEEPER),
    ("3.9.2", MetadataMode.ZOOKEEPER),
    ("3.9.2", MetadataMode.KRAFT),
    ("4.3.1", MetadataMode.KRAFT),
)


def golden_text(schedule: Schedule, changed: Callable[[RuleSet], RuleSet] = lambda rules: rules) -> str:
    """Return what every release predicts for a schedule, or would predict under changed rules."""
    releases_of: dict[str, list[str]] = {}
    for version, metadata in RELEASES:
        releases_of.setdefault(_said(schedule, changed(rules_for(version, metadata))), []).append(
            f"{version} {metadata.value}"
        )
    paragraphs = [f"{', '.join(releases)}\n{said}" for said, releases in releases_of.items()]
    return "\n".join([f"# {schedule.id}\n", *paragraphs])


def _said(schedule: Schedule, rules: RuleSet) -> str:
    try:
        lines = list(_lines(predict(schedule, rules)))
    except ScheduleError as refused:
        lines = [f"refused at step {refused.step}, {refused.field}: {refused}"]
    return "".join(f"    {line}\n" for line in lines)


def _lines(prediction: Prediction) -> Iterator[str]:
    for record in prediction.records:
        yield _record(record)
    for moment in prediction.checkpoints:
        yield from _moment(moment)
    for broker, log in prediction.logs.items():
        yield f"log of {broker}: " + (" ".join(f"{r.label}/{r.leadership}" for r in log) or "empty")
    for divergence in prediction.diverged:
        held = ", ".join(f"{broker} has {label}" for broker, label in divergence.labels.items())
        yield f"diverged at {divergence.offset}: {held}"
    yield from (f"race: {race}" for race in prediction.races)


def _record(record: RecordPrediction) -> str:
    offset = "" if record.offset is None else f" at {record.offset}"
    committed = " (was committed)" if record.was_committed else ""
    error = f" ({record.error})" if record.error else ""
    promise = f"promise {record.promise.verdict.value}"
    fate = f"{record.label}: {record.fate.value}{offset}{committed}"
    return f"{fate}, {record.outcome.value}{error}, leadership {record.leadership}, {promise}"


def _moment(moment: Moment) -> Iterator[str]:
    leader = "no leader" if moment.leader is None else f"leader {moment.leader}"
    isr = " ".join(str(broker) for broker in moment.isr)
    elr = " ".join(str(broker) for broker in moment.elr)
    yield f"[{moment.name}]"
    yield f"  {leader}, leadership {moment.leadership}, ISR {{{isr}}}" + (f", ELR {{{elr}}}" if elr else "")
    for broker, numbers in moment.replicas.items():
        remote = moment.remote_log_end_offsets.get(broker)
        known_as = "?" if remote is None else remote
        known = f", known as {known_as}" if broker in moment.remote_log_end_offsets else ""
        down = "" if numbers.alive else ", down"
        yield f"  {broker}: LEO {numbers.log_end_offset} HW {numbers.high_watermark}{known}{down}"
