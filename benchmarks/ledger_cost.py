"""What does the ledger cost a producer? ``python -m benchmarks.ledger_cost`` compares it with one that keeps none.

Three brokers of a release, a topic of three partitions with three replicas, acks=all. In every round each arm sends the
same number of records to a new topic, in a process of its own, in an order that rotates; a ratio is that of one round.

- ``ledger``: what ``attach`` and ``soak`` send with: attempts synced before they are sent, every outcome written.
- ``without``: the same records by the same client, settings and calls; answers are counted, nothing is written.
- ``bare``: records of one constant value, otherwise as before: what the checksum in each value costs is the difference.

At the end the first arm sends a tenth of the records once more: peak memory must not follow their number.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from statistics import median
from threading import Event
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from benchmarks.gate_fidelity_arms import DIRECT, REPLICAS, arms_of
from conformance.clients.ledger_load import LedgerLoad, producer_settings
from conformance.clients.ledger_producer import LedgerProducer
from conformance.clients.records import KeyedValue, messages_of
from fault_injection.releases import MetadataMode
from oracle.vocabulary import Acks

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.gate_fidelity_arms import Arm

LEDGER, WITHOUT, BARE = "ledger", "without", "bare"
ARMS = (LEDGER, WITHOUT, BARE)
REQUIRED = 0.7
BASE = 7 << 32
BITE = 1_000
POLL_S = 0.05
DEADLINE_S = 600.0


def main() -> None:
    """Measure what the command line asks for, or be one of its arms."""
    asked = _asked()
    if asked.arm:
        sys.stdout.write(json.dumps(_measured(asked)) + "\n")
        return
    with (
        tempfile.TemporaryDirectory(prefix="ledger-cost-", dir=asked.directory) as place,
        arms_of((DIRECT,), asked.release, asked.metadata, Path(place), _progress, is_traced=False) as arms,
    ):
        _sent(asked, arms[DIRECT], WITHOUT, asked.records // 5, "warm-up")
        rounds = [_round(asked, arms[DIRECT], number) for number in range(asked.rounds)]
        tenth = _sent(asked, arms[DIRECT], LEDGER, asked.records // 10, "a-tenth")
    _print(asked, rounds, tenth)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", default="4.4.0", help="Kafka release (default: 4.4.0)")
    parser.add_argument("--metadata", type=MetadataMode, metavar="MODE", help="zookeeper or kraft")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    parser.add_argument("--records", type=int, default=1_000_000, help="of each arm in a round (default: 10^6)")
    parser.add_argument("--value-bytes", type=int, default=100, help="(default: 100)")
    parser.add_argument("--acks", choices=["all", "1"], default="all")
    parser.add_argument("--directory", type=Path, help="where the cluster keeps its data (default: temporary)")
    parser.add_argument("--arm", choices=ARMS, help=argparse.SUPPRESS)
    parser.add_argument("--bootstrap", help=argparse.SUPPRESS)
    parser.add_argument("--topic", help=argparse.SUPPRESS)
    return parser.parse_args()


def _round(asked: argparse.Namespace, cluster: Arm, number: int) -> dict[str, dict[str, Any]]:
    measured = {}
    for arm in ARMS[number % 3 :] + ARMS[: number % 3]:
        measured[arm] = one = _sent(asked, cluster, arm, asked.records, f"{arm}-{number}")
        _progress(f"round {number + 1} of {asked.rounds}, {arm}: {asked.records / one['seconds']:,.0f} records/s")
    return measured


def _sent(asked: argparse.Namespace, cluster: Arm, arm: str, records: int, topic: str) -> dict[str, Any]:
    """Send to a new topic in a process of its own; return what it measured."""
    told = {"arm": arm, "bootstrap": cluster.cluster.bootstrap, "topic": topic, "records": records}
    told |= {"value-bytes": asked.value_bytes, "acks": asked.acks}
    words = [word for name, value in told.items() for word in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "benchmarks.ledger_cost", *words]
    with cluster.topic(topic), tempfile.TemporaryDirectory(dir=asked.directory) as place:
        command += ["--directory", place]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=DEADLINE_S)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _measured(asked: argparse.Namespace) -> dict[str, Any]:
    """Send as an arm; return seconds until the last answer, those of the processor, and the most memory in MB."""
    acks = Acks.ALL if asked.acks == "all" else Acks.LEADER
    length, records, place = asked.value_bytes, asked.records, asked.directory
    load = LedgerLoad(asked.topic, len(REPLICAS), acks, False, BASE, length, records)  # noqa: FBT003 - not idempotent
    connection = {"bootstrap.servers": asked.bootstrap}
    import_module("pyarrow.parquet")  # once a process, and not for each record
    began, cpu = time.perf_counter(), time.process_time()
    if asked.arm == LEDGER:
        acknowledged = _with_ledger(connection, load, place / "ledger")
    else:
        made = messages_of if asked.arm == WITHOUT else _constant
        acknowledged = _without(connection, load, made)
    if acknowledged != records:
        raise SystemExit(f"{acknowledged} of {records} records were acknowledged")
    return {"seconds": time.perf_counter() - began, "cpu_s": time.process_time() - cpu, "peak_mb": _peak_mb()}


def _with_ledger(connection: dict[str, str], load: LedgerLoad, directory: Path) -> int:
    producer = LedgerProducer(connection, load, directory)
    producer.send(Event())
    return producer.progress.acknowledged


def _without(connection: dict[str, str], load: LedgerLoad, made: Callable[[range, int], list[KeyedValue]]) -> int:
    """Send as the ledger's producer does, and count the answers."""
    counted: Counter[bool] = Counter()

    def on_delivery(error: object, _message: object) -> None:
        counted[error is None] += 1

    with Producer(producer_settings(connection, load)) as producer:
        ids = range(load.base, load.base + (load.records or 0))
        for at in range(0, len(ids), BITE):
            for number in range(load.partitions):
                messages = made(ids[at : at + BITE][number :: load.partitions], load.value_length)
                while messages:
                    del messages[: producer.produce_batch(load.topic, messages, number, on_delivery=on_delivery)]
                    producer.poll(POLL_S if messages else 0)
        while len(producer):
            producer.poll(POLL_S)
    return counted[True]


def _constant(ids: range, length: int) -> list[KeyedValue]:
    value = bytes(length)
    return [{"key": one.to_bytes(8, "big"), "value": value} for one in ids]


def _peak_mb() -> float:
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    return int(kilobytes) / 1024


def _print(asked: argparse.Namespace, rounds: list[dict[str, dict[str, Any]]], tenth: dict[str, Any]) -> None:
    write = sys.stdout.write
    for arm in ARMS:
        rate, cpu, peak = (
            median(value(one[arm]) for one in rounds)
            for value in (lambda it: asked.records / it["seconds"], lambda it: it["cpu_s"], lambda it: it["peak_mb"])
        )
        write(f"{arm:8} {rate:9,.0f} records/s  CPU {cpu:6.2f} s  peak {peak:5.0f} MB\n")
    for other in (WITHOUT, BARE):
        speeds, works = (sorted(one[other][it] / one[LEDGER][it] for one in rounds) for it in ("seconds", "cpu_s"))
        required = f" (required: {REQUIRED})" if other == WITHOUT else ""
        write(f"{LEDGER} / {other}: {median(speeds):.2f} [{speeds[0]:.2f}-{speeds[-1]:.2f}]{required}, ")
        write(f"by CPU {median(works):.2f} [{works[0]:.2f}-{works[-1]:.2f}]\n")
    write(f"peak of a tenth of the records: {tenth['peak_mb']:.0f} MB\n")
    write(f"{len(rounds)} rounds of {asked.records:,} records; load average {os.getloadavg()[0]:.1f}\n")


def _progress(told: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {told}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
