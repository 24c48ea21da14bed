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


@pytest.mark.parametrize(
    ("exit_code", "log", "cause"),
    [
        (137, LOG, "was killed by signal 9, not by the tester"),
        (143, "", "was killed by signal 15, not by the tester"),
        (3, "java.lang.OutOfMemoryError: Java heap space", "machine failed it: java.lang.OutOfMemoryError"),
        (1, "java.io.IOException: No space left on device", "machine failed it: java.io.IOException"),
        (1, LOG, None),
        (0, "", None),
    ],
)
def test_a_signal_and_a_machine_fault_are_not_the_node_s_own(exit_code: int, log: str, cause: str | None) -> None:
    told = LostNode("broker-1", ProcessState(exit_code), log).foreign_cause

    assert told is None if cause is None else cause in str(told)


def test_the_first_severe_line_is_quoted_with_its_exception() -> None:
    assert first_cause(LOG) == f"{FATAL} java.lang.RuntimeException: a topic id existed in isrMembers"
    assert first_cause("[2026-11-22 10:00:00,000] INFO all is well (kafka.Kafka)") is None
    assert first_cause("") is None
