"""``guarantees --acks … --min-isr …``: what may settings lose on a release, by which crash, and how is it shown?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from conformance.commands.choosing import entry_prediction, release_options
from conformance.commands.predicted_promise import promise_line
from conformance.registry import select
from conformance.scenarios.election.el_03_settings import WITH_POWER_FAILURE
from conformance.scenarios.election.el_03_settings import SettingsCombination as InCatalogue
from oracle.brokers.answers import shown
from oracle.brokers.guarantee_table import MAX_STATES, release_name
from oracle.brokers.questions import Faults, question
from oracle.guarantees import PromiseVerdict, promise_of
from oracle.predict import predict
from oracle.rules.unclean_election import heeded, why_unheeded
from oracle.vocabulary import Acks, ProduceOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from conformance.catalogue.examination import Entry
    from conformance.console import Console
    from oracle.brokers.answers import SearchAnswer
    from oracle.brokers.questions import GuaranteeCell
    from oracle.rules.rule_set import RuleSet


GONE = (PromiseVerdict.BROKEN, PromiseVerdict.ALLOWED_BY_SETTINGS)
NO_PROMISE = "acks=0: nothing is acknowledged, and nothing promised"


@dataclass(frozen=True, slots=True)
class Choices:
    """What was asked: settings of a topic and its producers on one release.

    Attributes:
        faults: kinds of faults; all unless one was named.
        answers: what the table has for each kind.
    """

    rules: RuleSet
    cells: Sequence[GuaranteeCell]
    answers: Mapping[GuaranteeCell, SearchAnswer]

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
        promise: the verdict of its prediction; why there is no schedule, if there is none.
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
        "promise": _promise(choices),
        "faults": found,
        "entries": [{"name": entry.name, "predicted": _predicted(entry, choices)} for entry in choices.entries],
    }


def _fault_as_json(choices: Choices, cell: GuaranteeCell) -> dict[str, Any]:
    """Return what the table has for a kind of faults, and the schedule that shows it."""
    story = _story(choices, cell)
    return {**asdict(choices.answers[cell]), "shown": None if story is None else asdict(story)}


def _lines(choices: Choices) -> Iterator[str]:
    yield f"{choices.one.settings} on Kafka {choices.rules.version} ({choices.rules.metadata.value})"
    yield f"promised: {_promise(choices)}"
    if choices.is_unclean_unheeded:
        yield f"unclean=on changes nothing: {why_unheeded(choices.rules.version)}"
    told: dict[_Story, str] = {}
    for cell in choices.cells:
        yield ""
        yield f"{cell.faults.value}: {_extent(cell, choices.answers[cell])}"
        story = _story(choices, cell)
        if story is None:
            continue
        if story in told:
            yield f"  by the same steps as with {told[story]}"
            continue
        told[story] = cell.faults.value
        yield from story.lines
        yield from _command(choices, cell)
    release = release_options(choices.rules)
    for entry in choices.entries:
        crash = "power failure" if entry.name == choices.in_catalogue.after_power_failure else "crash"
        yield ""
        yield f"The catalogue's {crash} for these settings, on brokers: kafka-conformance run {entry.name} {release}"
        yield f"  predicted {_predicted(entry, choices)}"
        yield f"  its steps: kafka-conformance explain {entry.name} {release}"


def _promise(choices: Choices) -> str:
    return promise_of(choices.one.acks, ProduceOutcome.ACKNOWLEDGED) or NO_PROMISE


def _predicted(entry: Entry, choices: Choices) -> str:
    """Return what becomes of the promise in an entry of the catalogue."""
    told = entry_prediction(entry, choices.rules)
    return promise_line(told.prediction) if told.prediction is not None else f"not run: {told.not_run}"


def _extent(cell: GuaranteeCell, found: SearchAnswer) -> str:
    """Return whether an acknowledged record can be lost, and whether that is allowed."""
    if found.lost is None:
        return "nothing is acknowledged"
    if found.lost.actions is None:
        searched = "all there are" if found.lost.is_complete else "then the search gave up"
        return f"no loss found in {found.lost.states} states ({searched}); that is no proof"
    if found.broken is not None and found.broken.actions is None:
        return f"an acknowledged record can be lost, as the settings allow; promise broken: {found.broken.words}"
    if found.broken is not None:
        return "an acknowledged record can be lost, which BREAKS THE PROMISE"
    return f"an acknowledged record can be lost{', as acks=1 allows' if cell.acks is Acks.LEADER else ''}"


def _story(choices: Choices, cell: GuaranteeCell) -> _Story | None:
    """Return the schedule that shows the worst that a search finds, and what is lost by it; None if nothing is."""
    found = choices.answers[cell]
    if found.lost is None or found.lost.actions is None:
        return None
    schedule = shown(question(choices.rules, cell), MAX_STATES[cell.replicas])
    if schedule is None:
        return _Story((), (), "no steps at rest show it")
    prediction = predict(schedule, choices.rules)
    why = (f"{one.label}: {one.decided_by}" for one in prediction.records if one.promise.verdict in GONE)
    return _Story(tuple(step.sentence() for step in schedule.steps), tuple(why), promise_line(prediction))


def _command(choices: Choices, cell: GuaranteeCell) -> Iterator[str]:
    """Yield the commands that show on brokers what was told."""
    faults = "" if cell.faults is Faults.KILLS else f" --faults {faults_word(cell.faults)}"
    release = release_options(choices.rules)
    yield "  on brokers:"
    yield f"    kafka-conformance guarantees {release} {choices.one.options}{faults} --write-schedule lost.yaml"
    yield f"    kafka-conformance run --schedule lost.yaml {release}"
