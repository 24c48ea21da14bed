"""What does a run's timeline say of its faults?

``fault_armed``, ``fault_fired``, ``fault_healed`` and ``fault_heal_failed`` carry the fault's number in the run, the
monotonic time at which it happened (``at_ns``), and the frame that it fired on, if it waited for one.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.running.recorder import Recorder
    from fault_injection.timeline import FaultEvent


def on_timeline(recorder: Recorder) -> Callable[[FaultEvent], None]:
    """Give the function that puts a fault's stages on a run's timeline."""

    def mark(event: FaultEvent) -> None:
        frame = None if event.frame is None else asdict(event.frame)
        recorder.mark(
            f"fault_{event.stage.value}", event.fault, event.text, number=event.number, at_ns=event.at_ns, frame=frame
        )

    return mark
