"""Frames of real runs as they were on the wire, recorded and kept.

``python -m tests.fault_injection.wire.raw_frames RELEASE [zookeeper|kraft]`` runs two brokers through the usual
troubles and writes a few frames of every api, version and direction to ``corpus/``.
"""

import lzma
import struct
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

from fault_injection.cluster.readiness import await_registered, await_unregistered
from fault_injection.releases import MetadataMode, find_release
from fault_injection.waiting import until
from fault_injection.wire.codec import Codec
from fault_injection.wire.headers import Buffer, RequestHeader
from fault_injection.wire.messages import RequestView, ResponseView
from tests.fault_injection.wire.real_cluster import DEADLINE_S, TOPIC, cluster_of, create_topic, produce

CORPUS = Path(__file__).parent / "corpus"
KEPT_OF_A_KIND = 5
KEPT_BYTES_MAX = 3_000
_ENTRY = struct.Struct(">?hh")


@dataclass(frozen=True, slots=True)
class RawFrame:
    """One frame, its length prefix included; api and version are those of its request."""

    direction: Literal["request", "response"]
    api_key: int
    api_version: int
    content: bytes


class RecordingCodec(Codec):
    """Shows every frame that the proxy decodes, and what came out, to whoever records."""

    seen: Callable[[RawFrame, RequestView | ResponseView | None], None]

    def request(self, header: RequestHeader, frame: Buffer) -> RequestView | None:
        view = super().request(header, frame)
        self.seen(RawFrame("request", header.api_key, header.api_version, bytes(frame)), view)
        return view

    def response(self, api_key: int, api_version: int, frame: Buffer) -> ResponseView | None:
        view = super().response(api_key, api_version, frame)
        self.seen(RawFrame("response", api_key, api_version, bytes(frame)), view)
        return view


def record(version: str, mode: MetadataMode | None, directory: Path, seen: Callable[[RawFrame, Any], None]) -> None:
    """Run two brokers: records, a killed follower that returns, one that leaves properly and returns."""
    codec = type("Recording", (RecordingCodec,), {"seen": staticmethod(seen)})
    with (
        patch("fault_injection.wire.proxy.Codec", codec),
        cluster_of(version, directory, mode=mode) as (cluster, proxy),
    ):
        create_topic(cluster, proxy)
        for number in range(5):
            produce(cluster, b"m%d" % number * 50)
        cluster.kill(2)
        await_unregistered(cluster, 2)
        produce(cluster, b"alone")
        cluster.start_broker(2)
        await_registered(cluster, 2)
        cluster.stop(2)
        await_unregistered(cluster, 2)
        cluster.start_broker(2)
        await_registered(cluster, 2)
        until(
            lambda: proxy.last_forwarded_fetch_offset(2, 1, TOPIC, 0) == 6,
            deadline_s=DEADLINE_S,
            what="the follower has all records",
        )
        proxy.trace.flush()


def kept(frames: Iterable[RawFrame]) -> list[RawFrame]:
    """Choose the frames worth keeping: of each kind the sizes that differ most, none of them large."""
    kinds: dict[tuple[str, int, int], dict[int, RawFrame]] = defaultdict(dict)
    for frame in frames:
        if len(frame.content) <= KEPT_BYTES_MAX:
            kinds[frame.direction, frame.api_key, frame.api_version].setdefault(len(frame.content), frame)
    chosen = []
    for _, by_size in sorted(kinds.items()):
        sizes = sorted(by_size)
        step = max(1, (len(sizes) - 1) // (KEPT_OF_A_KIND - 1))
        chosen += [by_size[size] for size in dict.fromkeys([*sizes[::step][:KEPT_OF_A_KIND], sizes[-1]])]
    return chosen


def save(path: Path, frames: Iterable[RawFrame]) -> None:
    """Write frames to a compressed file."""
    entries = (
        _ENTRY.pack(frame.direction == "request", frame.api_key, frame.api_version) + frame.content for frame in frames
    )
    path.write_bytes(lzma.compress(b"".join(entries), preset=9))


def load(path: Path) -> Iterator[RawFrame]:
    """Read the frames of a compressed file."""
    content, position = lzma.decompress(path.read_bytes()), 0
    while position < len(content):
        is_request, api_key, api_version = _ENTRY.unpack_from(content, position)
        position += _ENTRY.size
        end = position + 4 + int.from_bytes(content[position : position + 4], "big")
        yield RawFrame("request" if is_request else "response", api_key, api_version, content[position:end])
        position = end


def main() -> None:
    """Record one release."""
    release = find_release(sys.argv[1])
    mode = release.metadata_mode(MetadataMode(sys.argv[2]) if len(sys.argv) > 2 else None)
    frames: list[RawFrame] = []
    with tempfile.TemporaryDirectory() as directory:
        record(release.version, mode, Path(directory), lambda frame, _: frames.append(frame))
    CORPUS.mkdir(exist_ok=True)
    save(CORPUS / f"{release.version}-{mode.value}.xz", kept(frames))
    sys.stdout.write(f"{release.version} {mode.value}: {len(frames)} frames, {len(kept(frames))} kept\n")


if __name__ == "__main__":
    main()
