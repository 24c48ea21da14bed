"""Which record ids are told of records that are sent and fetched, and do they stand where the records do?"""

import json
import struct
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.client_links import relayed_bootstrap
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import find_release, jars_of, schema_jar
from fault_injection.waiting import until
from fault_injection.wire.codec import Codec
from fault_injection.wire.headers import request_header
from fault_injection.wire.proxy import GateProxy
from fault_injection.wire.record_batches import KEY_BYTES, id_batches
from fault_injection.wire.views import FetchResponseView, IdBatch, ProduceRequestView
from tests.fault_injection.wire.frames_of import fetch_response, keyed_batch, produce_request, record_batch
from tests.fault_injection.wire.real_cluster import DEADLINE_S, TOPIC, create_topic

GZIP = 1
MANY = range(4, 104)
"""As many records as a compressor makes smaller."""
OLD = pytest.mark.parametrize("magic", [0, 1])
EVERY = pytest.mark.parametrize("magic", [0, 1, 2])


def key_of(record_id: int) -> bytes:
    return record_id.to_bytes(KEY_BYTES, "big")


def batch(magic: int, *ids: int, base_offset: int = 0, compression: int = 0) -> bytes:
    return keyed_batch(magic, [key_of(one) for one in ids], base_offset=base_offset, compression=compression)


def test_no_records_have_no_ids() -> None:
    assert id_batches(b"") == ()


def test_each_batch_is_told_by_its_first_id_and_step() -> None:
    records = batch(2, 12, 24, 36, base_offset=5) + batch(2, 2**62, base_offset=8)
    assert id_batches(records) == (IdBatch(5, 3, 12, 12), IdBatch(8, 1, 2**62))


def test_a_batch_of_other_keys_is_read_behind_lengths_of_several_bytes() -> None:
    keys = [key_of(7), b"k" * 8_000, key_of(9)]
    records = keyed_batch(2, keys, base_offset=3)
    assert id_batches(records) == (IdBatch(3, 1, 7), IdBatch(4, 1, -1), IdBatch(5, 1, 9))


def test_a_batch_from_which_ids_are_missing_is_told_in_pieces() -> None:
    ids = [*range(0, 600, 6), *range(606, 1800, 6)]
    assert id_batches(batch(2, *ids, base_offset=3)) == (IdBatch(3, 100, 0, 6), IdBatch(103, 199, 606, 6))


@OLD
def test_messages_are_joined_while_ids_grow_by_one_step(magic: int) -> None:
    records = batch(magic, 4, 16, 28, base_offset=2) + batch(magic, 100, 112, base_offset=5)
    assert id_batches(records) == (IdBatch(2, 3, 4, 12), IdBatch(5, 2, 100, 12))


@OLD
def test_messages_are_not_joined_over_a_gap_of_offsets_or_backwards(magic: int) -> None:
    records = batch(magic, 4, base_offset=2) + batch(magic, 5, base_offset=4) + batch(magic, 3, base_offset=5)
    assert id_batches(records) == (IdBatch(2, 1, 4), IdBatch(4, 1, 5), IdBatch(5, 1, 3))


@EVERY
def test_another_key_is_no_id(magic: int) -> None:
    for other in (None, b"", b"1234567", b"123456789"):
        assert id_batches(keyed_batch(magic, [other], base_offset=4)) == (IdBatch(4, 1, -1),)


@OLD
def test_messages_without_an_id_stand_alone(magic: int) -> None:
    records = keyed_batch(magic, [key_of(1), None, None, key_of(2)], base_offset=0)
    assert id_batches(records) == (IdBatch(0, 1, 1), IdBatch(1, 1, -1), IdBatch(2, 1, -1), IdBatch(3, 1, 2))


def test_compressed_records_have_a_count_and_no_id() -> None:
    assert id_batches(batch(2, *MANY, base_offset=3, compression=GZIP)) == (IdBatch(3, len(MANY), -1),)


@OLD
def test_of_a_compressed_message_set_the_wrapper_is_told(magic: int) -> None:
    records = bytearray(batch(magic, *MANY, compression=GZIP))
    struct.pack_into(">q", records, 0, 102)  # the broker gives the wrapper the offset of its last message
    assert id_batches(bytes(records)) == (IdBatch(102, 1, -1),)


@EVERY
def test_an_unfinished_last_batch_is_left_out(magic: int) -> None:
    whole, cut = batch(magic, 4, base_offset=3), batch(magic, 9, base_offset=4)
    for length in range(len(cut)):
        assert id_batches(whole + cut[:length]) == (IdBatch(3, 1, 4),)


def test_a_batch_shorter_than_its_header_is_an_error() -> None:
    with pytest.raises(struct.error):
        id_batches(struct.pack(">qiib", 3, 6, 0, 2) + b"?")


def test_a_key_that_leads_out_of_its_batch_is_no_id() -> None:
    records = bytearray(batch(2, 4, base_offset=3))
    struct.pack_into(">i", records, 8, 61 - 12 + 6)
    assert id_batches(bytes(records[: 61 + 6])) == (IdBatch(3, 1, -1),)


@given(content=st.binary(max_size=200), magic=st.sampled_from([0, 1, 2, 3, 255]))
def test_whatever_follows_a_header_is_read_or_refused(content: bytes, magic: int) -> None:
    records = struct.pack(">qiiB", 3, len(content) + 5, 0, magic) + content
    try:
        assert all(one.base_offset == 3 for one in id_batches(records)[:1])
    except struct.error:
        assert len(records) < 61


def frames() -> Iterator[tuple[bytes, bytes]]:
    """Yield a Produce request and an answer to FETCH, each with the same records."""
    records = batch(2, 4, 5, base_offset=3)
    yield produce_request(version=9, records=records), fetch_response(version=12, records=records)


def test_ids_are_told_only_if_they_are_wanted() -> None:
    ((request, response),) = frames()
    for reads_ids, expected in ((False, ()), (True, (IdBatch(3, 2, 4, 1),))):
        codec = Codec(reads_ids=reads_ids)
        asked, given = codec.request(request_header(request), request), codec.response(1, 12, response)
        assert isinstance(asked, ProduceRequestView)
        assert isinstance(given, FetchResponseView)
        assert (asked.partitions[0].batches, asked.partitions[1].batches) == (expected, ())
        assert given.partitions[0].batches == expected


def test_records_of_another_kind_are_no_trouble() -> None:
    codec = Codec(reads_ids=True)
    request = produce_request(version=9, records=record_batch(2, base_offset=0, values=2))
    view = codec.request(request_header(request), request)
    assert isinstance(view, ProduceRequestView)
    assert view.partitions[0].batches == (IdBatch(0, 2, -1),)


@pytest.mark.broker
@pytest.mark.parametrize("version", ["0.10.2", "4.3"])
def test_ids_of_real_records_stand_where_the_records_do(version: str, tmp_path: Path) -> None:
    lines = lines_of_a_run(version, tmp_path, ids=range(1000, 1400, 4))
    produced = [line for line in lines if line["api"] == "Produce"]
    answers = {frame(line): one for line in produced for one in said(line, "response") if one["error"] == 0}
    sent = [one for line in produced for one in said(line, "request") if frame(line) in answers]
    appended = list(answers.values())
    fetched = [one for line in lines if line["api"] == "Fetch" for one in said(line, "response") if "batches" in one]
    assert ids_of(sent) == ids_of(fetched) == list(range(1000, 1400, 4))
    offsets = [(one["base_offset"], one["count"]) for entry in fetched for one in entry["batches"]]
    assert offsets[0][0] == 0
    assert all(first + count == second for (first, count), (second, _) in pairwise(offsets))
    assert [entry["base_offset"] for entry in appended] == offsets_of(sent)
    assert {
        line["decoded"]["acks"] for line in lines if (line["api"], line["direction"]) == ("Produce", "request")
    } == {-1}


def lines_of_a_run(version: str, directory: Path, ids: range) -> list[dict[str, Any]]:
    """Produce records with these ids through the gate, have them replicated, and return the lines of the trace."""
    release = find_release(version)
    spec = ClusterSpec(release, release.metadata_mode(None), broker_ids=(1, 2), client_links=True)
    backend = ProcessBackend()
    try:
        with GateProxy(backend.host, backend.peers, schemas=schema_jar(), reads_ids=True) as proxy:
            proxy.trace_to(directory / "wire.ndjson")
            with Cluster.start(spec, jars_of(release), backend, proxy, directory / "cluster") as cluster:
                create_topic(cluster, proxy)
                settings = {"acks": "all", "linger.ms": 5, "batch.num.messages": 30, "max.in.flight": 1}
                producer = Producer({"bootstrap.servers": relayed_bootstrap(cluster), **settings})
                for one in ids:
                    producer.produce(TOPIC, key=key_of(one), value=b"v" * 100)
                assert producer.flush(DEADLINE_S) == 0
                until(
                    lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == len(ids),
                    deadline_s=DEADLINE_S,
                    what="the follower has all records",
                )
                assert proxy.undecodable == 0
    finally:
        backend.close()
    return sorted(map(json.loads, (directory / "wire.ndjson").read_text().splitlines()), key=itemgetter("seq"))


def frame(line: dict[str, Any]) -> tuple[int, int]:
    """Return what ties an answer to its request; a broker that does not know yet that it leads refuses some."""
    return line["connection"], line["correlation_id"]


def said(line: dict[str, Any], direction: str) -> list[dict[str, Any]]:
    """Return what a line says of the topic, if it is of that direction."""
    if line["direction"] != direction or line["decoded"] is None:
        return []
    return [entry for entry in line["decoded"].get("partitions", ()) if entry["topic"] == TOPIC]


def ids_of(entries: list[dict[str, Any]]) -> list[int]:
    """Return the ids that batches tell, all of them one step apart."""
    return [
        one["first_id"] + 4 * place for entry in entries for one in entry["batches"] for place in range(one["count"])
    ]


def offsets_of(entries: list[dict[str, Any]]) -> list[int]:
    """Return where the records of each request begin if they are appended one after the other."""
    counts = [entry["record_count"] for entry in entries]
    return [sum(counts[:place]) for place in range(len(counts))]
