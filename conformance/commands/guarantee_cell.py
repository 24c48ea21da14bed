"""``guarantees --acks … --min-isr …``: what may settings lose on a release, by which crash, and how is it shown?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import entry_prediction, release_options
from conformance.commands.predicted_promise import promise_line
from conformance.registry import select
from conformance.scenarios.election.el_03_settings import REPLICAS, WITH_POWER_FAILURE
from conformance.scenarios.election.el_03_settings import SettingsCombination as InCatalogue
from oracle.brokers.guarantee_table import release_name
from oracle.brokers.lifting import schedule_of_cell
from oracle.brokers.questions import Faults
from oracle.guarantees import PromiseVerdict, promise_of
from oracle.predict import predict
from oracle.rules.unclean_election import heeded, why_unheeded
from oracle.vocabulary import ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.console import Console
    from oracle.brokers.answers import SearchAnswer, SearchResult
    from oracle.brokers.questions import GuaranteeCell
    from oracle.rules.rule_set import RuleSet
    from oracle.schedule import Schedule


GONE = (PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS)
NO_PROMISE = "acks=0: nothing is acknowledged, and nothing promised"


@dataclass(frozen=True, slots=True)
class Choices:
    """What was asked: settings of a topic and its producers on one release.

    Attributes:
        faults: kinds of faults; all unless one was named.
        answers: what the table has for each kind.
        defaults: the settings that were not named, and are looked at with their default, such as ``min.isr=1``.
    """

    rules: RuleSet
    cells: Sequence[GuaranteeCell]
    answers: Mapping[GuaranteeCell, SearchAnswer]
    defaults: Sequence[str] = ()

    @property
    def one(self) -> GuaranteeCell:
        """Any of the cells: they differ in their faults only."""
        return self.cells[0]

    @property
    def is_unclean_unheeded(self) -> bool:
        """Return whether unclean election is allowed by a setting that the release never looks at."""
        return self.one.unclean and heeded(self.rules.election) is not self.rules.election

    @property
    def in_catalogue(self) -> InCatalogue:
        """Return the cell of EL-03 with these settings."""
        return InCatalogue(self.one.acks_word, self.one.min_isr, self.one.unclean, self.one.replicas)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What the catalogue has of it: the worst that kills can do, and a power failure if that is more."""
        if self.one.replicas not in REPLICAS:
            return ()
        cell = self.in_catalogue
        after_power = any(one.faults is Faults.POWER_FAILURE for one in self.cells) and cell in WITH_POWER_FAILURE
        after_kills = not after_power or len(self.cells) > 1
        names = [cell.after_kills] * after_kills + [cell.after_power_failure] * after_power
        return tuple(select(names))


@dataclass(frozen=True, slots=True)
class _Story:
    """What a schedule shows.

    Attributes:
        steps: in words.
        decided_by: of each record that is lost.
        promise: the verdict of its prediction.
    """

    steps: tuple[str, ...]
    decided_by: tuple[str, ...]
    promise: str

    @property
    def lines(self) -> tuple[str, ...]:
        """Return it for a person to read."""
        numbered = (f"{number:2}. {step}" for number, step in enumerate(self.steps, start=1))
        return tuple(f"  {line}" for line in (*numbered, *self.decided_by, self.promise))


def show_cell(console: Console, choices: Choices) -> int:
    """Print what the settings promise, what they may lose by which crash, and the commands that show it."""
    if console.as_json:
        console.answer_json(_as_json(choices))
    else:
        for line in _lines(choices):
            console.answer(line)
    return 0


def faults_word(faults: Faults) -> str:
    """Return a kind of faults as ``--faults`` takes it, such as ``power-failure``."""
    return faults.name.lower().replace("_", "-")


def _as_json(choices: Choices) -> dict[str, Any]:
    found = {cell.faults.value: _fault_as_json(choices, cell) for cell in choices.cells}
    return {
        "release": release_name(choices.rules),
        "settings": choices.one.settings,
        "defaults": list(choices.defaults),
        "promise": _promise(choices),
        "faults": found,
        "entries": [{"name": entry.name, "predicted": _predicted(entry, choices)} for entry in choices.entries],
    }


def _fault_as_json(choices: Choices, cell: GuaranteeCell) -> dict[str, Any]:
    """Return what the table has for a kind of faults, and the schedule that shows it."""
    found = choices.answers[cell]
    schedule = schedule_of_cell(choices.rules, cell, found)
    story = None if schedule is None else asdict(_story(schedule, choices.rules))
    lost, broken = (None if one is None else _result_as_json(one) for one in (found.lost, found.broken))
    return {"says": extent(cell, found, schedule), "lost": lost, "broken": broken, "shown": story}


def _result_as_json(result: SearchResult) -> dict[str, Any]:
    values = {field.name: getattr(result, field.name) for field in fields(result) if field.name != "schedule"}
    return {**values, "steps": result.steps}


def _lines(choices: Choices) -> Iterator[str]:
    yield f"{choices.one.settings} on Kafka {choices.rules.version} ({choices.rules.metadata.value})"
    if choices.defaults:
        yield f"not named, so by default: {' '.join(choices.defaults)}"
    yield f"promised: {_promise(choices)}"
    if choices.is_unclean_unheeded:
        yield f"unclean=on changes nothing: {why_unheeded(choices.rules.version)}"
    told: dict[_Story, str] = {}
    for cell in choices.cells:
        yield ""
        yield from _lines_of_faults(choices, cell, told)
    release = release_options(choices.rules)
    for entry in choices.entries:
        crash = "power failure" if entry.name == choices.in_catalogue.after_power_failure else "crash"
        yield ""
        yield f"The catalogue's {crash} for these settings, on brokers: kafka-conformance run {entry.name} {release}"
        yield f"  predicted {_predicted(entry, choices)}"
        yield f"  its steps: kafka-conformance explain {entry.name} {release}"


def _lines_of_faults(choices: Choices, cell: GuaranteeCell, told: dict[_Story, str]) -> Iterator[str]:
    """Yield what a kind of faults can do; the steps only if no kind before has told the same."""
    found = choices.answers[cell]
    schedule = schedule_of_cell(choices.rules, cell, found)
    yield f"{cell.faults.value}: {extent(cell, found, schedule)}"
    if schedule is None:
        return
    story = _story(schedule, choices.rules)
    if story in told:
        yield f"  by the same steps as with {told[story]}"
        return
    told[story] = cell.faults.value
    yield from story.lines
    yield from _command(choices, cell)


def _promise(choices: Choices) -> str:
    return promise_of(choices.one.acks, ProduceOutcome.ACKNOWLEDGED) or NO_PROMISE


def _predicted(entry: Entry, choices: Choices) -> str:
    """Return what becomes of the promise in an entry of the catalogue."""
    told = entry_prediction(entry, choices.rules)
    return promise_line(told.prediction) if told.prediction is not None else f"not run: {told.not_run}"


def extent(cell: GuaranteeCell, found: SearchAnswer, schedule: Schedule | None) -> str:
    """Return whether an acknowledged record can be lost, and whether that is allowed.

    Args:
        cell: what was asked.
        found: the answer of the cell that was searched.
        schedule: what shows the loss; None if there is none.
    """
    if found.lost is None or cell == cell.searched:
        return _extent(cell, found, schedule)
    searched = cell.searched.replicas
    if found.lost.actions is None:
        return f"RF {cell.replicas} was not searched; {found.lost.none_found(searched)}"
    if schedule is None:
        return (
            f"RF {cell.replicas} was not searched; what loses a record with RF {searched} is not predicted to lose one"
        )
    return f"{_extent(cell, found, schedule)} (a witness of {searched} replicas, lifted; proved by prediction)"


def _extent(cell: GuaranteeCell, found: SearchAnswer, schedule: Schedule | None) -> str:
    if found.lost is None:
        return "nothing is acknowledged"
    if found.lost.actions is None:
        return f"{found.lost.none_found(cell.replicas)} ({found.lost.states:,} states); that is no proof"
    lost = "an acknowledged record can be lost"
    shown = "" if schedule is not None else "; no steps at rest show it"
    if found.broken is not None and found.broken.actions is None:
        broken = found.broken.none_found(cell.searched.replicas)
        return f"{lost}, as the settings allow; promise broken: {broken} ({found.broken.states:,} states){shown}"
    if found.broken is not None:
        return f"{lost}, which BREAKS THE PROMISE{shown}"
    return f"{lost}, as acks=1 allows{shown}"


def _story(schedule: Schedule, rules: RuleSet) -> _Story:
    prediction = predict(schedule, rules)
    why = (f"{one.label}: {one.decided_by}" for one in prediction.records if one.promise.verdict in GONE)
    return _Story(tuple(step.sentence() for step in schedule.steps), tuple(why), promise_line(prediction))


def _command(choices: Choices, cell: GuaranteeCell) -> Iterator[str]:
    """Yield the commands that show on brokers what was told."""
    faults = "" if cell.faults is Faults.KILLS else f" --faults {faults_word(cell.faults)}"
    release = release_options(choices.rules)
    yield "  on brokers:"
    yield f"    kafka-conformance guarantees {release} {choices.one.options}{faults} --write-schedule lost.yaml"
    yield f"    kafka-conformance run --schedule lost.yaml {release}"
