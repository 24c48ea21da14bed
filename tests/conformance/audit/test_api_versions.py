"""Do the brokers of each line speak what is kept of it?

``REWRITE_GOLDEN=1`` writes what they speak: for a new release with ``-k 4.5``, and read the difference.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from conformance.audit.cluster import NotSeen
from conformance.audit.reading import cluster_reader
from conformance.audit.release_seen import LineSpeaks, known_lines
from conformance.line import line_named
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.lifecycle import Cluster
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec
from fault_injection.releases import RELEASES, jars_of

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]

KEPT = Path(str(files("conformance.audit") / "api_versions.json"))
LINES = [f"{release.version}/{mode.value}" for release in RELEASES for mode in release.metadata_modes]


def spoken_by(text: str, directory: Path) -> LineSpeaks:
    line = line_named(text)
    controller = 100 if text.endswith("kraft") else None
    spec = ClusterSpec(line.release, line.metadata, broker_ids=(1,), controller_id=controller)
    backend = ProcessBackend()
    try:
        with (
            Cluster.start(spec, jars_of(line.release), backend, DirectRelay(), directory) as cluster,
            cluster_reader([cluster.client_address(1)]) as reader,
        ):
            (broker,) = reader.read().brokers
    finally:
        backend.close()
    assert not isinstance(broker.speaks, NotSeen)
    return LineSpeaks.of(broker.speaks)


def keep(text: str, speaks: LineSpeaks) -> None:
    """Write a line's row, in the order of the releases."""
    rows = json.loads(KEPT.read_text()) | {text: msgspec.to_builtins(speaks, str_keys=True)}
    order = sorted(rows, key=lambda name: (name.endswith("kraft"), LINES.index(name) if name in LINES else 0))
    KEPT.write_text("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(rows[name])}" for name in order) + "\n}\n")


@pytest.mark.parametrize("text", LINES)
def test_the_brokers_of_a_line_speak_what_is_kept_of_it(text: str, tmp_path: Path) -> None:
    speaks = spoken_by(text, tmp_path)
    if "REWRITE_GOLDEN" in os.environ:
        keep(text, speaks)
        known_lines.cache_clear()
    assert speaks == known_lines()[text]
