"""Where is everything about one run? The directory that running, judging and reporting share.

A run directory is the only interface between the phases: whatever judges or reports reads files.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

FORMAT_VERSION = 1


class RunDirectoryError(Exception):
    """A directory that is no run, or one whose frozen parts have changed."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Paths and JSON files of one run."""

    path: Path

    @classmethod
    def create(cls, runs: Path, name: str) -> RunDirectory:
        """Create a new run directory below ``runs``; a taken name gets a number."""
        for number in range(1, 1000):
            path = runs / (name if number == 1 else f"{name}-{number}")
            if not path.exists():
                for part in ("prediction", "ledger", "replica_logs", "brokers"):
                    (path / part).mkdir(parents=True)
                return cls(path)
        raise RunDirectoryError(f"{runs} holds too many runs named {name}")

    @classmethod
    def load(cls, path: Path) -> RunDirectory:
        """Open an existing run.

        Raises:
            RunDirectoryError: if it is none, or of another format version.
        """
        run = cls(path)
        if not path.exists():
            raise RunDirectoryError(f"{path} is not there")
        if not (path / "run.json").is_file():
            raise RunDirectoryError(f"{path} is no run directory: it has no run.json")
        version = run.read_json("run.json").get("format")
        if version != FORMAT_VERSION:
            raise RunDirectoryError(f"{path} has format {version}, this tester reads {FORMAT_VERSION}")
        return run

    def read_json(self, name: str) -> dict[str, Any]:
        """Read a JSON file of the run.

        Raises:
            RunDirectoryError: if it is missing or is no JSON.
        """
        try:
            value: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunDirectoryError(f"{self.path / name} cannot be read: {error}") from error
        return value

    def write_json(self, name: str, value: object) -> None:
        """Write a JSON file of the run; whoever reads it, and whenever the tester ends, it is whole."""
        write_whole(self.path / name, json.dumps(value, indent=1, default=str) + "\n")

    def update_run(self, **fields: Any) -> None:  # noqa: ANN401 - JSON values
        """Add fields to run.json."""
        known = self.read_json("run.json") if (self.path / "run.json").exists() else {"format": FORMAT_VERSION}
        self.write_json("run.json", known | fields)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """Read a file of one JSON value per line; none if it does not exist.

        Raises:
            RunDirectoryError: if a line is no JSON, as when its writer was killed.
        """
        path = self.path / name
        if not path.exists():
            return []
        try:
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
        except ValueError as error:
            raise RunDirectoryError(f"{path} cannot be read: {error}") from error

    def freeze_prediction(self) -> None:
        """Hash the prediction's files and note hash and time in run.json, before anything is read."""
        frozen = {
            "sha256": self.prediction_digest(),
            "frozen_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "frozen_ns": time.monotonic_ns(),
        }
        self.update_run(prediction=frozen)

    def prediction_digest(self) -> str:
        """Return the SHA-256 over the names and contents of the prediction's files."""
        digest = hashlib.sha256()
        for path in sorted((self.path / "prediction").iterdir()):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()

    def check_frozen(self) -> None:
        """Refuse a prediction that is not the one frozen before the read.

        Raises:
            RunDirectoryError: if it changed, or was never frozen.
        """
        frozen = self.read_json("run.json").get("prediction", {}).get("sha256")
        if frozen is None:
            raise RunDirectoryError(f"{self.path}: the prediction was never frozen")
        if frozen != self.prediction_digest():
            raise RunDirectoryError(f"{self.path}: the prediction has changed since it was frozen")


def write_whole(path: Path, text: str) -> None:
    """Write a file by another name and rename it: it is the old one or the new one, never half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def run_name(kafka: str, metadata: str, scenario: str) -> str:
    """Return a run's directory name: time, release and scenario."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return f"{stamp}-{kafka}-{metadata}-{slug(scenario)}"


def slug(text: str) -> str:
    """Return a text as a file or topic name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower()
