"""Which files does a disk fault change, and when does it refuse to change any?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from kafka.record.memory_records import MemoryRecordsBuilder

from fault_injection.faults.disk import LoseHighWatermarkCheckpoint, LoseLogTail
from fault_injection.faults.fault import FaultError, FileOnDisk, Proof

if TYPE_CHECKING:
    from fault_injection.cluster.lifecycle import Cluster
    from fault_injection.faults.fault import Fault

STEM = "t-0/00000000000000000010"


def batch(first_offset: int, count: int) -> bytes:
    builder = MemoryRecordsBuilder(2, 0, 1 << 20)
    for _ in range(count):
        builder.append(1_000, b"key", b"value")
    builder.close()
    return first_offset.to_bytes(8, "big") + bytes(builder.buffer())[8:]


FIRST, SECOND, THIRD = batch(10, 1), batch(11, 2), batch(13, 1)


class _Disk(SimpleNamespace):
    """The files of one broker that is down, or runs."""

    contents: dict[str, bytes]
    is_running = False

    def is_alive(self, _: int) -> bool:
        return self.is_running

    def files(self, _: int) -> list[str]:
        return sorted(self.contents)

    def read_file(self, _: int, path: str, beside: str = "") -> bytes:  # noqa: ARG002 - one log directory
        return self.contents[path]

    def write_file(self, _: int, path: str, content: bytes, beside: str = "") -> None:  # noqa: ARG002 - likewise
        self.contents[path] = content

    def remove_files(self, _: int, *paths: str, beside: str = "") -> None:  # noqa: ARG002 - likewise
        for path in paths:
            del self.contents[path]


def disk_of(**others: bytes) -> _Disk:
    kept = {
        "meta.properties": b"m",
        "t-0/00000000000000000000.log": batch(0, 10),
        "t-0/00000000000000000000.index": b"old",
        "t-0/leader-epoch-checkpoint": b"0\n2\n0 0\n1 12\n",
        "t-0/00000000000000000010.snapshot": b"s",
        "t-0/00000000000000000011.snapshot": b"s",
        "t-00/00000000000000000099.snapshot": b"s",
    }
    return _Disk(contents={**kept, f"{STEM}.log": FIRST + SECOND + THIRD, **others})


def inject(fault: Fault, disk: _Disk) -> str:
    return fault.inject(cast("Cluster", disk))


def test_a_lost_tail_takes_with_it_what_was_said_about_it() -> None:
    disk = disk_of()
    kept = {path: content for path, content in disk.contents.items() if path != f"{STEM}.log"}
    for outlived in (".index", ".timeindex", ".txnindex"):
        disk.contents[f"{STEM}{outlived}"] = b"x"
    disk.contents |= {".kafka_cleanshutdown": b"", "t-0/00000000000000000014.snapshot": b"s"}
    disk.contents["recovery-point-offset-checkpoint"] = b"0\n2\nt 0 14\nu 0 14\n"

    assert inject(LoseLogTail(1, 11, "t"), disk) == "broker 1 lost offsets 11 to 13 of t-0"

    changed = {f"{STEM}.log": FIRST, "recovery-point-offset-checkpoint": b"0\n2\nt 0 11\nu 0 14\n"}
    assert disk.contents == kept | changed


@pytest.mark.parametrize("recovery_points", [b"", b"0\n1\nu 0 14\n", b"0\n1\nt 0 10\n", b"0\n1\nt 0 13\n"])
def test_a_recovery_point_at_or_below_the_cut_stays(recovery_points: bytes) -> None:
    disk = disk_of()
    disk.contents["recovery-point-offset-checkpoint"] = recovery_points
    inject(LoseLogTail(1, 13, "t"), disk)
    assert disk.contents["recovery-point-offset-checkpoint"] == recovery_points
    assert disk.contents[f"{STEM}.log"] == FIRST + SECOND


def test_the_whole_active_segment_can_be_lost() -> None:
    disk = disk_of()
    assert inject(LoseLogTail(1, 10, "t"), disk) == "broker 1 lost offsets 10 to 13 of t-0"
    assert disk.contents[f"{STEM}.log"] == b""


def test_a_batch_that_was_being_written_goes_with_the_tail() -> None:
    disk = disk_of()
    disk.contents[f"{STEM}.log"] += batch(14, 1)[:-1]
    inject(LoseLogTail(1, 13, "t"), disk)
    assert disk.contents[f"{STEM}.log"] == FIRST + SECOND


@pytest.mark.parametrize(
    ("offset", "complaint"),
    [
        (9, "cannot be cut at 9: its active segment begins at 10"),
        (12, "cannot be cut at 12, in the middle of a batch; batches begin at 10, 11, 13"),
        (14, "cannot be cut at 14: it ends at 14, so nothing would be lost"),
        (15, "cannot be cut at 15: it ends at 14"),
    ],
)
def test_an_offset_that_is_no_place_to_cut_at_is_refused(offset: int, complaint: str) -> None:
    disk = disk_of()
    with pytest.raises(FaultError, match=f"the log of t-0 on broker 1 {complaint}"):
        inject(LoseLogTail(1, offset, "t"), disk)
    assert disk.contents == disk_of().contents


def test_a_replica_that_is_not_there_is_refused() -> None:
    disk = disk_of()
    with pytest.raises(FaultError, match="broker 1 holds no replica of t-1"):
        inject(LoseLogTail(1, 11, "t", 1), disk)
    assert not LoseLogTail(1, 11, "t", 1).available(cast("Cluster", disk))


@pytest.mark.parametrize(
    ("fault", "proof"),
    [
        (
            LoseLogTail(1, 11, "t"),
            Proof("the log of t-0 on its disk ends at 11", file=FileOnDisk(1, f"{STEM}.log", 11)),
        ),
        (
            LoseHighWatermarkCheckpoint(1, "t"),
            Proof(
                "replication-offset-checkpoint has no line for t-0",
                file=FileOnDisk(1, "replication-offset-checkpoint", None),
            ),
        ),
    ],
)
def test_the_files_prove_what_was_lost(fault: LoseLogTail | LoseHighWatermarkCheckpoint, proof: Proof) -> None:
    disk = disk_of(**{"replication-offset-checkpoint": b"0\n2\nt 0 14\nu 0 3\n"})
    assert fault.proof(cast("Cluster", disk)) is None
    inject(fault, disk)
    assert fault.proof(cast("Cluster", disk)) == proof
    fault.heal(cast("Cluster", disk))
    assert fault.proof(cast("Cluster", disk)) == proof


@pytest.mark.parametrize("fault", [LoseLogTail(1, 11, "t"), LoseHighWatermarkCheckpoint(1, "t")])
def test_a_broker_that_runs_is_refused(fault: Fault) -> None:
    disk = disk_of()
    assert fault.available(cast("Cluster", disk))
    disk.is_running = True
    assert not fault.available(cast("Cluster", disk))
    with pytest.raises(FaultError, match=f"broker 1 runs: {fault.name} is for"):
        inject(fault, disk)
    assert disk.contents == disk_of().contents


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (b"0\n2\nt 0 3\nu 0 9\n", b"0\n1\nu 0 9\n", "broker 1 lost the checkpointed high watermark 3 of t-0"),
        (b"0\n1\nu 0 9\n", b"0\n1\nu 0 9\n", "broker 1 had checkpointed no high watermark of t-0"),
        (b"", b"", "broker 1 had checkpointed no high watermark of t-0"),
        (None, None, "broker 1 had checkpointed no high watermark of t-0"),
    ],
)
def test_only_one_replicas_high_watermark_is_lost(before: bytes | None, after: bytes | None, told: str) -> None:
    disk = disk_of()
    kept = dict(disk.contents)
    if before is not None:
        disk.contents["replication-offset-checkpoint"] = before
    assert inject(LoseHighWatermarkCheckpoint(1, "t"), disk) == told
    assert disk.contents.pop("replication-offset-checkpoint", None) == after
    assert disk.contents == kept
