"""What is on the wire while one leader serves one follower, and nothing goes wrong?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.record.directory import RunDirectory
from fault_injection.wire import controller_views, views
from tests.conformance.observation.wire_files import FETCH, LEADER_AND_ISR, TOPIC, WireFile
from tests.conformance.run_files import change_run, write_json

if TYPE_CHECKING:
    from pathlib import Path

OWN = ("2.8.2", "zookeeper")
SCHEDULE = {"id": "a/b", "requirement": "It holds.", "replicas": [1, 2], "settings": {"min.insync.replicas": 1}}


def begin_run(directory: Path) -> RunDirectory:
    """Begin a run directory without a trace."""
    run = RunDirectory.create(directory, "run")
    change_run(run, topic=TOPIC, kafka=OWN[0], metadata=OWN[1], settings={"imposed": {}})
    write_json(run, "schedule.json", {**SCHEDULE, "steps": [{"checkpoint": "end"}]})
    (run.path / "timeline.ndjson").touch()
    return run


def healthy(high_watermarks: tuple[int, ...] = (0, 0, 1), *, created: bool = True) -> WireFile:
    """One leader, one follower that fetches one record: broker 1 sends it, broker 2 shows that it has it."""
    wire = WireFile()
    if created:
        leadership = controller_views.PartitionLeadership(TOPIC, None, 0, 1, 0, (1, 2), (1, 2), 0, 1, is_new=True)
        for broker in (1, 2):
            told = controller_views.LeaderAndIsrView(100, 1, 1, (leadership,))
            asked = wire.request(LEADER_AND_ISR, 100, broker, told, connection=10 + broker, api_version=5)
            wire.answer(asked, controller_views.ErrorsView(0))
    for fetch_offset, high_watermark in zip((0, 0, 1), high_watermarks, strict=True):
        has_records = fetch_offset == 0 and len(wire.entries) > 5
        epochs = (views.EpochBatches(0, 0, 0),) if has_records else ()
        epoch = -1 if fetch_offset == 0 else 0
        asking = views.FetchPartition(TOPIC, None, 0, fetch_offset, 0, last_fetched_epoch=epoch, log_start_offset=0)
        request = views.FetchRequestView(2, -1, 500, 0, 0, (asking,))
        given = views.FetchedPartition(TOPIC, None, 0, 0, high_watermark, log_start_offset=0, epochs=epochs)
        asked = wire.request(FETCH, 2, 1, request, api_version=12, connection=20)
        wire.answer(asked, views.FetchResponseView(0, 0, 0, (given,)))
    return wire
