"""How is the base image of the brokers made where no image registry can be reached?

``python -m fault_injection.cluster.backends.jre_image`` builds ``kafka-conformance/jre:17`` from Debian packages:
debootstrap lays a minimal system with a Java runtime, and ``docker import`` makes an image of it. Needs root, the
programs debootstrap and docker, and a reachable Debian mirror; takes about a minute.
"""

import argparse
import logging
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IMAGE = "kafka-conformance/jre:17"
_LOG = logging.getLogger(__name__)
_NOT_NEEDED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")


class ImageBuildError(Exception):
    """The base image could not be built."""


def build(image: str, suite: str, mirror: str | None) -> None:
    """Build the base image.

    Args:
        image: the name that it gets.
        suite: the Debian release, one that has openjdk-17.
        mirror: the Debian mirror; None for debootstrap's own choice.

    Raises:
        ImageBuildError: a program is missing or fails.
    """
    for program in ("debootstrap", "docker"):
        if shutil.which(program) is None:
            raise ImageBuildError(f"The program {program} is not installed.")
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "root")
        _LOG.info("laying a minimal Debian %s with Java 17", suite)
        packages = "--include=openjdk-17-jre-headless"
        _run("debootstrap", "--variant=minbase", packages, suite, str(root), *([mirror] if mirror else []))
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
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        build(arguments.image, arguments.suite, arguments.mirror)
    except ImageBuildError as error:
        _LOG.error("%s", error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
