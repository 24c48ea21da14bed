"""Do the records of KRaft's metadata log decode? The batches are those that a 4.3 controller wrote."""

from __future__ import annotations

import base64
import json
from uuid import UUID

import pytest

from fault_injection.wire.codec_metadata import metadata_records
from fault_injection.wire.metadata_views import (
    BrokerFencingRecord,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    TopicRecord,
    UnreadableRecord,
)
from fault_injection.wire.trace import as_json
from tests.fault_injection.wire.metadata_batches import batch, compact

ELECTED_UNFENCED = (
    "000000000)0001e000010<Ur&uK)l50003100E)@F?C)500E)@F?C-5|NsC0|NsC0|NsC0{{R300x|#q00AZe5dZ)H00IC200000"
    "05<^u0sjDE00063RsjV9000002k4lqSmsXbm+X>WA#E1o1ONpB000020R#X500IU90S5sA00"
)
NEW_TOPIC = (
    "000000000-0002F000010*<zgm;e9(0003100E)@F?R0&00E)@F?R3&|NsC0|NsC0|NsC0{{R300!jb?00BM$0ssqRZ*FvQVPkYH"
    "G<#LyM_zSHz_@-r^j~ub>Hq-10RR930kQ!B0|Ed5004Vc;YVI|OTf5(J@j952<ig>000930006500003000020RaF200RI300000"
    "000BZP4#nv20|B^KB_<j({De6KG~ce=S_dSKHbgDQb4@`00"
)
ISR_GREW = (
    "000000001_00016000010_4=vbpQYW0000000E)@G2pNO00E)@G2pQO|NsC0|NsC0|NsC0{{R300a5?}00Bk;1p)v7004Vc;YVI|"
    "OTf5(J@j952<ia<2?GEC00IC200RI"
)
LAST_REPLICA_FENCED = (
    "000000000%0001t000010!TeNegFUf0006200E)@F?3Y`00E)@F?3b`|NsC0|NsC0|NsC0{{R300~7!N009UA6aWAKY5)KN0bT(G"
    "0ssI200-!pt61hv?3e74ULkE3;sgKz0RaU6|Ns961p)v700IXE0ssI20st}q00aRh0TBQI0006200000001`u00992"
)
FIRST = UUID("07e898ab-58e6-4eec-97ec-925e216d16e2")
SECOND = UUID("7b55e147-5e75-4bc0-b87e-3df45f7308ea")


def real(text: str) -> bytes:
    return base64.b85decode(text)


def test_a_new_topic_comes_with_the_state_of_its_partition() -> None:
    assert metadata_records(real(NEW_TOPIC)) == (
        TopicRecord(71, "contract-4", SECOND),
        PartitionRecord(72, SECOND, 0, (3, 2), (3, 2), leader=3, leader_epoch=0, partition_epoch=0),
    )


def test_the_last_replica_becomes_eligible_when_it_is_fenced() -> None:
    assert metadata_records(real(LAST_REPLICA_FENCED)) == (
        PartitionChangeRecord(66, FIRST, 0, isr=(), leader=-1, elr=(2,), last_known_elr=(2,)),
        BrokerFencingRecord(67, 2, 55, is_fenced=True),
    )


def test_an_unfenced_replica_is_elected() -> None:
    assert metadata_records(real(ELECTED_UNFENCED)) == (
        BrokerFencingRecord(68, 2, 55, is_fenced=False),
        PartitionChangeRecord(69, FIRST, 0, isr=(2,), leader=2, elr=(), last_known_elr=()),
    )


def test_what_did_not_change_is_none() -> None:
    assert metadata_records(real(ISR_GREW)) == (PartitionChangeRecord(164, SECOND, 0, isr=(2, 3)),)


def test_several_batches_are_read_and_an_unfinished_last_one_is_left_out() -> None:
    whole, cut = real(ISR_GREW), real(NEW_TOPIC)
    assert len(metadata_records(whole + cut)) == 3
    for length in range(len(cut)):
        assert len(metadata_records(whole + cut[:length])) == 1


def test_a_record_in_the_trace_tells_its_name() -> None:
    (record,) = metadata_records(real(ISR_GREW))
    told = {"record": "PartitionChangeRecord", "offset": 164, "topic_id": str(SECOND), "partition": 0, "isr": [2, 3]}
    assert json.loads(json.dumps(as_json(record))) == told


def test_a_setting_and_its_end() -> None:
    set_, unset = (bytes([1, 4, 0, 2, *compact("t"), *compact("a"), *value]) for value in (compact("1"), [0]))
    assert metadata_records(batch([set_, unset], base_offset=7)) == (
        ConfigRecord(7, 2, "t", "a", "1"),
        ConfigRecord(8, 2, "t", "a", None),
    )


@pytest.mark.parametrize("value", [b"", bytes([1, 20, 0]), bytes([1, 99, 3, 1, 2, 3])])
def test_other_records_are_passed_over(value: bytes) -> None:
    beyond = bytes([1, 8, 0, 0, 0, 0, 5, *bytes(8)])
    decoded = metadata_records(batch([value, beyond], base_offset=3))
    assert decoded[-1] == BrokerFencingRecord(4, 5, 0, is_fenced=False)
    assert all(isinstance(record, UnreadableRecord) for record in decoded[:-1])
    assert bool(decoded[:-1]) == (value == b"")


def test_a_record_that_ends_too_early_is_told_as_unreadable() -> None:
    assert metadata_records(batch([bytes([1, 5, 2, 0, 0])], base_offset=3)) == (UnreadableRecord(3, 5, 2),)


@pytest.mark.parametrize("attributes", [0x20, 0x01])
def test_control_batches_and_compressed_ones_are_passed_over(attributes: int) -> None:
    assert (
        metadata_records(batch([bytes([1, 8, 0, 0, 0, 0, 5, *bytes(8)])], base_offset=3, attributes=attributes)) == ()
    )


def test_no_bytes_make_it_fail() -> None:
    content = bytearray(real(LAST_REPLICA_FENCED))
    for position in range(len(content)):
        for value in (0x00, 0x7F, 0x80, 0xFF):
            metadata_records(bytes(content[:position]) + bytes([value]) + bytes(content[position + 1 :]))
