"""Which backend runs the nodes, and why that one?"""

from typing import Literal

from fault_injection.cluster.backend import Backend
from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.releases import UsageError

try:
    from fault_injection.cluster.backends import container_image, docker
except ImportError as absent:
    _DOCKER_ABSENT: str | None = f"the Python package {absent.name} is not installed"
else:
    _DOCKER_ABSENT = None

BackendName = Literal["auto", "docker", "process"]


def choose_backend(
    requested: BackendName, jre_image: str | None = None, kafka_image: str | None = None
) -> tuple[Backend, str]:
    """Return the backend to use, and the reason in one sentence.

    Args:
        requested: ``auto`` takes containers where they can be had, else child processes.
        jre_image: the image with a Java runtime for containers; None for the usual one.
        kafka_image: an image that brings Kafka itself; needs containers.

    Raises:
        UsageError: containers are asked for and cannot be had, or there is no Java.
    """
    if requested == "process":
        if kafka_image is not None:
            raise UsageError("An image needs the docker backend, but the process backend was asked for.")
        return ProcessBackend(), "Child processes were asked for."
    problem = _DOCKER_ABSENT or docker.problem_with_docker(kafka_image or jre_image)
    if problem is None:
        reason = "Containers were asked for." if requested == "docker" else "A Docker daemon answers."
        return docker.DockerBackend(jre_image, kafka_image), reason
    if requested == "docker" or kafka_image is not None:
        raise UsageError(f"Containers cannot be used: {problem}.{_hint(problem, kafka_image)}")
    return ProcessBackend(), f"Child processes, because {problem}."


def jar_names_of_image(image: str) -> list[str]:
    """Return the names of the Kafka jars in a container image, which is pulled if need be.

    Raises:
        UsageError: containers or the image cannot be had.
    """
    _require_image(image)
    return container_image.jar_names(image)


def digest_of_image(image: str) -> str:
    """Return the digest of a container image, which is pulled if need be.

    Raises:
        UsageError: containers or the image cannot be had.
    """
    _require_image(image)
    return container_image.image_id(image)


def _require_image(image: str) -> None:
    problem = _DOCKER_ABSENT or docker.problem_with_docker(image)
    if problem is not None:
        raise UsageError(f"--image {image} cannot be used: {problem}.{_hint(problem, image)}")


def _hint(problem: str, kafka_image: str | None) -> str:
    """Return what to do about a problem."""
    if _DOCKER_ABSENT:
        return " pip install 'kafka-conformance[docker]' installs it."
    if kafka_image is None:
        return " Without a registry, python -m fault_injection.cluster.backends.container_image builds a base image."
    if problem.startswith("no Docker"):
        return (
            " Start Docker, or unpack that Kafka and give its directory with --kafka-home, which needs no containers."
        )
    return " Correct its name, or bring it here first: docker pull, docker load or docker build."
