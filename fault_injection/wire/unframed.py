"""How do bytes pass that are no Kafka frames?

Brokers speak to ZooKeeper in a protocol of its own, which the tester does not look into. Its bytes come out in
pieces as they came, each at most one chunk.
"""

from fault_injection.wire.frames import CHUNK_BYTES, FrameEvent, Unframed


class UnframedParser:
    """Gives every byte on as it came; receive into ``writable()``, then report ``received(count)``."""

    pending_bytes = 0
    begun = memoryview(b"")

    def __init__(self) -> None:
        self._chunk = memoryview(bytearray(CHUNK_BYTES))

    def writable(self) -> memoryview:
        """Give the memory for the next bytes."""
        return self._chunk

    def received(self, count: int) -> list[FrameEvent]:
        """Give the bytes that came."""
        return [Unframed(bytes(self._chunk[:count]))]
