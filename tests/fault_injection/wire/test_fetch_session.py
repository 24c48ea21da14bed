"""Is every partition of a fetch session seen, although most frames leave most of them out?"""

import pytest

from fault_injection.wire.fetch_reader import FetchSession
from fault_injection.wire.views import (
    EpochBatches,
    FetchedPartition,
    FetchPartition,
    FetchRequestView,
    FetchResponseView,
)


def asked(partition: int, offset: int, *, is_listed: bool = True) -> FetchPartition:
    return FetchPartition("t", None, partition, offset, is_listed=is_listed)


def given(partition: int, high_watermark: int, *, record_bytes: int = 0, is_listed: bool = True) -> FetchedPartition:
    epochs = (EpochBatches(1, 0, 0),) if record_bytes else ()
    return FetchedPartition(
        "t", None, partition, 0, high_watermark, record_bytes=record_bytes, epochs=epochs, is_listed=is_listed
    )


def request(epoch: int, *partitions: FetchPartition, forgotten: tuple[int, ...] = ()) -> FetchRequestView:
    return FetchRequestView(2, -1, 500, 7, epoch, partitions, tuple(("t", partition) for partition in forgotten))


def response(*partitions: FetchedPartition, error: int = 0) -> FetchResponseView:
    return FetchResponseView(error, 7, 0, partitions)


def test_an_incremental_request_is_completed_with_what_it_left_out() -> None:
    session = FetchSession()
    session.complete_request(request(0, asked(0, 5), asked(1, 6)))
    complete = session.complete_request(request(1, asked(1, 7)))
    assert complete.partitions == (asked(0, 5, is_listed=False), asked(1, 7))
    idle = session.complete_request(request(2))
    assert idle.partitions == (asked(0, 5, is_listed=False), asked(1, 7, is_listed=False))


def test_a_forgotten_partition_leaves_the_session_and_a_new_one_joins() -> None:
    session = FetchSession()
    session.complete_request(request(0, asked(0, 5), asked(1, 6)))
    complete = session.complete_request(request(1, asked(2, 0), forgotten=(0,)))
    assert complete.partitions == (asked(1, 6, is_listed=False), asked(2, 0))


def test_an_incremental_response_is_completed_with_what_it_left_out() -> None:
    session = FetchSession()
    first = session.complete_request(request(0, asked(0, 5), asked(1, 6)))
    full = response(given(0, 5, record_bytes=9), given(1, 6))
    assert session.complete_response(first, full) == full
    second = session.complete_request(request(1, asked(0, 6)))
    complete = session.complete_response(second, response(given(1, 7)))
    assert complete.partitions == (given(1, 7), given(0, 5, is_listed=False))


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_full_request_begins_anew(epoch: int) -> None:
    session = FetchSession()
    first = session.complete_request(request(0, asked(0, 5), asked(1, 6)))
    session.complete_response(first, response(given(0, 5), given(1, 6)))
    again = request(epoch, asked(1, 6))
    assert session.complete_request(again) == again
    assert session.complete_response(again, response(given(1, 6))) == response(given(1, 6))
    later = session.complete_request(request(1))
    assert later.partitions == (asked(1, 6, is_listed=False),)


def test_a_partition_never_answered_is_not_invented() -> None:
    session = FetchSession()
    session.complete_request(request(0, asked(0, 5)))
    second = session.complete_request(request(1))
    assert session.complete_response(second, response()) == response()


def test_a_response_with_an_error_says_nothing_about_partitions() -> None:
    session = FetchSession()
    first = session.complete_request(request(0, asked(0, 5)))
    session.complete_response(first, response(given(0, 5)))
    second = session.complete_request(request(1))
    assert session.complete_response(second, response(error=70)) == response(error=70)
