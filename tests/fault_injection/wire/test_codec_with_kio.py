"""Does the codec read real frames as an independent decoder does, field by field?

Not compared, because kio does not know it: the versions in ``KIO_LACKS``, and the records of KRaft's metadata log.
"""

from collections.abc import Iterator
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fault_injection.releases import schema_jar
from fault_injection.wire.codec import Codec, load_schemas
from fault_injection.wire.headers import request_header
from fault_injection.wire.views import FetchResponseView
from tests.fault_injection.wire.kio_views import view_of
from tests.fault_injection.wire.raw_frames import CORPUS, RawFrame, load, record

# ruff: noqa: ANN401 - any view of ours, and any field of it

FETCH, ALTER_PARTITION = 1, 56
NOT_READ = {18, 57, 58}
"""ApiVersions, UpdateFeatures and Envelope pass without being looked into."""
KIO_LACKS = {
    *((FETCH, version) for version in (3,)),
    *((4, version) for version in (0, 1, 4, 5, 7)),  # LeaderAndIsr
    *((5, version) for version in (0, 2, 3, 4)),  # StopReplica
    *((6, version) for version in (3, 4, 6, 7, 8)),  # UpdateMetadata
    *((7, version) for version in (1, 3)),  # ControlledShutdown
    *((23, version) for version in (0, 1)),  # OffsetsForLeaderEpoch
    (ALTER_PARTITION, 0),
}
FILES = sorted(CORPUS.glob("*.xz"))


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec(load_schemas(schema_jar()))


def read(codec: Codec, frame: RawFrame) -> Any:
    if frame.direction == "request":
        return codec.request(request_header(frame.content), frame.content)
    return codec.response(frame.api_key, frame.api_version, frame.content)


def differences(ours: Any, theirs: Any) -> list[str]:
    """Name every field in which two views differ."""
    found, expected = dict(_fields(_comparable(ours))), dict(_fields(_comparable(theirs)))
    return [
        f"{name}: {found.get(name)!r} instead of {expected.get(name)!r}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]


def _comparable(view: Any) -> Any:
    if isinstance(view, FetchResponseView):
        return replace(view, partitions=tuple(replace(given, metadata=()) for given in view.partitions))
    return view


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if is_dataclass(value) and not isinstance(value, type):
        yield path or "view", type(value).__name__
        value = asdict(value)
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _fields(item, f"{path}.{name}" if path else name)
    elif isinstance(value, tuple | list):
        yield f"{path}.length", len(value)
        for index, item in enumerate(value):
            yield from _fields(item, f"{path}[{index}]")
    else:
        yield path, value


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_kept_frames_are_read_alike(codec: Codec, path: Path) -> None:
    compared = 0
    for frame in load(path):
        ours = read(codec, frame)
        if frame.api_key in NOT_READ:
            assert ours is None
            continue
        assert ours is not None, f"{frame} does not decode"
        if (frame.api_key, frame.api_version) not in KIO_LACKS:
            theirs = view_of(frame)
            assert theirs is not None, f"kio lacks {frame.api_key} v{frame.api_version}: list it"
            assert differences(ours, theirs) == [], frame
            compared += 1
    assert compared or path.stem.startswith("0.10.2"), "only the oldest release speaks nothing that kio knows"
    assert codec.undecodable == 0


def test_what_kio_lacks_is_listed() -> None:
    seen = {
        (frame.api_key, frame.api_version)
        for path in FILES
        for frame in load(path)
        if frame.api_key not in NOT_READ and view_of(frame) is None
    }
    assert seen == KIO_LACKS


def test_a_field_that_is_read_differently_is_named(codec: Codec) -> None:
    answers = (one for one in load(CORPUS / "4.3.1-kraft.xz") if (one.direction, one.api_key) == ("response", FETCH))
    frame, ours = next((one, view) for one in answers if (view := read(codec, one)).partitions)
    given = ours.partitions[0]
    wrong = replace(ours, partitions=(replace(given, high_watermark=given.high_watermark + 1), *ours.partitions[1:]))
    assert [text.split(":")[0] for text in differences(wrong, view_of(frame))] == ["partitions[0].high_watermark"]


@pytest.mark.broker
def test_every_frame_of_a_run_is_read_alike(tmp_path: Path) -> None:
    seen: list[tuple[RawFrame, Any]] = []
    record("4.3.1", None, tmp_path, lambda frame, view: seen.append((frame, view)))
    compared = [(frame, view) for frame, view in seen if frame.api_key not in NOT_READ]
    assert [frame for frame, view in compared if view is None] == []
    assert {frame.api_key for frame, _ in compared} >= {FETCH, ALTER_PARTITION}
    assert [differences(view, view_of(frame)) for frame, view in compared if differences(view, view_of(frame))] == []
