"""Does the gate with nothing held slow replication down? ``python -m benchmarks.gate_fidelity`` compares clusters.

Three clusters of three brokers: two whose brokers talk directly, one through the gate. In every round each of them
takes the same load, one after the other, in an order that rotates; a ratio is that of one round. The second direct
cluster says how much equal arms differ. Everything takes about 15 minutes on two idle cores; a tenth of the records
and two pairs (``--scale 0.1 --pairs 2 --no-control``) take one.

Loads: 10^6 records of 100 B, 10^5 of 10 kB, three partitions with three replicas, acks=all, and for latency single
records awaited one by one. Ctrl-C ends with what was measured so far.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.gate_fidelity_arms import CONTROL, DIRECT, PROXIED, Arm, Load, arms_of
from benchmarks.gate_fidelity_figures import Spread, latency, throughput
from benchmarks.gate_fidelity_load import AWAITED, PRODUCER
from fault_injection.releases import MetadataMode

LOADS = {
    "small": Load("throughput", 1_000_000, 100),
    "large": Load("throughput", 100_000, 10_000),
    "latency": Load("latency", 400, 100),
}
REQUIRED = {"small": 0.8, "large": 0.75}
WARM_UP = 0.2


def main() -> None:
    """Measure what the command line asks for; write progress, a summary and, if wanted, JSON."""
    asked = _asked()
    names = (DIRECT, PROXIED) if asked.no_control else (DIRECT, CONTROL, PROXIED)
    loads = {name: _sized(LOADS[name], asked.records, asked.scale) for name in asked.workload or LOADS}
    found: dict[str, Any] = {"asked": {key: str(value) for key, value in vars(asked).items()}, "rounds": []}
    found["loads"] = {name: asdict(load) for name, load in loads.items()}
    found["producer"] = {"throughput": PRODUCER, "latency": AWAITED}
    with (
        tempfile.TemporaryDirectory(prefix="gate-fidelity-", dir=asked.directory) as place,
        suppress(KeyboardInterrupt),
    ):
        started = arms_of(names, asked.release, asked.metadata, Path(place), _progress, is_traced=not asked.no_trace)
        with started as arms:
            _warm_up(arms, loads)
            for number in range(asked.pairs):
                found["rounds"].append(_round(arms, loads, number, asked.pairs))
                _summarise(found, names, loads)
                _write(found, asked.out)
    _print(found, names)
    _write(found, asked.out)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", default="4.3.1", help="Kafka release (default: 4.3.1)")
    parser.add_argument("--metadata", type=MetadataMode, metavar="MODE", help="zookeeper or kraft")
    parser.add_argument("--pairs", type=int, default=8, help="rounds (default: 8)")
    parser.add_argument("--workload", action="append", choices=list(LOADS), help="only this load (repeatable)")
    parser.add_argument("--records", type=int, help="records of a throughput load (default: 10^6 small, 10^5 large)")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the records of each load (default: 1)")
    parser.add_argument("--no-control", action="store_true", help="without the second direct cluster")
    parser.add_argument("--no-trace", action="store_true", help="write no wire.ndjson")
    parser.add_argument("--directory", type=Path, help="where the clusters keep their data (default: temporary)")
    parser.add_argument("--out", type=Path, help="write JSON here, anew after every round")
    return parser.parse_args()


def _sized(load: Load, records: int | None, scale: float) -> Load:
    if records is not None and load.what == "throughput":
        return Load(load.what, records, load.record_bytes)
    return _scaled(load, scale)


def _scaled(load: Load, scale: float) -> Load:
    return Load(load.what, max(20, int(load.records * scale)), load.record_bytes)


def _warm_up(arms: dict[str, Arm], loads: dict[str, Load]) -> None:
    for name, arm in arms.items():
        _progress(f"warming up {name}")
        for number, load in enumerate(loads.values()):
            arm.measure(_scaled(load, WARM_UP), f"warm-up-{number}")


def _round(arms: dict[str, Arm], loads: dict[str, Load], number: int, rounds: int) -> dict[str, Any]:
    order = list(arms)[number % len(arms) :] + list(arms)[: number % len(arms)]
    measured: dict[str, Any] = {"load_average": os.getloadavg()[0]}
    for name, load in loads.items():
        measured[name] = {}
        for arm in order:
            measured[name][arm] = one = arms[arm].measure(load, f"{name}-{number}")
            told = f"{load.records / one['seconds']:.0f} records/s" if "seconds" in one else "done"
            _progress(f"round {number + 1} of {rounds}, {name}, {arm}: {told}")
    proxy = arms[PROXIED].proxy
    if proxy is not None:
        measured["undecodable"], measured["failures"] = proxy.undecodable, list(proxy.failures)
    return measured


def _summarise(found: dict[str, Any], names: tuple[str, ...], loads: dict[str, Load]) -> None:
    summary: dict[str, Any] = {}
    for name, load in loads.items():
        rounds = [measured[name] for measured in found["rounds"]]
        if load.what == "latency":
            summary[name] = latency(rounds, names, DIRECT)
        else:
            summary[name] = throughput(rounds, names, DIRECT, load.records)
    found["summary"] = summary
    found["load_average"] = asdict(Spread.over([measured["load_average"] for measured in found["rounds"]]))


def _print(found: dict[str, Any], names: tuple[str, ...]) -> None:
    for load, summary in found.get("summary", {}).items():
        required = f"  (required: {REQUIRED[load]})" if load in REQUIRED else ""
        sys.stdout.write(f"{load}: {found['loads'][load]}{required}\n")
        for arm in names:
            sys.stdout.write(f"  {arm:13} {_told(summary[arm])}\n")
    if found["rounds"]:
        load = Spread(**found["load_average"]).text(1)
        sys.stdout.write(f"{len(found['rounds'])} rounds; load average of the machine {load}\n")


def _told(figures: dict[str, Any]) -> str:
    if "ratio" not in figures:
        return "  ".join(f"{name} {figure:.2f}" for name, figure in figures.items())
    ratio, rate, cpu = (Spread(**figures[name]) for name in ("ratio", "records_per_s", "tester_cpu_s"))
    return f"ratio {ratio.text()}  records/s {rate.text(0)}  tester's CPU s {cpu.text()}"


def _progress(told: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {told}\n")
    sys.stderr.flush()


def _write(found: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        sys.exit(f"a producer failed: {error}")
