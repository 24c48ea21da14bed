"""Where do the threads of all connections learn that the network changed?

One valve for all connections of a proxy: the policy (``Shaping``), the lock that guards it and the condition
that its changes are announced by. While ``is_open``, nothing is imposed and nothing is on its way late, so
whoever moves bytes need not ask anything: reading that one attribute is all that an unimpaired network costs.
"""

import threading
import time

from fault_injection.wire.codec import api_name
from fault_injection.wire.impairments import Evidence, FrameMark, Impairment
from fault_injection.wire.passage import ConnectionState, Passage
from fault_injection.wire.shaping import Load, Shaping
from fault_injection.wire.ways import Flow


class Valve:
    """The impairments of one proxy; safe to use from any thread.

    Attributes:
        shaping: what is imposed; to be used with ``changed`` held.
        changed: held to look at or change anything here, and notified of every change.
        is_open: whether every byte may go on at once.
    """

    def __init__(self) -> None:
        self.shaping = Shaping()
        self.changed = threading.Condition()
        self.is_open = True
        self._late = 0

    def impose(self, name: str, impairment: Impairment) -> None:
        """Begin an impairment. Raises ImpairmentError if one of that name is imposed."""
        with self.changed:
            self.shaping.impose(name, impairment, time.monotonic_ns())
            self._turn()

    def lift(self, name: str) -> Evidence:
        """End an impairment and give what it did. Raises ImpairmentError if none of that name is imposed."""
        with self.changed:
            evidence = self.shaping.lift(name, time.monotonic_ns())
            self._turn()
            return evidence

    def wake(self) -> None:
        """Let every thread that waits look again: a connection ended."""
        if not self.is_open:
            with self.changed:
                self.changed.notify_all()

    def queued(self, count: int) -> None:
        """Take note that frames were put on a delay line, or with a negative count taken off it."""
        with self.changed:
            self._late += count
            self._turn()

    def refuses(self, passage: Passage, source: int | None) -> bool:
        """Whether a request came over a way that is cut by resets; its connection is to be closed."""
        state = passage.connection
        flow = Flow(state.link.kind, source, state.link.destination, "request")
        with self.changed:
            is_reset = self.shaping.is_reset(flow)
            if is_reset:
                load = Load(state.number, flow, passage.arrived_ns, passage.size, mark_of(passage))
                self.shaping.stopped(load, passage.arrived_ns)
        return is_reset

    def was_reset(self, state: ConnectionState) -> bool:
        """Whether a connection may not live now; if so it is taken for reset."""
        flow = Flow(state.link.kind, state.source, state.link.destination, "request")
        with self.changed:
            now_ns = time.monotonic_ns()
            is_reset = self.shaping.is_reset(flow)
            if is_reset:
                self.shaping.stopped(Load(state.number, flow, now_ns), now_ns)
        return is_reset

    def _turn(self) -> None:
        self.is_open = self.shaping.is_idle and self._late == 0
        self.changed.notify_all()


def mark_of(passage: Passage) -> FrameMark | None:
    """Give what tells a frame from others; None while its header is unknown."""
    header, request = passage.header, passage.request
    if header is None:
        return None
    partitions = request.partitions if request is not None else ()
    fetch_offset = getattr(partitions[0], "fetch_offset", None) if partitions else None
    return FrameMark(passage.seq, api_name(header.api_key), header.correlation_id, fetch_offset)
