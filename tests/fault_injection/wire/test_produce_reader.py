"""Are Produce requests read as kafka-python reads them, in every version?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fault_injection.wire.codec_schemas import SHIPPED
from fault_injection.wire.headers import request_body_offset, request_header
from fault_injection.wire.produce_reader import VERSION_MAX, is_flexible, read_acks, read_produce_request
from fault_injection.wire.record_batches import epoch_runs
from fault_injection.wire.views import ProducedPartition, ProduceRequestView
from tests.fault_injection.wire.frames_of import TOPIC_ID, produce_request, record_batch

VERSIONS = range(VERSION_MAX + 1)
TRANSACTIONAL_SINCE, TOPIC_IDS_SINCE = 3, 13


def body_offset(frame: bytes, version: int) -> int:
    return request_body_offset(frame, request_header(frame), is_flexible=is_flexible(version))


def read_by_kafka_python(frame: bytes, offset: int, version: int) -> ProduceRequestView:
    message = SHIPPED[0].request.decode(memoryview(frame)[offset:], version=version)
    return ProduceRequestView(
        message.acks,
        message.timeout_ms,
        tuple(
            ProducedPartition(
                topic.name or None,
                topic.topic_id,
                entry.index,
                len(entry.records or b""),
                sum(run.last_offset - (run.first_offset or 0) + 1 for run in epoch_runs(bytes(entry.records or b""))),
            )
            for topic in message.topic_data
            for entry in topic.partition_data
        ),
        message.transactional_id,
    )


@pytest.mark.parametrize("version", VERSIONS)
@given(
    acks=st.sampled_from([-1, 0, 1]),
    transactional_id=st.none() | st.text(max_size=5),
    batches=st.none() | st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.integers(1, 3)), max_size=3),
    cut=st.integers(0, 40),
)
def test_requests_are_read_as_kafka_python_reads_them(
    version: int, acks: int, transactional_id: str | None, batches: list[tuple[int, int]] | None, cut: int
) -> None:
    records = None
    if batches is not None:
        whole = b"".join(record_batch(magic, base_offset=0, values=values) for magic, values in batches)
        records = whole[: max(len(whole) - cut, 0)]
    transactional_id = transactional_id if version >= TRANSACTIONAL_SINCE else None
    frame = produce_request(version=version, records=records, acks=acks, transactional_id=transactional_id)
    offset = body_offset(frame, version)
    assert read_produce_request(frame, offset, version) == read_by_kafka_python(frame, offset, version)
    assert read_acks(frame, offset, version) == acks


@pytest.mark.parametrize("version", [3, 8, 9, VERSION_MAX])
def test_the_producer_of_the_first_batch_is_told(version: int) -> None:
    records = bytearray(record_batch(2, base_offset=0, values=2))
    records[43:57] = (77).to_bytes(8, "big") + (3).to_bytes(2, "big") + (41).to_bytes(4, "big")
    frame = produce_request(version=version, records=bytes(records))
    first, second = read_produce_request(frame, body_offset(frame, version), version).partitions
    assert (first.producer_id, first.producer_epoch, first.base_sequence) == (77, 3, 41)
    assert (first.topic, first.topic_id) == ((None, TOPIC_ID) if version >= TOPIC_IDS_SINCE else ("t", None))
    assert (second.partition, second.record_bytes, second.producer_id) == (1, 0, -1)


@pytest.mark.parametrize("version", [-1, VERSION_MAX + 1])
def test_a_version_that_does_not_exist_is_refused(version: int) -> None:
    for read in (read_produce_request, read_acks):
        with pytest.raises(ValueError, match="does not exist"):
            read(b"", 0, version)


def test_a_length_that_leads_out_of_the_frame_is_refused() -> None:
    frame = bytearray(produce_request(version=8, records=b"12345678"))
    at = frame.index(b"12345678") - 4
    frame[at : at + 4] = (1000).to_bytes(4, "big")
    with pytest.raises(ValueError, match="1000 bytes at"):
        read_produce_request(frame, body_offset(frame, 8), 8)
