"""Are the clusters of compose/ those that the tester would start, and is what is written there up to date?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from fault_injection.cluster.composed import COMPOSE_FILE, composed_files, composed_spec
from fault_injection.cluster.imposed import imposed_settings
from fault_injection.releases import MetadataMode, UsageError
from tests.project.documents import ROOT

if TYPE_CHECKING:
    from fault_injection.cluster.spec import ClusterSpec

COMPOSED = {
    "kraft": composed_spec("4.4.0", MetadataMode.KRAFT),
    "zookeeper": composed_spec("3.9.2", MetadataMode.ZOOKEEPER),
}


def settings(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


@pytest.mark.parametrize("folder", COMPOSED)
def test_the_files_in_the_folder_are_what_the_tester_writes(folder: str) -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "compose" / folder).iterdir()}
    assert there == composed_files(COMPOSED[folder])


@pytest.mark.parametrize("spec", COMPOSED.values(), ids=list(COMPOSED))
def test_every_node_has_all_settings_that_the_tester_imposes(spec: ClusterSpec) -> None:
    files = composed_files(spec)
    for node in spec.nodes:
        written = settings(files[f"{node.name}.properties"])
        imposed = imposed_settings(spec, node)
        assert imposed
        assert {key: written.get(key) for key in imposed} == imposed


@pytest.mark.parametrize("spec", COMPOSED.values(), ids=list(COMPOSED))
def test_brokers_have_the_testers_two_listeners(spec: ClusterSpec) -> None:
    for node in spec.broker_nodes:
        written = settings(composed_files(spec)[f"{node.name}.properties"])
        assert written["inter.broker.listener.name"] == "REPLICATION"
        client, replication = written["advertised.listeners"].split(",")
        assert client == f"CLIENT://127.0.0.1:{19090 + node.id}"
        assert replication == f"REPLICATION://{node.name}:9093"


@pytest.mark.parametrize("spec", COMPOSED.values(), ids=list(COMPOSED))
def test_a_service_is_its_node_and_mounts_what_is_there(spec: ClusterSpec) -> None:
    files = composed_files(spec)
    services = yaml.safe_load(files[COMPOSE_FILE])["services"]
    assert list(services) == [node.name for node in spec.nodes]
    assert len(spec.broker_nodes) == 3
    for node in spec.nodes:
        service = services[node.name]
        (command,) = service["command"]
        assert command.endswith(" /kafka/server.properties")
        assert (" kafka.tools.StorageTool format " in command) == spec.is_kraft
        sources = [volume.removeprefix("./").split(":")[0] for volume in service["volumes"][1:]]
        assert f"{node.name}.properties" in sources
        assert set(sources) <= set(files)
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))


def test_another_release_has_its_own_settings() -> None:
    files = composed_files(composed_spec("0.10.2"))
    assert "jars/0.10.2.2" in files[COMPOSE_FILE]
    assert "max.incremental.fetch.session.cache.slots" not in settings(files["broker-1.properties"])


def test_a_mode_that_the_release_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="does not run in kraft mode"):
        composed_spec("2.8.2", MetadataMode.KRAFT)
