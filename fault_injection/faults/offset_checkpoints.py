"""How is one partition's line in a broker's offset checkpoint read, changed or removed?

``replication-offset-checkpoint`` (high watermarks) and ``recovery-point-offset-checkpoint`` (up to where the log
is flushed) have one form: a version line, a count line, then a line ``topic partition offset`` per partition. A
file is empty from the broker's first start until it is first written.

Source: ``OffsetCheckpointFile``.
"""

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"

_VERSION = "0"


def checkpointed_offset(content: bytes, topic: str, partition: int) -> int | None:
    """Give the offset that a checkpoint has for a partition, or None when it has none."""
    _, entries = _parts(content)
    text = entries.get((topic, str(partition)))
    return None if text is None else int(text)


def with_offset(content: bytes, topic: str, partition: int, offset: int | None) -> bytes:
    """Give a checkpoint with another offset for a partition, or without its line; all other lines stay."""
    version, entries = _parts(content)
    if offset is None:
        entries.pop((topic, str(partition)), None)
    else:
        entries[topic, str(partition)] = str(offset)
    lines = [version, str(len(entries)), *(f"{name} {number} {value}" for (name, number), value in entries.items())]
    return "".join(f"{line}\n" for line in lines).encode()


def _parts(content: bytes) -> tuple[str, dict[tuple[str, str], str]]:
    version, _, *lines = content.decode().splitlines() or [_VERSION, "0"]
    entries = {}
    for line in lines:
        topic, partition, offset = line.split()
        entries[topic, partition] = offset
    return version, entries
