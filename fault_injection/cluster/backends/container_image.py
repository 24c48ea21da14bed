"""Is an image there, can it be pulled or built, and which jars of a Kafka are in it?"""

import contextlib
import shutil
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
