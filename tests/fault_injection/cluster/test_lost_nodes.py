"""Whose doing is the end of a node that the tester did not end?"""

from __future__ import annotations

import pytest

from fault_injection.cluster.backend import ProcessState
from fault_injection.cluster.lost_nodes import LostNode, first_cause

FATAL = "[2026-11-22 10:00:01,000] FATAL [Broker 1] giving up (kafka.server.KafkaServer)"
LOG = f"""[2026-11-22 10:00:00,000] INFO an ERROR that is only mentioned (kafka.Kafka)
{FATAL}
java.lang.RuntimeException: a topic id existed in isrMembers
\tat kafka.Kafka.main
[2026-11-22 10:00:02,000] ERROR what followed (kafka.Kafka)
"""


NO_FILES = """[2026-11-22 09:59:55,000] ERROR Error while accepting connection (kafka.network.Acceptor)
java.io.IOException: Too many open files
"""
DISK_FULL = """[2026-11-22 10:00:01,000] ERROR Error while appending records to t-0 in dir /d (k.s.LogDirFailureChannel)
java.io.IOException: No space left on device
[2026-11-22 10:00:01,100] ERROR [ReplicaManager broker=1] Error processing append operation on partition t-0 (k.R)
org.apache.kafka.common.errors.KafkaStorageException: The log dir /d is already offline due to a previous IO exception.
[2026-11-22 10:00:01,200] INFO Stopping serving logs in dir /d (kafka.log.LogManager)
[2026-11-22 10:00:01,300] ERROR Shutdown broker because all log dirs in /d have failed (kafka.log.LogManager)
"""
DIVERGED = (
    "[2026-11-22 10:00:09,000] FATAL [ReplicaFetcherThread-0-1], Exiting as log truncation is not allowed (kafka)\n"
)
HEAP = "java.lang.OutOfMemoryError: Java heap space"


@pytest.mark.parametrize(
    ("exit_code", "log", "printed", "cause"),
    [
        (137, LOG, "", "was killed by signal 9, not by the tester"),
        (143, "", "", "was killed by signal 15, not by the tester"),
        (3, LOG, f"Terminating due to {HEAP}", f"machine failed it: Terminating due to {HEAP}"),
        (
            1,
            "",
            "# There is insufficient memory for the Java Runtime Environment to continue.",
            "# There is insufficient",
        ),
        (1, "", f'Exception in thread "main" {HEAP}', "machine failed it: Exception in thread"),
        (1, f"[2026-11-22 10:00:00,000] ERROR Fatal error during startup (kafka)\n{HEAP}\n", "", HEAP),
        (1, DISK_FULL, "", "machine failed it: java.io.IOException: No space left on device"),
        (1, LOG, "", None),
        (0, "", "", None),
    ],
)
def test_a_signal_and_a_machine_fault_are_not_the_node_s_own(
    exit_code: int, log: str, printed: str, cause: str | None
) -> None:
    told = LostNode("broker-1", ProcessState(exit_code), log, printed).foreign_cause

    assert told is None if cause is None else cause in str(told)


@pytest.mark.parametrize(
    ("log", "printed"),
    [
        (NO_FILES + LOG, ""),
        (NO_FILES + DIVERGED, ""),
        (LOG, f'Exception in thread "reporter" {HEAP}'),
        ("[2026-11-22 10:00:00,000] INFO the text No space left on device, mentioned (kafka)\n" + LOG, ""),
    ],
)
def test_a_machine_fault_that_a_node_survived_is_not_why_it_ended(log: str, printed: str) -> None:
    assert LostNode("broker-1", ProcessState(1), log, printed).foreign_cause is None


def test_the_first_severe_line_is_quoted_with_its_exception() -> None:
    assert first_cause(LOG) == f"{FATAL} java.lang.RuntimeException: a topic id existed in isrMembers"
    assert first_cause("[2026-11-22 10:00:00,000] INFO all is well (kafka.Kafka)") is None
    assert first_cause("") is None
