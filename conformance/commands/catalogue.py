"""``list`` and ``explain``: which scenarios are there, and what does one of them do?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.registry import SCENARIOS, select_scenarios
from conformance.schedule_format import encode
from conformance.step_text import describe
from oracle.steps import MIN_ISR, UNCLEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.console import Console
    from conformance.scenario import Scenario


def list_scenarios(console: Console, globs: Sequence[str]) -> int:
    """Print every scenario with its requirement."""
    scenarios = select_scenarios(globs) if globs else SCENARIOS
    if console.as_json:
        console.answer_json([_as_json(scenario) for scenario in scenarios])
        return 0
    width = max(len(scenario.name) for scenario in scenarios)
    for scenario in scenarios:
        console.answer(f"{scenario.name:{width}}  {scenario.schedule.requirement}")
    return 0


def explain(console: Console, globs: Sequence[str]) -> int:
    """Print what a scenario requires, under which settings, step by step."""
    scenarios = select_scenarios(globs)
    if console.as_json:
        console.answer_json([_as_json(scenario) | {"schedule": encode(scenario.schedule)} for scenario in scenarios])
        return 0
    for scenario in scenarios:
        console.answer("\n".join(_explained(scenario)))
    return 0


def _as_json(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "id": scenario.schedule.id,
        "requirement": scenario.schedule.requirement,
        "sources": list(scenario.schedule.sources),
        "variant": scenario.variant,
        "profiles": list(scenario.profiles),
    }


def _explained(scenario: Scenario) -> list[str]:
    schedule = scenario.schedule
    settings = schedule.settings
    steps = [f"  {number:2}. {describe(step)}" for number, step in enumerate(schedule.steps, start=1)]
    return [
        f"{scenario.name} — {schedule.id}",
        "",
        f"Requirement: {schedule.requirement}",
        f"Sources:     {', '.join(schedule.sources)}",
        f"Replicas:    {', '.join(str(broker) for broker in schedule.replicas)} (the first one leads)",
        (
            f"Settings:    {MIN_ISR}={settings.min_insync_replicas}, "
            f"{UNCLEAN}={str(settings.unclean_leader_election).lower()}"
        ),
        "",
        scenario.explanation,
        "",
        "Steps:",
        *steps,
        "",
        f"Prediction:  kafka-conformance predict {scenario.name} --kafka 4.3.1",
        f"Run:         kafka-conformance run {scenario.name} --kafka 4.3.1",
        "",
    ]
