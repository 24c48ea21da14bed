"""Real runs of different kinds, kept small: without the brokers' logs and what judging writes, compressed.

``python -m tests.conformance.judgement.recorded_runs`` runs them anew on real brokers and keeps them; a release and
its entries share a cluster. The interrupted run is ended by SIGINT while it takes its sixth step; in the one that lost
a broker that one is ended by SIGKILL, from outside. One of format 1 is of the last tester that wrote it.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from conformance.record.digests import write_digests
from conformance.record.directory import FORMAT_VERSION, RunDirectory
from conformance.record.run import read_run
from conformance.record.timeline import Event, read_timeline
from fault_injection.waiting import until

FOLDER = Path(__file__).parent / "recorded"
LINES = {
    "0.10.2.2": ("HW-03", "TR-01", "FE-04/epoch", "HW-13/puppets", "regressions/KAFKA-7164", "LE-05/leader-kraft"),
    "4.4.0": (
        *("TR-01", "LE-05/leader-kraft", "RM-06/deleted", "regressions/KAFKA-7128", "EL-06/deleted-topic"),
        *("HW-13/shorter-log", "LE-05/leader-kraft-log"),
    ),
}
"""Kept, lost, an open race, puppets, diverged after a pause, not run; kept, isolated, deleted, dropped, examined, a
disk that forgot, and records that are sent to a leader by name."""
INTERRUPTED = ("4.4.0", "TR-03")
LOST_NODE = ("4.4.0", "TR-02", "/2/server.properties")
STEPS_BEFORE = 6
LEFT_OUT = ("brokers", "again", "verdict.json", "trace_check.json", "report.html")


def names() -> list[str]:
    """Return the names of the runs that are kept."""
    return sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz"))


def unpacked(name: str, where: Path) -> RunDirectory:
    """Return a kept run in a directory of its own."""
    with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
        archive.extractall(where / name, filter="data")
    return RunDirectory(where / name)


def keep(run: Path) -> None:
    """Keep a run; of an examination the frames go too, which nobody judges again."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = RunDirectory(Path(shutil.copytree(run, Path(scratch) / "run", ignore=shutil.ignore_patterns(*LEFT_OUT))))
        about = read_run(copy)
        if about.is_examination:
            (copy.path / "wire.ndjson").unlink(missing_ok=True)
        if about.format == FORMAT_VERSION:
            write_digests(copy)
        failure = about.harness_failure
        ended = "" if failure is None else "-lost-node" if failure.lost_node else "-interrupted"
        ended = "-not-run" if about.not_run else f"-format-{about.format}" if about.format < FORMAT_VERSION else ended
        name = f"{about.kafka}-{(about.scenario or '').lower().replace('/', '-')}{ended}"
        with tarfile.open(FOLDER / f"{name}.tar.xz", "w:xz", preset=9) as archive:
            for path in sorted(copy.path.rglob("*")):
                if path.is_file():
                    archive.addfile(_member(path, copy.path), io.BytesIO(path.read_bytes()))


def _member(path: Path, base: Path) -> tarfile.TarInfo:
    member = tarfile.TarInfo(str(path.relative_to(base)))
    member.size = path.stat().st_size
    return member


def _command(runs: Path, kafka: str, *entries: str) -> list[str]:
    options = ("--backend", "process", "--runs-dir", str(runs), "--quiet")
    return [sys.executable, "-m", "conformance", "run", *entries, "--kafka", kafka, *options]


def _begun(runs: Path, kafka: str, entry: str, steps: int) -> subprocess.Popen[bytes]:
    """Return a tester that has begun so many steps."""
    tester = subprocess.Popen(_command(runs, kafka, entry))

    def is_under_way() -> bool:
        found = [RunDirectory(path) for path in runs.glob("2*")]
        marks = [mark for run in found for mark in read_timeline(run, may_be_cut=True)]
        return sum(mark.event is Event.STEP_STARTED for mark in marks) >= steps

    until(is_under_way, deadline_s=300, what="the run to be under way")
    return tester


def _interrupted(runs: Path) -> None:
    tester = _begun(runs, *INTERRUPTED, STEPS_BEFORE)
    tester.send_signal(signal.SIGINT)
    tester.wait()


def _node_lost(runs: Path) -> None:
    kafka, entry, node = LOST_NODE
    tester = _begun(runs, kafka, entry, 2)
    listed = subprocess.run(("ps", "-eo", "pid=,ppid=,args="), check=True, capture_output=True, text=True).stdout
    rows = [row.split(None, 2) for row in listed.splitlines()]
    processes = {int(pid): (int(parent), args) for pid, parent, args in rows}
    (pid,) = (p for p, (_, args) in processes.items() if node in args and _is_below(p, tester.pid, processes))
    os.kill(pid, signal.SIGKILL)
    tester.wait()


def _is_below(pid: int, ancestor: int, processes: dict[int, tuple[int, str]]) -> bool:
    while pid in processes and pid != ancestor:
        pid = processes[pid][0]
    return pid == ancestor


def main() -> None:
    """Run everything anew and keep it."""
    with tempfile.TemporaryDirectory() as scratch:
        for kafka, entries in LINES.items():
            subprocess.run(_command(Path(scratch) / kafka, kafka, *entries), check=True)
        _interrupted(Path(scratch) / "interrupted")
        _node_lost(Path(scratch) / "lost")
        for run in sorted(Path(scratch).glob("*/2*")):
            keep(run)


if __name__ == "__main__":
    main()
