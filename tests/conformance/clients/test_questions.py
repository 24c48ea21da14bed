"""Can every question be written down in every version that a release speaks, and its answer be read?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.clients.questions import API_KEYS, EpochEndAnswer, Fetched, FetchLimits, Listed, Questioner
from fault_injection.puppets.connection import CLIENT_MESSAGES, PuppetConnection, built, request_frame
from oracle.rules.by_version import rules_for
from oracle.rules.request_versions import versions
from oracle.vocabulary import ClientRequest, MetadataMode

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST = {ClientRequest.FETCH: 3, ClientRequest.LIST_OFFSETS: 1, ClientRequest.OFFSETS_FOR_LEADER_EPOCH: 0}
"""Of the oldest release that is tested."""
NEWEST = rules_for("4.3.1", MetadataMode.KRAFT)
VERSIONS = [(one, version) for one in ClientRequest for version in range(OLDEST[one], versions(one, NEWEST)[-1] + 1)]
ASK: dict[ClientRequest, Callable[[Questioner], object]] = {
    ClientRequest.FETCH: lambda questioner: questioner.fetch(0, FetchLimits(reads_committed=True)),
    ClientRequest.LIST_OFFSETS: lambda questioner: questioner.list_offset(-1, reads_committed=True),
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: lambda questioner: questioner.epoch_end(3, 4),
}
REFUSED = {
    ClientRequest.FETCH: {"partition_index": 0, "error_code": 1, "high_watermark": -1, "records": None},
    ClientRequest.LIST_OFFSETS: {"partition_index": 0, "error_code": 5, "offset": -1},
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: {"partition": 0, "error_code": 74, "leader_epoch": -1, "end_offset": -1},
}
TOLD = {
    ClientRequest.FETCH: Fetched("OFFSET_OUT_OF_RANGE", (), None),
    ClientRequest.LIST_OFFSETS: Listed("LEADER_NOT_AVAILABLE", None),
    ClientRequest.OFFSETS_FOR_LEADER_EPOCH: EpochEndAnswer("FENCED_LEADER_EPOCH", None, None),
}


def answered(request: ClientRequest, version: int) -> Any:  # noqa: ANN401 - kafka-python is untyped
    part = REFUSED[request]
    topics = {"responses": [{"topic": "t", "partitions": [part]}]}
    if request is ClientRequest.LIST_OFFSETS:
        topics = {"topics": [{"name": "t", "partitions": [part]}]}
    elif request is ClientRequest.OFFSETS_FOR_LEADER_EPOCH:
        topics = {"topics": [{"topic": "t", "partitions": [part]}]}
    response = CLIENT_MESSAGES[API_KEYS[request]].response
    return response.decode(bytes(built(response, version, topics).encode(version=version)), version=version)


@pytest.mark.parametrize(("request_name", "version"), VERSIONS)
def test_a_question_in_every_version(
    request_name: ClientRequest, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(_: PuppetConnection, api_key: int, values: dict[str, Any], asked: int) -> Any:  # noqa: ANN401
        assert request_frame(CLIENT_MESSAGES[api_key], asked, values, 1, "c")
        return answered(request_name, asked)

    monkeypatch.setattr(PuppetConnection, "newest_version", lambda *_: 99)
    monkeypatch.setattr(PuppetConnection, "ask", ask)
    assert ASK[request_name](Questioner("127.0.0.1:1", "t", version)) == TOLD[request_name]


def test_the_newest_version_that_matters_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def ask(_: PuppetConnection, __: int, ___: dict[str, Any], version: int) -> Any:  # noqa: ANN401
        asked.append(version)
        return answered(ClientRequest.FETCH, version)

    monkeypatch.setattr(PuppetConnection, "ask", ask)
    for newest in (11, 99):
        monkeypatch.setattr(PuppetConnection, "newest_version", lambda *_, newest=newest: newest)
        Questioner("127.0.0.1:1", "t").fetch(0)
    assert asked == [11, 12]
