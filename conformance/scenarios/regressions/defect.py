"""What do all regression scenarios have in common? A name and an id made of their issue, and the full profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.scenario import Scenario
from conformance.scenarios.vocabulary import brokers
from conformance.where import EVERYWHERE, Where
from oracle.schedule import Schedule, Settings
from oracle.vocabulary import HighWatermarkCheckpoint, Timing

if TYPE_CHECKING:
    from conformance.questions import Question
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
    timing: Timing = Timing.SESSION,
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT,
    where: Where = EVERYWHERE,
    questions: tuple[Question, ...] = (),
) -> Scenario:
    """Return the regression scenario of an issue.

    Args:
        issue: ``KAFKA-1211`` or ``KIP-966``.
        requirement: what brokers must do, in one sentence that can be disputed.
        explanation: what a reader should look for in the report.
        sources: requirement ids, documents, KIPs and further issues.
        steps: the schedule.
        replicas: assigned replicas, preferred leader first.
        min_insync_replicas: of the topic.
        unclean: whether unclean election is on.
        timing: who removes a silent replica from the ISR.
        checkpointing: whether the high watermark reaches the disk while a broker runs.
        where: the releases that have what the scenario is about.
        questions: what the run must answer besides numbers and records.
    """
    schedule = Schedule(
        id=f"{FAMILY}/{issue.lower()}",
        requirement=requirement,
        sources=(*sources, issue),
        replicas=brokers(*replicas),
        steps=steps,
        settings=Settings(min_insync_replicas, unclean_leader_election=unclean),
        timing=timing,
        checkpointing=checkpointing,
    )
    name = f"{FAMILY}/{issue}"
    return Scenario(name, schedule, explanation, where=where, questions=questions)
