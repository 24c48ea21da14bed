"""Does a ledger beside a cluster of docker-compose see `docker kill`, and that it takes no record with it?"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fault_injection.releases import MetadataMode
from tests.integration.composition import composed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.docker
@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(400)
def test_a_container_that_is_killed_takes_no_record_with_it(tmp_path: Path) -> None:
    with composed("kraft", "4.4.0", MetadataMode.KRAFT) as cluster:
        container = cluster.compose("ps", "-q", "broker-2").decode().strip()
        kill = f"docker kill {container}; sleep 12; docker start {container}"
        command = [sys.executable, "-m", "conformance.cli", "attach", "--bootstrap-server", ",".join(cluster.addresses)]
        command += ["--create", "chaos", "--duration", "40s", "--runs-dir", str(tmp_path), "--json"]
        command += ["--fault-command", kill, "--at", "5s", "--one-at-a-time"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["promise"] == "kept"
    assert [one["exit_code"] for one in told["commands"]] == [0]
    assert [line for line in told["rests_on"] if line.startswith("seen once a second: at least 2 in-sync replicas")]
