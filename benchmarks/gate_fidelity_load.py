"""What does one producer measure on one topic? A program of its own, so that it shares no interpreter with the proxies.

``python -m benchmarks.gate_fidelity_load throughput|latency BOOTSTRAP TOPIC RECORDS RECORD_BYTES`` writes one line of
JSON: seconds from the first record to the last acknowledgement, or the milliseconds of each record that was awaited.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from confluent_kafka import Producer

PRODUCER = {
    "acks": "all",
    "enable.idempotence": False,
    "compression.type": "none",
    "linger.ms": 5,
    "batch.size": 131_072,
    "max.in.flight.requests.per.connection": 5,
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 262_144,
    "message.timeout.ms": 120_000,
}
AWAITED = {**PRODUCER, "linger.ms": 0}
MESSAGES_A_CALL = 500
FLUSH_DEADLINE_S = 150.0
POLL_S = 0.01


class _Outcomes:
    """Counts acknowledgements; the first refusal ends the measurement."""

    def __init__(self) -> None:
        self.acknowledged = 0

    def delivered(self, error: object, _message: object) -> None:
        if error is not None:
            raise SystemExit(f"a record was not acknowledged: {error}")
        self.acknowledged += 1


def throughput(bootstrap: str, topic: str, records: int, record_bytes: int) -> dict[str, Any]:
    """Produce as fast as the brokers acknowledge; give the seconds it took, and how much CPU the producer used."""
    outcomes = _Outcomes()
    producer = Producer({**PRODUCER, "bootstrap.servers": bootstrap, "on_delivery": outcomes.delivered})
    producer.list_topics(topic, timeout=FLUSH_DEADLINE_S)
    value = bytes(record_bytes)
    began, cpu = time.perf_counter(), time.process_time()
    left = records
    while left:
        messages = [{"value": value} for _ in range(min(left, MESSAGES_A_CALL))]
        taken = producer.produce_batch(topic, messages)
        left -= taken
        producer.poll(0 if taken == len(messages) else POLL_S)
    unsent = producer.flush(FLUSH_DEADLINE_S)
    seconds = time.perf_counter() - began
    if unsent or outcomes.acknowledged != records:
        raise SystemExit(f"{outcomes.acknowledged} of {records} records were acknowledged, {unsent} are under way")
    return {"seconds": seconds, "producer_cpu_s": time.process_time() - cpu}


def latency(bootstrap: str, topic: str, records: int, record_bytes: int) -> dict[str, Any]:
    """Produce one record after the other; give the milliseconds from each one to its acknowledgement."""
    outcomes = _Outcomes()
    producer = Producer({**AWAITED, "bootstrap.servers": bootstrap, "on_delivery": outcomes.delivered})
    value = bytes(record_bytes)
    awaited_ms = []
    for _ in range(records):
        began = time.perf_counter()
        producer.produce(topic, value)
        if producer.flush(FLUSH_DEADLINE_S):
            raise SystemExit("a record was never acknowledged")
        awaited_ms.append((time.perf_counter() - began) * 1e3)
    return {"awaited_ms": awaited_ms[len(awaited_ms) // 10 :]}  # without the connecting


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("throughput", "latency"))
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("records", type=int)
    parser.add_argument("record_bytes", type=int)
    asked = parser.parse_args()
    measure = throughput if asked.what == "throughput" else latency
    sys.stdout.write(json.dumps(measure(asked.bootstrap, asked.topic, asked.records, asked.record_bytes)) + "\n")


if __name__ == "__main__":
    main()
