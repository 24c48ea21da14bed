"""Does the machine format have every documented key, of the documented kind?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from oracle.predict import predict
from oracle.rules.by_version import rules_for
from oracle.steps.brokers import Kill, Start
from oracle.steps.topic import Alter
from oracle.steps.waits import AwaitIsr
from oracle.vocabulary import Fate, MetadataMode, ProduceOutcome
from tests.conformance.selected import select_scenarios
from tests.oracle.schedules import ONE, TWO, schedule

if TYPE_CHECKING:
    from oracle.prediction import Prediction

PREDICTION = "format scenario kafka metadata rules checkpoints records logs diverged steps races assumed alternatives"
MOMENT = "step name replicas leader leadership isr elr remote_log_end_offsets"
NUMBERS = "log_end_offset high_watermark alive"
RECORD = "id label fate was_committed outcome error offset leadership acks decided_by promise promise_reason"
LOGGED = "offset label leadership"
FOUNDATION = select_scenarios(profile="quick")
PROMISES = {"kept", "allowed_by_settings", "broken", "none"}


@pytest.fixture(params=FOUNDATION, ids=lambda scenario: scenario.name)
def prediction(request: pytest.FixtureRequest) -> Prediction:
    return predict(request.param.schedule, rules_for("0.10.2.2", MetadataMode.ZOOKEEPER))


def test_every_key_is_there(prediction: Prediction) -> None:
    document = json.loads(json.dumps(prediction.as_json()))
    assert list(document) == PREDICTION.split()
    for moment in (*document["checkpoints"], *document["steps"]):
        assert list(moment) == MOMENT.split()
        assert all(list(numbers) == NUMBERS.split() for numbers in moment["replicas"].values())
    assert all(list(record) == RECORD.split() for record in document["records"])
    assert all(list(logged) == LOGGED.split() for log in document["logs"].values() for logged in log)


def test_values_are_of_their_kind(prediction: Prediction) -> None:
    document = prediction.as_json()
    labels = [record["label"] for record in document["records"]]
    assert [record["id"] for record in document["records"]] == list(range(len(labels)))
    for record in document["records"]:
        assert record["fate"] in set(Fate)
        assert record["outcome"] in set(ProduceOutcome)
        assert record["acks"] in (-1, 0, 1)
        assert record["promise"] in PROMISES
        assert (record["offset"] is not None) == (record["fate"] == "present")
        assert record["decided_by"]
    assert all(logged["label"] in labels for log in document["logs"].values() for logged in log)


@pytest.mark.parametrize(("version", "left"), [("4.0.2", None), ("4.1.2", [2])])
def test_who_cannot_register_again_is_told(version: str, left: list[int] | None) -> None:
    """The old minimum made broker 2 an eligible leader replica, and the new one clears that, but for the index."""
    steps = (Kill(TWO), Alter(min_insync_replicas=1), Start(TWO), AwaitIsr((ONE, TWO)))
    document = predict(
        schedule(*steps, replicas=(ONE, TWO), min_isr=2), rules_for(version, MetadataMode.KRAFT)
    ).as_json()
    assert document.get("unregistrable") == left


def test_divergence_names_the_replicas() -> None:
    (scenario,) = (scenario for scenario in FOUNDATION if scenario.name == "TR-03")
    document = predict(scenario.schedule, rules_for("0.10.2.2", MetadataMode.ZOOKEEPER)).as_json()
    assert document["diverged"] == [{"offset": 1, "replicas": {"1": "m1", "2": "x1"}}]
