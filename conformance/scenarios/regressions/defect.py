"""What do all regression scenarios have in common? A name and an id made of their issue, and the full profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.catalogue.scenario import Scenario
from conformance.catalogue.where import EVERYWHERE, Where
from conformance.scenarios.vocabulary import brokers
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import HighWatermarkCheckpoint, Timing

if TYPE_CHECKING:
    from conformance.catalogue.questions import Question
    from oracle.steps import Step

FAMILY = "regressions"


def regression(  # noqa: PLR0913 - what a scenario has, each with a name
    issue: str,
    *,
    requirement: str,
    explanation: str,
    sources: tuple[str, ...],
    steps: tuple[Step, ...],
    replicas: tuple[int, ...] = (1, 2),
    min_insync_replicas: int = 1,
    unclean: bool = False,
    message_format: str | None = None,
    timing: Timing = Timing.SESSION,
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT,
    where: Where = EVERYWHERE,
    questions: tuple[Question, ...] = (),
) -> Scenario:
    """Return the regression scenario of an issue, such as ``KAFKA-1211``; the rest is a scenario's and a schedule's."""
    schedule = Schedule(
        id=f"{FAMILY}/{issue.lower()}",
        requirement=requirement,
        sources=(*sources, issue),
        replicas=brokers(*replicas),
        steps=steps,
        settings=Settings(min_insync_replicas, unclean, message_format_version=message_format),
        timing=timing,
        checkpointing=checkpointing,
    )
    name = f"{FAMILY}/{issue}"
    return Scenario(name, schedule, explanation, where=where, questions=questions)
