"""A Kafka that the user brings, in a directory or in an image, is the one that is run and judged."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import docker
import pytest

from conformance.line import line_named
from conformance.run_options import OwnKafka
from fault_injection.cluster.backends.choice import digest_of_image
from fault_injection.cluster.backends.container_image import present_jre
from fault_injection.cluster.backends.docker import problem_with_docker
from fault_injection.releases import UsageError, find_release, jars_of
from fault_injection.releases.jars import jar_set

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.timeout(240)]

OWN_IMAGE = "kafka-conformance.invalid/own:1"


def run(folder: Path, *options: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run TR-01 and return what the command line answered, and the run's description of itself."""
    command = [sys.executable, "-m", "conformance.cli", "run", "TR-01", "--json", "--runs-dir", folder / "runs"]
    done = subprocess.run(
        [*map(str, command), *map(str, options)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (answer,) = json.loads(done.stdout)["runs"]
    (description,) = (folder / "runs").glob("*/run.json")
    return answer, json.loads(description.read_text(encoding="utf-8"))


def verdict(answer: dict[str, Any]) -> list[str]:
    return [answer[name] for name in ("kafka", "metadata", "backend", "conformance", "promise")]


def test_a_directory_is_run_and_tells_its_release(tmp_path: Path) -> None:
    libs = tmp_path / "kafka" / "libs"
    libs.mkdir(parents=True)
    for jar in jars_of(find_release("3.9.2")).files:
        os.link(jar, libs / jar.name)
    with zipfile.ZipFile(libs / "of-my-own.jar", "w") as own:
        own.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
    answer, about = run(tmp_path, "--kafka-home", libs.parent.relative_to(tmp_path), "--backend", "process")

    assert verdict(answer) == ["3.9.2", "kraft", "process", "CONFORMS", "KEPT"]
    assert about["digests"]["jars"] == jar_set(libs).digest
    assert about["digests"]["jars"] != jars_of(find_release("3.9.2")).digest


def test_a_build_newer_than_every_release_is_run_by_the_rules_that_are_named(tmp_path: Path) -> None:
    libs = tmp_path / "kafka" / "libs"
    libs.mkdir(parents=True)
    for jar in jars_of(find_release("4.4.0")).files:
        os.link(jar, libs / jar.name.replace("kafka_2.13-4.4.0", "kafka_2.13-4.5.0-SNAPSHOT"))
    answer, about = run(
        tmp_path, "--kafka-home", libs.parent, "--backend", "process", "--rules-of", "4.4.0", "--label", "fork"
    )

    assert verdict(answer) == ["4.4.0", "kraft", "process", "CONFORMS", "KEPT"]
    assert (answer["build"], answer["label"]) == (about["build"], about["label"]) == ("4.5.0-SNAPSHOT", "fork")
    report = (tmp_path / "runs" / "report.html").read_text(encoding="utf-8")
    assert "4.4.0 (KRaft), fork (jar 4.5.0-SNAPSHOT)" in report


JAVA_ELSEWHERE = r"""RUN found=$(readlink -f "$(command -v java)") && mkdir --parents /opt/java \
 && ln -s "${{found%/bin/java}}" /opt/java/openjdk && rm "$(command -v java)"
ENV JAVA_HOME=/opt/java/openjdk PATH=/opt/java/openjdk/bin:$PATH
"""
APACHES = f"""FROM {{base}}
{JAVA_ELSEWHERE}COPY libs /opt/kafka/libs
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data"]
USER 1000
ENTRYPOINT ["/__cacert_entrypoint.sh"]
CMD ["/etc/kafka/docker/run"]
"""
"""Apache's image: who runs in it, where its jars and its Java are, and what it would start, which is not there."""
CONFLUENTS = """FROM {base}
COPY libs /usr/share/java/kafka
VOLUME ["/var/lib/kafka/data", "/etc/kafka/secrets"]
WORKDIR /etc
USER 1000
CMD ["/etc/confluent/docker/run"]
"""
"""Confluent's image, whose broker's jar has Confluent's own version."""
LIKE = {"apache": (APACHES, "4.3.1"), "confluent": (CONFLUENTS, "8.3.0-ccs")}


@pytest.fixture(params=LIKE)
def image_of_others(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An image of 4.3.1 that is laid out as an image of theirs."""
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    layout, version = LIKE[request.param]
    (tmp_path / "context" / "libs").mkdir(parents=True)
    for jar in jars_of(find_release("4.3.1")).files:
        os.link(jar, tmp_path / "context" / "libs" / jar.name.replace("kafka_2.13-4.3.1", f"kafka_2.13-{version}"))
    with contextlib.closing(docker.from_env()) as client:
        base = present_jre(client, None)
        (tmp_path / "context" / "Dockerfile").write_text(layout.format(base=base))
        client.images.build(path=str(tmp_path / "context"), tag=OWN_IMAGE, rm=True)
        yield OWN_IMAGE
        client.images.remove(OWN_IMAGE, force=True)


@pytest.mark.docker
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_image_is_run_and_tells_its_release(tmp_path: Path, image_of_others: str) -> None:
    answer, about = run(tmp_path, "--image", image_of_others)

    assert verdict(answer) == ["4.3.1", "kraft", "docker", "CONFORMS", "KEPT"]
    assert about["digests"]["image"] == digest_of_image(image_of_others)
    assert about["digests"]["jars"] == ""


@pytest.mark.docker
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_image_without_a_kafka_is_refused() -> None:
    problem = problem_with_docker(None)
    if problem is not None:
        pytest.skip(problem)
    with contextlib.closing(docker.from_env()) as client:
        base = present_jre(client, None)
    with pytest.raises(UsageError, match="holds no Kafka broker"):
        line_named("newest", own=OwnKafka(image=base))
