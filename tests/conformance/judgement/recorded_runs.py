"""Real runs of different kinds, kept small: without the brokers' logs and what judging writes, compressed.

``python -m tests.conformance.judgement.recorded_runs`` runs them anew on real brokers and keeps them; a release and
its entries share a cluster. The interrupted run is ended by SIGINT while it takes its sixth step.
"""

from __future__ import annotations

import io
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from conformance.record.digests import write_digests
from conformance.record.directory import RunDirectory
from conformance.record.run import read_run
from conformance.record.timeline import Event, read_timeline
from fault_injection.waiting import until

FOLDER = Path(__file__).parent / "recorded"
LINES = {
    "0.10.2.2": ("HW-03", "TR-01", "FE-04/epoch", "HW-13/puppets", "regressions/KAFKA-7164", "EL-06"),
    "4.4.0": ("TR-01", "LE-05/leader-kraft", "RM-06/deleted", "regressions/KAFKA-7128", "EL-06/deleted-topic"),
}
"""Kept, lost, an open race, puppets, diverged after a pause, not run; kept, isolated, deleted, dropped, examined."""
INTERRUPTED = ("4.4.0", "TR-03")
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
        write_digests(copy)
        ended = "-interrupted" if about.harness_failure else ""
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


def _interrupted(runs: Path) -> None:
    tester = subprocess.Popen(_command(runs, *INTERRUPTED))

    def is_under_way() -> bool:
        found = [RunDirectory(path) for path in runs.glob("2*")]
        marks = [mark for run in found for mark in read_timeline(run, may_be_cut=True)]
        return sum(mark.event is Event.STEP_STARTED for mark in marks) >= STEPS_BEFORE

    until(is_under_way, deadline_s=300, what="the run to be under way")
    tester.send_signal(signal.SIGINT)
    tester.wait()


def main() -> None:
    """Run everything anew and keep it."""
    with tempfile.TemporaryDirectory() as scratch:
        for kafka, entries in LINES.items():
            subprocess.run(_command(Path(scratch) / kafka, kafka, *entries), check=True)
        _interrupted(Path(scratch) / "interrupted")
        for run in sorted(Path(scratch).glob("*/2*")):
            keep(run)


if __name__ == "__main__":
    main()
