"""How is a broker asked in a test, and what is then predicted that it answers?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill
from oracle.steps.questions import EndOffsetOfEpoch, ListOffsets, SendTo
from oracle.vocabulary import BrokerId, Label, Leadership, MetadataMode, OffsetSpec
from tests.oracle.schedules import ONE, TWO, produce, schedule

if TYPE_CHECKING:
    from oracle.steps.step import Step

Told = list[dict[str, Any]]
LATEST, EARLIEST = ListOffsets(OffsetSpec.LATEST), ListOffsets(OffsetSpec.EARLIEST)
TWICE: tuple[Step, ...] = (produce("m0"), Kill(ONE), produce("m1", "m2"))


def answers(*steps: Step, kafka: str = "3.9.2", replicas: tuple[BrokerId, ...] = (ONE, TWO), min_isr: int = 1) -> Told:
    metadata = MetadataMode.KRAFT if kafka.startswith("4") else MetadataMode.ZOOKEEPER
    prediction = predict(schedule(*steps, replicas=replicas, min_isr=min_isr), rules_for(kafka, metadata))
    return [told["answer"] for told in prediction.as_json().get("answers", ())]


def leadership(
    ordinal: int, broker: BrokerId | None = None, current: Leadership | None = None, version: int | None = None
) -> EndOffsetOfEpoch:
    return EndOffsetOfEpoch(Leadership(ordinal), broker, current, version)


def claims(version: int | None = None) -> list[EndOffsetOfEpoch]:
    return [leadership(0, current=Leadership(n), version=version) for n in range(3)]


def sent(label: str, broker: int, acks: int) -> SendTo:
    return SendTo(Label(label), ONE if broker == 1 else TWO, acks)
