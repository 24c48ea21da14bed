"""Does a composed cluster end without hiding what failed, carry its owner, and say what is missing to start it?"""

from __future__ import annotations

import os
from contextlib import nullcontext

import pytest
import yaml

from fault_injection.cluster.backends.container_shell import OWNER_LABEL, owner_of_this_process
from fault_injection.cluster.composed import COMPOSE_FILE, composed_spec
from tests.integration import composition
from tests.integration.composition import Composed, base_image, labelled, removed_at_the_end
from tests.project.documents import ROOT

SPEC = composed_spec("4.4.0")


def cluster(command: str) -> Composed:
    return Composed(("sh", "-c", command), dict(os.environ), SPEC)


def test_what_failed_first_is_not_hidden_by_a_cluster_that_cannot_be_removed() -> None:
    with pytest.raises(ValueError, match="first") as raised, removed_at_the_end(cluster("echo still there >&2; false")):
        raise ValueError("first")
    (note,) = raised.value.__notes__
    assert note.startswith("besides, the cluster could not be removed: still there")


def test_a_cluster_that_cannot_be_removed_fails_a_test_that_held() -> None:
    with pytest.raises(AssertionError, match="still there"), removed_at_the_end(cluster("echo still there >&2; false")):
        pass


@pytest.mark.parametrize(("folder", "version"), [("kraft", "4.4.0/kraft"), ("zookeeper", "3.9.2/zookeeper")])
def test_every_node_and_the_network_carry_the_owner(folder: str, version: str) -> None:
    composed = yaml.safe_load((ROOT / "compose" / folder / COMPOSE_FILE).read_text(encoding="utf-8"))
    release, _, mode = version.partition("/")
    over = labelled(composed_spec(release, composition.MetadataMode(mode)))
    assert over == {
        "services": {name: {"labels": {OWNER_LABEL: owner_of_this_process()}} for name in composed["services"]},
        "networks": {"default": {"labels": {OWNER_LABEL: owner_of_this_process()}}},
    }


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("the image x is neither present nor can it be pulled (no)", "make jre-image builds a base image"),
        (None, "no base image with a Java runtime is there: make jre-image"),
    ],
)
def test_without_a_base_image_it_is_said_how_one_is_built(
    monkeypatch: pytest.MonkeyPatch, problem: str | None, reason: str
) -> None:
    monkeypatch.setattr(composition, "problem_with_docker", lambda _image: problem)
    monkeypatch.setattr(composition, "present_jre", lambda _client, _image: None)
    monkeypatch.setattr(composition.docker, "from_env", lambda: None)
    monkeypatch.setattr(composition, "closing", lambda _client: nullcontext())
    with pytest.raises(pytest.skip.Exception, match=reason):
        base_image()
