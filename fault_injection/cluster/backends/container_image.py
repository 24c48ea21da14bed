"""Is an image there, can it be pulled or built, and which jars of a Kafka are in it?"""

import argparse
import contextlib
import logging
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

import docker
from docker.errors import DockerException, ImageNotFound, NotFound

from fault_injection.cluster.backend import NodeLaunch
from fault_injection.cluster.backends.container_shell import OWNER_LABEL, owner_of_this_process

LOCAL_JRE_IMAGE = "kafka-conformance/jre:17"
PUBLIC_JRE_IMAGE = "eclipse-temurin:17.0.13_11-jre"
JAR_DIRECTORIES = ("/opt/kafka/libs", "/usr/share/java/kafka")
"""Where our images, Apache's and Confluent's keep a broker's jars."""
CLASS_PATH = ":".join(f"{directory}/*" for directory in JAR_DIRECTORIES)
"""The class path in all of them; a directory that an image does not have does no harm."""

_JARS_LABEL = "org.kafka-conformance.jars"
_DOCKERFILE = "FROM {jre}\nCOPY libs /opt/kafka/libs\n"


def present_jre(client: Any, jre_image: str | None) -> str | None:  # noqa: ANN401 - untyped library
    """Return the name of the base image if it is there, the usual ones in turn when none is named."""
    for image in (LOCAL_JRE_IMAGE, PUBLIC_JRE_IMAGE) if jre_image is None else (jre_image,):
        with contextlib.suppress(ImageNotFound):
            client.images.get(image)
            return image
    return None


def problem_with_pulling(client: Any, image: str) -> str | None:  # noqa: ANN401 - untyped library
    """Pull an image; say in words why that fails, if it does."""
    try:
        client.images.pull(image)
    except DockerException as error:
        return f"the image {image} is neither present nor can it be pulled ({first_line(error)})"
    return None


def image_with_jars(client: Any, launch: NodeLaunch, jre_image: str) -> str:  # noqa: ANN401 - untyped library
    """Return the name of the image with a release's jars on a base image; it is built if it is not there."""
    tag = f"kafka-conformance/kafka:{launch.version}"
    wanted = f"{launch.jars.digest} on {jre_image}"
    with contextlib.suppress(ImageNotFound):
        if client.images.get(tag).labels.get(_JARS_LABEL) == wanted:
            return tag
    with tempfile.TemporaryDirectory() as context:
        (libs := Path(context, "libs")).mkdir()
        for jar in launch.jars.files:
            shutil.copy(jar, libs)
        Path(context, "Dockerfile").write_text(_DOCKERFILE.format(jre=jre_image))
        client.images.build(path=context, tag=tag, labels={_JARS_LABEL: wanted}, rm=True)
    return tag


def first_line(error: Exception) -> str:
    """Return the first line of what the daemon or the library says, cut to a length that fits a sentence."""
    text = str(getattr(error, "explanation", None) or error)
    return text.strip().splitlines()[0][:200]


def image_id(image: str) -> str:
    """Return the digest of an image that is present."""
    with contextlib.closing(docker.from_env()) as client:
        return str(client.images.get(image).id)


def jar_names(image: str) -> list[str]:
    """Return the names of the jars of the Kafka in an image that is present; none if it has none.

    A container is made of the image but not started, so nothing in the image is run.
    """
    with contextlib.closing(docker.from_env()) as client:
        labels = {OWNER_LABEL: owner_of_this_process()}
        container = client.containers.create(image, entrypoint=["java"], labels=labels)
        try:
            return sorted(name for directory in JAR_DIRECTORIES for name in _jars_in(container, directory))
        finally:
            container.remove(force=True)


def _jars_in(container: Any, directory: str) -> Iterator[str]:  # noqa: ANN401 - untyped library
    try:
        stream, _ = container.get_archive(directory)
    except NotFound:
        return
    with tarfile.open(fileobj=cast("IO[bytes]", _ChunkReader(stream)), mode="r|") as tar:
        yield from (PurePosixPath(member.name).name for member in tar if member.name.endswith(".jar"))


class _ChunkReader:
    """A stream of chunks as a file that can only be read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._pending = b""

    def read(self, size: int) -> bytes:
        while len(self._pending) < size and (chunk := next(self._chunks, b"")):
            self._pending += chunk
        taken, self._pending = self._pending[:size], self._pending[size:]
        return taken


# How is the base image of the brokers made where no image registry can be reached?
#
# ``python -m fault_injection.cluster.backends.container_image`` builds ``kafka-conformance/jre:17`` from Debian:
# debootstrap lays a minimal system with a Java runtime, and ``docker import`` makes an image of it. Needs root, the
# programs debootstrap and docker, and a reachable Debian mirror; takes about a minute.


IMAGE = "kafka-conformance/jre:17"
JRE_PACKAGE = "openjdk-17-jre-headless"
_LOG = logging.getLogger(__name__)
_NOT_NEEDED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")


class ImageBuildError(Exception):
    """The base image could not be built."""


def build(image: str, suite: str, mirror: str | None, packages: str = JRE_PACKAGE) -> None:
    """Build the base image.

    Args:
        image: the name that it gets.
        suite: the Debian release, one that has openjdk-17.
        mirror: the Debian mirror; None for debootstrap's own choice.
        packages: of Debian, with commas between.

    Raises:
        ImageBuildError: a program is missing or fails.
    """
    for program in ("debootstrap", "docker"):
        if shutil.which(program) is None:
            raise ImageBuildError(f"The program {program} is not installed.")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "root")
        _LOG.info("laying a minimal Debian %s with %s", suite, packages)
        included = f"--include={packages}"
        _run("debootstrap", "--variant=minbase", included, suite, str(root), *([mirror] if mirror else []))
        for directory in _NOT_NEEDED:
            shutil.rmtree(root / directory, ignore_errors=True)
        archive = Path(scratch, "root.tar")
        _run("tar", "-C", str(root), "-cf", str(archive), ".")
        _LOG.info("importing it as %s", image)
        _run("docker", "import", "--change", "LABEL org.kafka-conformance.image=jre", str(archive), image)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise ImageBuildError(f"{command[0]} failed: {' '.join(words[-3:])[:500]}")


def main() -> int:
    """Build the base image as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description="Build the brokers' base image without an image registry.")
    parser.add_argument("--image", default=IMAGE, help="name of the image (default: %(default)s)")
    parser.add_argument("--suite", default="bookworm", help="Debian release (default: %(default)s)")
    parser.add_argument("--mirror", default=None, help="Debian mirror (default: debootstrap's)")
    parser.add_argument("--packages", default=JRE_PACKAGE, help="of Debian, with commas between (default: %(default)s)")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        build(arguments.image, arguments.suite, arguments.mirror, arguments.packages)
    except ImageBuildError as error:
        _LOG.error("%s", error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
