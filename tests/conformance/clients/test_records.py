"""Can a record be verified from its own bytes, and is every damage seen?"""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.clients.records import (
    RECORD_ID_MAX,
    VALUE_LENGTH_DEFAULT,
    VALUE_LENGTH_MIN,
    key_of,
    messages_of,
    record_id_of,
    record_id_of_key,
    value_matches,
    value_of,
)

RECORD_IDS = st.integers(0, RECORD_ID_MAX)
LENGTHS = st.integers(VALUE_LENGTH_MIN, 1000)


@given(RECORD_IDS, LENGTHS)
def test_key_and_value_tell_the_id(record_id: int, length: int) -> None:
    value = value_of(record_id, length)
    assert len(value) == length
    assert value_matches(record_id, value)
    assert record_id_of(value) == record_id
    assert record_id_of_key(key_of(record_id)) == record_id


@given(st.lists(RECORD_IDS, max_size=5), LENGTHS)
def test_many_messages_have_the_keys_and_values_of_each(record_ids: list[int], length: int) -> None:
    assert messages_of(record_ids, length) == [
        {"key": key_of(one), "value": value_of(one, length)} for one in record_ids
    ]


@given(RECORD_IDS, LENGTHS, st.data())
def test_one_changed_byte_is_seen(record_id: int, length: int, data: st.DataObject) -> None:
    value = bytearray(value_of(record_id, length))
    position = data.draw(st.integers(0, length - 1))
    value[position] ^= data.draw(st.integers(1, 255))
    assert not value_matches(record_id, bytes(value))
    assert record_id_of(bytes(value)) is None


@given(RECORD_IDS, LENGTHS)
def test_a_cut_or_padded_value_is_seen(record_id: int, length: int) -> None:
    value = value_of(record_id, length)
    assert not value_matches(record_id, value[:-1])
    assert not value_matches(record_id, value + b"0")


@given(RECORD_IDS, RECORD_IDS)
def test_a_value_under_another_key_is_seen(record_id: int, other: int) -> None:
    assert value_matches(other, value_of(record_id)) == (record_id == other)


def test_the_value_is_what_spark_is_told_to_compute() -> None:
    key = (258).to_bytes(8, "big")
    checksum = hashlib.sha256(key + b"100").hexdigest().upper()
    assert value_of(258) == ("0000000000000102" + checksum + checksum)[:VALUE_LENGTH_DEFAULT].encode()


@pytest.mark.parametrize("record_id", [-1, RECORD_ID_MAX + 1])
def test_an_id_that_no_key_can_hold_is_refused(record_id: int) -> None:
    with pytest.raises(ValueError, match="record id"):
        key_of(record_id)
    assert not value_matches(record_id, value_of(0))


def test_a_value_too_short_to_be_verified_is_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        value_of(1, VALUE_LENGTH_MIN - 1)


@pytest.mark.parametrize("foreign", [None, b"", b"k", b"\xff" * 8, b"123456789"])
def test_a_foreign_key_tells_no_id(foreign: bytes | None) -> None:
    assert record_id_of_key(foreign) is None


@pytest.mark.parametrize("foreign", [None, b"", b"x" * 100, "Ä".encode() * 50])
def test_a_foreign_value_tells_no_id(foreign: bytes | None) -> None:
    assert record_id_of(foreign) is None
