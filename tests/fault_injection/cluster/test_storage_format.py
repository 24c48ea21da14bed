"""Is a broker's directory, copied from the controller's, what Kafka's own tool would have made?"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.cluster.backend import Backend, StorageFormatError
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.bring_up import META_PROPERTIES, format_storage, new_uuid
from fault_injection.cluster.launches import SETTINGS, storage_tool_launch, write_files
from fault_injection.cluster.plan import DATA, ClusterPlan, properties
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.releases import JarSet, MetadataMode, find_release, jars_of

BROKER, CONTROLLER = Node(ProcessRole.BROKER, 1), Node(ProcessRole.CONTROLLER, 100)


@pytest.fixture
def backend() -> Iterator[Backend]:
    backend = ProcessBackend()
    yield backend
    backend.close()


def prepared(spec: ClusterSpec, directory: Path, backend: Backend) -> dict[Node, Path]:
    plan = ClusterPlan(spec, directory, backend, DirectRelay())
    plan.close()
    for node, of_node in plan.nodes.items():
        write_files(spec, of_node.directory, properties(spec, node, of_node.listeners))
    return {node: of_node.directory for node, of_node in plan.nodes.items()}


def contents(data: Path) -> dict[str, bytes]:
    """Return every file of a directory, without what is random or a time stamp in it."""
    files = {file.name: file.read_bytes() for file in data.iterdir()}
    meta = re.sub(rb"(?m)^(#.*|directory\.id=.*)\n", b"", files[META_PROPERTIES])
    return {**files, META_PROPERTIES: b"\n".join(sorted(meta.split()))}


def formatted_by_the_tool(spec: ClusterSpec, directory: Path, jars: JarSet, backend: Backend) -> dict[str, bytes]:
    cluster_id = re.findall(r"cluster\.id=(\S+)", (directory / DATA / META_PROPERTIES).read_text())[0]
    for file in (directory / DATA).iterdir():
        file.unlink()
    arguments = ("format", "-t", cluster_id, "-c", str(directory / SETTINGS))
    exit_code, printed = backend.run_to_end(storage_tool_launch(spec, BROKER, directory, jars, arguments))
    assert exit_code == 0, printed
    return contents(directory / DATA)


@pytest.mark.broker
@pytest.mark.parametrize("version", ["3.3", "3.9", "4.3"])
def test_a_copied_directory_equals_a_formatted_one(version: str, backend: Backend, tmp_path: Path) -> None:
    release = find_release(version)
    spec = ClusterSpec(release, MetadataMode.KRAFT, broker_ids=(1,))
    directories = prepared(spec, tmp_path, backend)
    jars = jars_of(release)
    format_storage(spec, {node.id: directory for node, directory in directories.items()}, jars, backend)
    copied = contents(directories[BROKER] / DATA)
    assert b"node.id=1" in copied[META_PROPERTIES].split()
    by_tool = formatted_by_the_tool(spec, directories[BROKER], jars, backend)
    assert copied.keys() == by_tool.keys()
    assert copied[META_PROPERTIES] == by_tool[META_PROPERTIES]


@pytest.mark.broker
def test_a_feature_that_the_release_lacks_is_told(backend: Backend, tmp_path: Path) -> None:
    spec = ClusterSpec(find_release("4.3"), MetadataMode.KRAFT, broker_ids=(1,), features={"no.such.feature": 1})
    directories = prepared(spec, tmp_path, backend)
    with pytest.raises(StorageFormatError, match=r"no\.such\.feature"):
        format_storage(spec, {n.id: d for n, d in directories.items()}, jars_of(spec.release), backend)


def test_an_id_is_16_bytes_in_kafkas_spelling() -> None:
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", new_uuid()) for _ in range(200))
