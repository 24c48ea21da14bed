"""What else can be doctored in a faultless run? What the examinations of the catalogue leave alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from conformance.examining.doctoring import change_rows, forget, ids
from tests.conformance.run_files import read_json, read_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.record.directory import RunDirectory


def topic_keeps_m1(run: RunDirectory) -> None:
    """Put the record back that these brokers lose, where it was acknowledged; m2 follows it."""
    kept = {"partition": 0, "offset": 1, "record_id": ids(run)["m1"], "value_matches": True}
    change_rows(run.path / "topic", lambda rows: [rows[0], kept, rows[1] | {"offset": 2}])


def ledger_forgets_the_attempt_of_m2(run: RunDirectory) -> None:
    """Remove what was written before m2 was sent; its outcome stays."""
    forget(run, "attempts-*.parquet", ids(run)["m2"])


def topic_is_damaged(run: RunDirectory) -> str:
    """Change one byte of what Spark wrote down of the topic, and return the file's name."""
    path = next((run.path / "topic").glob("*.parquet"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.name


def replica_log_of_2_loses_m2(run: RunDirectory) -> None:
    """Remove m2 from the log that broker 2 has on its disk."""
    m2 = ids(run)["m2"]
    change_rows(
        run.path / "replica_logs",
        lambda rows: [row for row in rows if (row["broker"], row["record_id"]) != (2, m2)],
    )


def checkpoint_shows_a_higher_watermark(run: RunDirectory) -> None:
    """Change one number of one checkpoint."""
    lines = read_lines(run, "observations.ndjson")
    end = next(line for line in lines if line.get("name") == "end")
    end["replicas"]["1"]["high_watermark"] += 1
    (run.path / "observations.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))


def prediction_changes_one_byte(run: RunDirectory) -> None:
    """Change one byte of the frozen prediction: the fate of m1."""
    path = run.path / "prediction" / "prediction.json"
    path.write_bytes(path.read_bytes().replace(b'"fate": "lost"', b'"fate": "lose"', 1))


def _change_wire(run: RunDirectory, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    path = run.path / "wire.ndjson"
    lines = change([json.loads(line) for line in path.read_text().splitlines()])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _followed(line: dict[str, Any], run: RunDirectory, direction: str) -> dict[str, Any] | None:
    """Return what a follower's FETCH or its answer says of the run's topic; None if the line is another frame."""
    if line.get("api") != "Fetch" or line["direction"] != direction:
        return None
    topic = read_json(run, "run.json")["topic"]
    return next((entry for entry in line["decoded"]["partitions"] if entry["topic"] == topic), None)


def wire_is_gone(run: RunDirectory) -> None:
    """Remove the wire trace."""
    (run.path / "wire.ndjson").unlink()


def wire_is_cut_short(run: RunDirectory) -> None:
    """Cut the wire trace in the middle of a line, as a full disk does."""
    path = run.path / "wire.ndjson"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def wire_misses_a_frame(run: RunDirectory) -> None:
    """Remove one answer from the middle of the wire trace; a request may go unanswered, so its count alone tells."""

    def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        middle = next(n for n, line in enumerate(lines) if n > len(lines) // 2 and line.get("direction") == "response")
        return lines[:middle] + lines[middle + 1 :]

    _change_wire(run, change)


def wire_has_an_undecoded_frame(run: RunDirectory) -> None:
    """Let one FETCH be one that the tester could not read."""
    _change_wire(
        run, lambda lines: [line | {"decoded": None} if _followed(line, run, "request") else line for line in lines]
    )


def wire_tells_a_higher_watermark(run: RunDirectory) -> None:
    """Let the leader tell its follower a high watermark above what the follower has."""

    def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        told = [entry for line in lines if (entry := _followed(line, run, "response")) is not None]
        next(entry for entry in told if entry["error"] == 0)["high_watermark"] += 1
        return lines

    _change_wire(run, change)


def wire_moves_a_fetch_back(run: RunDirectory) -> None:
    """Let a follower fetch again what it has, in the last of its requests."""

    def change(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = [entry for line in lines if (entry := _followed(line, run, "request")) is not None]
        asked[-1]["fetch_offset"] -= 1
        return lines

    _change_wire(run, change)
