"""Which runs must a report tell well? The documented stories, a deviation, a broken run, one never run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.reports.golden_steps import divergence_steps, half_steps, truncation_steps, witness_steps
from tests.reports.golden_writer import GoldenRecord, GoldenRun, write_golden

if TYPE_CHECKING:
    from pathlib import Path

_ENVIRONMENT = {"java": "17.0.12", "python": "3.11", "os": "Linux 6.1", "tester": "0.1.0"}
_IMPOSED = {
    "auto.leader.rebalance.enable": "false",
    "replica.fetch.wait.max.ms": "100",
    "replica.high.watermark.checkpoint.interval.ms": "100",
    "replica.lag.time.max.ms": "120000",
    "zookeeper.session.timeout.ms": "2000",
}


def write_all(folder: Path) -> list[Path]:
    """Write every golden run and return the directories in reading order."""
    goldens = (loss(), kept(), clean_loss(), divergence(), half_stepped(), deviation(), harness_error(), not_run())
    return [write_golden(golden, folder) for golden in goldens]


def loss() -> GoldenRun:
    """TR-01 on 0.10.2.2: m1 is acknowledged, then truncated away on both replicas."""
    return GoldenRun(
        run=described("TR-01", "0.10.2.2", "zookeeper", 14.2) | {"quirks": [_QUIRK]},
        verdict=judged("TR-01", "0.10.2.2", "zookeeper", "CONFORMS", "BROKEN_AS_PREDICTED", _LOSS_REASON)
        | {"losses": [{"label": "m1", "promise": "broken", "reason": _LOSS}]},
        steps=truncation_steps(after_restart=(1, 1), fetch_offset=1),
        records=(
            GoldenRecord("m0", "present", 0, 0, 0),
            GoldenRecord("m1", "lost", None, None, 1, promise="broken", reason=_LOSS, decided_by=_CUT),
            GoldenRecord("m2", "present", 1, 1, 1),
        ),
        logs={1: [("m0", -1), ("m2", -1)], 2: [("m0", -1), ("m2", -1)]},
        counts=counts(kept=2, lost=1),
    )


def kept() -> GoldenRun:
    """TR-01 on 4.3.1: the restarted follower keeps its log, nothing is lost."""
    return GoldenRun(
        run=described("TR-01", "4.3.1", "kraft", 19.4),
        verdict=judged("TR-01", "4.3.1", "kraft", "CONFORMS", "KEPT", "All 28 numbers and 3 fates agree."),
        steps=truncation_steps(after_restart=(2, 1), fetch_offset=2),
        records=tuple(GoldenRecord(f"m{i}", "present", i, i, i) for i in range(3)),
        logs={broker: [("m0", 0), ("m1", 0), ("m2", 2)] for broker in (1, 2)},
        counts=counts(kept=3, lost=0),
    )


def deviation() -> GoldenRun:
    """TR-01 on 3.9.1, where the model says kept and the brokers behaved like 0.10.2."""
    wrong = loss()
    text = "m1 was acknowledged at offset 1 and must be present; it is not in the topic."
    checkpoint = "Checkpoint “follower restarted”: broker 2 log end offset, predicted 2, measured 1."
    verdict = judged("TR-01", "3.9.1", "kraft", "DEVIATES", "BROKEN", f"2 findings; first: {checkpoint}")
    findings = [{"kind": "checkpoint", "text": checkpoint}, {"kind": "record", "text": text}]
    m1 = GoldenRecord("m1", "present", 1, None, 1, promise="broken", reason="acks=all promises it")
    return replace(
        wrong,
        run=described("TR-01", "3.9.1", "kraft", 16.8),
        verdict=verdict | {"findings": findings, "losses": [{"label": "m1", "promise": "broken", "reason": text}]},
        predicted_steps=truncation_steps(after_restart=(2, 1), fetch_offset=2),
        records=(wrong.records[0], m1, wrong.records[2]),
        counts=counts(kept=2, lost=1) | {"predicted": {"kept": 3, "lost": 0}, "deviations": 1},
    )


def divergence() -> GoldenRun:
    """TR-03 on 0.10.2.2: two records at one offset, and nobody notices."""
    reason = "offset 1 holds m1 on broker 1 and x1 on broker 2; truncation to the high watermark cuts neither"
    return GoldenRun(
        run=described("TR-03", "0.10.2.2", "zookeeper", 12.6),
        verdict=judged("TR-03", "0.10.2.2", "zookeeper", "CONFORMS", "BROKEN_AS_PREDICTED", "As predicted: " + reason)
        | {"losses": [{"label": "m1", "promise": "broken", "reason": reason}]},
        steps=divergence_steps(),
        records=(
            GoldenRecord("m0", "present", 0, 0, 0),
            GoldenRecord("m1", "lost", None, None, 1, promise="broken", reason=reason, decided_by=_CUT),
            GoldenRecord("x1", "present", 1, 1, 1),
            GoldenRecord("m3", "present", 2, 2, 2),
        ),
        logs={1: [("m0", -1), ("m1", -1), ("m3", -1)], 2: [("m0", -1), ("x1", -1), ("m3", -1)]},
        counts=counts(kept=3, lost=1) | {"classes": {"kept": 3, "lost": 1, "diverged": 1, "phantom": 0}},
    )


def clean_loss() -> GoldenRun:
    """TR-02 on 0.10.2.2: the safe pair loses m1 all the same, and broker 1 keeps it: diverged."""
    run = described("TR-02", "0.10.2.2", "zookeeper", 16.2)
    user = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false", "replication.factor": "3"}
    return GoldenRun(
        run=run | {"scenario": "TR-02/safe", "variant": "safe", "settings": {"user": user, "imposed": _IMPOSED}},
        verdict=judged("TR-02", "0.10.2.2", "zookeeper", "CONFORMS", "BROKEN_AS_PREDICTED", _LOSS_REASON)
        | {"losses": [{"label": "m1", "promise": "broken", "reason": _LOSS}]},
        steps=witness_steps(),
        records=(
            GoldenRecord("m0", "present", 0, 0, 0),
            GoldenRecord("m1", "lost", None, None, 1, promise="broken", reason=_LOSS, decided_by=_CUT),
            GoldenRecord("m2", "present", 1, 1, 1),
            GoldenRecord("m3", "present", 2, 2, 2),
        ),
        logs={broker: [("m0", -1), (middle, -1), ("m3", -1)] for broker, middle in ((1, "m1"), (2, "m2"), (3, "m2"))},
        counts=counts(kept=3, lost=1),
    )


def half_stepped() -> GoldenRun:
    """HW-03 on 4.3.1: every half step of one record, with holds that are released."""
    return GoldenRun(
        run=described("HW-03", "4.3.1", "kraft", 9.1) | {"variant": None},
        verdict=judged("HW-03", "4.3.1", "kraft", "CONFORMS", "KEPT", "All 24 numbers and 1 fate agree."),
        steps=half_steps(),
        records=(GoldenRecord("m0", "present", 0, 0, 0),),
        logs={broker: [("m0", 0)] for broker in (1, 2)},
        counts=counts(kept=1, lost=0),
    )


def harness_error() -> GoldenRun:
    """A run that ended before it was judged."""
    failure = {"kind": "hold", "message": "hold “gap” caught nothing in 20 s; 41 other fetches of broker 2 passed"}
    run = described("TR-02", "2.8.2", "zookeeper", 31.0) | {"harness_failure": failure, "finished": None}
    return GoldenRun(run=run, verdict=None)


def not_run() -> GoldenRun:
    """A scenario that does not apply to the version."""
    run = described("EL-06", "0.10.2.2", "zookeeper", 0.0)
    reason = "eligible leader replicas exist from 4.0 on"
    return GoldenRun(run=run, verdict=judged("EL-06", "0.10.2.2", "zookeeper", "NOT_RUN", None, reason))


_LOSS = (
    "acks=all with broker 2 in the ISR promised m1, but a 0.10.2 broker truncates to its own high watermark"
    " when it becomes a follower (KIP-101 fixed this in 0.11)"
)
_LOSS_REASON = "All 28 numbers and 3 fates agree with the prediction, the loss of m1 among them."
_CUT = "a follower truncates to its own high watermark before it fetches (truncate-to-high-watermark)"


def described(scenario: str, kafka: str, metadata: str, seconds: float) -> dict[str, Any]:
    titles = {
        "TR-01": ("truncation/restarted-follower-keeps-committed-record", _TR_01),
        "TR-02": ("truncation/clean-elections-keep-committed-record", "Clean elections lose no committed record."),
        "TR-03": ("truncation/replicas-agree-after-double-crash", _TR_03),
        "HW-03": ("high-watermark/half-steps-of-one-record", "A record is committed one half step at a time."),
        "EL-06": ("elections/last-replica-standing", "The last in-sync replica is not elected once it lost data."),
    }
    schedule_id, requirement = titles[scenario]
    return {
        "format": 1,
        "run": f"20261121T170800-{kafka}-{metadata}-{scenario.lower()}",
        "scenario": f"{scenario}/unsafe" if scenario.startswith("TR") else scenario,
        "schedule_id": schedule_id,
        "explanation": "Watch broker 2's log when it comes back." if scenario == "TR-01" else "",
        "requirement": requirement,
        "sources": [scenario, "000", "001", "KIP-101"],
        "variant": "unsafe" if scenario.startswith("TR") else None,
        "kafka": kafka,
        "metadata": metadata,
        "backend": "process",
        "topic": "conformance-tr01",
        "seed": 1,
        "started": "2026-11-21T17:08:00+00:00",
        "finished": "2026-11-21T17:08:30+00:00",
        "seconds": seconds,
        "settings": {
            "user": {
                "min.insync.replicas": "1",
                "unclean.leader.election.enable": "true",
                "replication.factor": "2",
            },
            "imposed": _IMPOSED,
        },
        "digests": {"jars": "sha256:9f31c0", "image": None},
        "environment": _ENVIRONMENT,
        "harness_failure": None,
        "brokers": [1, 2, 3],
        "controller": 3,
    }


_QUIRK = "jaxb-api 2.3.0 is added: Java 11 dropped javax.xml.bind"
_TR_01 = "A follower that restarts keeps every record its leader had committed."
_TR_03 = "Two replicas that crash in turn never hold different records at one offset."


def judged(
    scenario: str, kafka: str, metadata: str, conformance: str, promise: str | None, reason: str
) -> dict[str, Any]:
    return {
        "scenario": scenario,
        "kafka": kafka,
        "metadata": metadata,
        "backend": "process",
        "conformance": conformance,
        "promise": promise,
        "reason": reason,
        "findings": [],
        "losses": [],
    }


def counts(kept: int, lost: int) -> dict[str, Any]:
    produced = kept + lost
    totals = {"produced": produced, "predicted": produced, "read": kept, "acknowledged": produced, "refused": 0}
    classes = {"kept": kept, "lost": lost, "absent": 0, "phantom": 0, "resurrected": 0, "duplicated": 0}
    return {"totals": totals, "classes": classes, "predicted": classes, "deviations": 0, "identity_holds": True}
