"""What do a broker's checkpoint files say?

``replication-offset-checkpoint`` (one per log directory) holds a high watermark per partition;
``leader-epoch-checkpoint`` (one per partition directory, absent before 0.11) the start offset of each leader
epoch. Both are text: a version line, a count line, then one line per entry. A broker creates them empty and
writes them later: an empty one has no entries.

Sources: ``OffsetCheckpointFile``, ``LeaderEpochCheckpointFile``.
"""

from dataclasses import dataclass

HIGH_WATERMARK_FILE = "replication-offset-checkpoint"
LOG_START_FILE = "log-start-offset-checkpoint"
LEADER_EPOCH_FILE = "leader-epoch-checkpoint"


class CheckpointError(Exception):
    """A checkpoint file does not have the form that brokers write."""


@dataclass(frozen=True, slots=True)
class EpochStart:
    """Where a leader epoch begins in a replica's log.

    Attributes:
        leader_epoch: the epoch.
        start_offset: the offset of the first record that its leader appended.
    """

    leader_epoch: int
    start_offset: int


def high_watermark_checkpoint(content: bytes) -> dict[tuple[str, int], int]:
    """Parse ``replication-offset-checkpoint`` into the high watermark of every (topic, partition).

    Raises:
        CheckpointError: the content is malformed.
    """
    high_watermarks: dict[tuple[str, int], int] = {}
    for line in _entries(content):
        match line.split():
            case [topic, partition, high_watermark]:
                high_watermarks[topic, _number(partition, line)] = _number(high_watermark, line)
            case _:
                raise CheckpointError(f"Not a topic, a partition and an offset: {line!r}.")
    return high_watermarks


def leader_epoch_checkpoint(content: bytes) -> tuple[EpochStart, ...]:
    """Parse ``leader-epoch-checkpoint`` into the replica's leader epochs, the oldest first.

    Raises:
        CheckpointError: the content is malformed.
    """
    starts: list[EpochStart] = []
    for line in _entries(content):
        match line.split():
            case [leader_epoch, start_offset]:
                starts.append(EpochStart(_number(leader_epoch, line), _number(start_offset, line)))
            case _:
                raise CheckpointError(f"Not a leader epoch and an offset: {line!r}.")
    return tuple(starts)


def _entries(content: bytes) -> list[str]:
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as broken:
        raise CheckpointError("The content is not text.") from broken
    if not content:
        return []
    if len(lines) < 2:
        raise CheckpointError("The version line or the count line is missing.")
    if _number(lines[0], lines[0]) != 0:
        raise CheckpointError(f"Version {lines[0]!r} is unknown; brokers write version 0.")
    entries = [line for line in lines[2:] if line.strip()]
    if len(entries) != _number(lines[1], lines[1]):
        raise CheckpointError(f"{lines[1]} entries are announced, {len(entries)} are there.")
    return entries


def _number(text: str, line: str) -> int:
    try:
        return int(text)
    except ValueError as broken:
        raise CheckpointError(f"{text!r} in {line!r} is not a number.") from broken
