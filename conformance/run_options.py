"""How are entries run, whichever way they are asked for? The options that ``run``, ``matrix`` and pytest share.

Imported by every pytest that has the plugin, so it imports nothing that takes time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from fault_injection.cluster.backends.choice import BackendName

DEFAULT_MASTER = "local[2]"
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""What a Kafka may be called: folders are named so."""


@dataclass(frozen=True, slots=True)
class OwnKafka:
    """A Kafka that the user brings, in a directory or in an image.

    Attributes:
        home: the directory of a distribution, with ``libs/*.jar``; None if it is an image.
        image: the name of a container image; None if it is a directory.
        rules_of: the release by whose rules it is judged, such as ``3.9.2``; None if its own are known.
        label: what the user calls it; None if it has no name but its release's.
    """

    home: Path | None = None
    image: str | None = None
    rules_of: str | None = None
    label: str | None = None

    @property
    def words(self) -> str:
        """Return the option that names it."""
        return f"--image {self.image}" if self.home is None else f"--kafka-home {self.home}"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How entries are run.

    Attributes:
        jre_image: the base of containers; None for the usual one.
        seed: of record ids; None takes a new one, or the one that is there already.
        fetch_sessions: False has followers list every partition in every fetch of a schedule's run.
        own: the user's Kafka; None runs a release's own jars.
        rules_of: the rules that a release's own jars are held against, if they are not its own.
        accept: the file of findings that the user accepts; None accepts none.
    """

    backend: BackendName = "auto"
    jre_image: str | None = None
    spark_master: str = DEFAULT_MASTER
    seed: int | None = None
    fetch_sessions: bool = True
    own: OwnKafka | None = None
    accept: Path | None = None
    rules_of: str | None = None


RUN_OPTIONS = (
    "--backend",
    "--jre-image",
    "--kafka-home",
    "--image",
    "--rules-of",
    "--label",
    "--seed",
    "--no-fetch-sessions",
    "--spark-master",
    "--accept",
)
IN_PYTEST = {
    "--backend": "--kafka-backend",
    "--image": "--kafka-image",
    "--rules-of": "--kafka-rules-of",
    "--label": "--kafka-label",
    "--seed": "--conformance-seed",
    "--no-fetch-sessions": "--kafka-no-fetch-sessions",
    "--spark-master": "--conformance-spark-master",
    "--accept": "--conformance-accept",
}


def in_pytest(option: str) -> str:
    """Return what an option is called among those of pytest, which many plugins share."""
    return IN_PYTEST.get(option, option)


def add_run_options(add: Callable[..., object], named: Callable[[str], str] = str) -> None:
    """Add the options; each is None or False if it is left out.

    Args:
        add: what argparse, or pytest, adds an option with.
        named: returns what an option is called there.
    """
    add(named("--backend"), choices=("auto", "docker", "process"), help="where brokers run (default: auto)")
    add(named("--jre-image"), metavar="IMAGE", help="base image with a Java 17 runtime, for the docker backend")
    add(
        named("--kafka-home"),
        type=Path,
        metavar="DIR",
        help="your own Kafka: the directory of a distribution, with libs/*.jar",
    )
    add(
        named("--image"),
        metavar="IMAGE",
        help="your own Kafka: an image such as apache/kafka:3.9.2, for the docker backend",
    )
    add(
        named("--rules-of"),
        metavar="V",
        help="judge by the rules of another release, or with a rule swapped: 2.0.0+RULE has one that 2.0.0 lacks, "
        "2.0.1~RULE lacks one that 2.0.1 has; your own Kafka needs it if it is newer than every known one",
    )
    add(named("--label"), metavar="NAME", help="what reports call your own Kafka")
    add(
        named("--seed"),
        type=int,
        metavar="N",
        help="seed of what is drawn: record ids, schedules of a hunt (default: a new one, or the one gone on with)",
    )
    add(
        named("--no-fetch-sessions"),
        action="store_true",
        help="have followers list every partition in every fetch (KIP-227 off); examinations set it themselves",
    )
    add(named("--spark-master"), metavar="URL", help=f"Spark master (default: {DEFAULT_MASTER})")
    add_accept(add, named)


def add_accept(add: Callable[..., object], named: Callable[[str], str] = str) -> None:
    """Add the option that names findings that the user accepts."""
    add(
        named("--accept"),
        type=Path,
        metavar="FILE",
        help="findings that you accept until a day: TOML (docs/accepted-findings.md); one that is gone fails",
    )


def run_options(value: Callable[[str], Any]) -> RunOptions:
    """Return what was given, asked for by the options' names.

    Raises:
        UsageError: an option means nothing beside the others.
    """
    home, image, rules_of, label = (value(name) for name in ("--kafka-home", "--image", "--rules-of", "--label"))
    return RunOptions(
        backend=value("--backend") or "auto",
        jre_image=value("--jre-image"),
        spark_master=value("--spark-master") or DEFAULT_MASTER,
        seed=value("--seed"),
        fetch_sessions=not value("--no-fetch-sessions"),
        own=_own(home, image, rules_of, label),
        accept=value("--accept"),
        rules_of=rules_of if home is None and image is None else None,
    )


def run_options_in_pytest(option: Callable[[str], Any]) -> RunOptions:
    """Return what was given on pytest's command line, given how to ask for one of its options.

    Raises:
        UsageError: an option means nothing beside the others.
    """
    return run_options(lambda name: option(in_pytest(name)))


def check_options(options: RunOptions) -> None:
    """Check what can be checked of the options alone, before an image or a jar is asked for.

    Raises:
        UsageError: Spark is not installed, two options contradict each other, or the Spark master cannot be had.
        ExpectationError: the file of accepted findings cannot be understood.
    """
    from conformance.expectations import accepted_in  # noqa: PLC0415 - who asks pays
    from conformance.spark_extra import require_spark  # noqa: PLC0415 - likewise
    from conformance.spark_master import check_master  # noqa: PLC0415 - likewise
    from fault_injection.releases import UsageError  # noqa: PLC0415 - likewise

    require_spark()
    has_image = options.own is not None and options.own.image is not None
    if has_image and options.backend == "process":
        raise UsageError("--image needs containers, but --backend process was asked for; --kafka-home needs none.")
    if has_image and options.jre_image is not None:
        raise UsageError("--image is run as it is, on its own Java: --jre-image does not go with it.")
    if options.backend == "process" and options.jre_image is not None:
        raise UsageError("--jre-image is the base of containers, but --backend process was asked for.")
    check_master(options.spark_master)
    accepted_in(options.accept)


def _own(home: Path | None, image: str | None, rules_of: str | None, label: str | None) -> OwnKafka | None:
    from fault_injection.releases import UsageError  # noqa: PLC0415 - who asks pays

    if home is not None and image is not None:
        raise UsageError("--kafka-home and --image both bring a Kafka: give one of them.")
    if home is None and image is None:
        if label is not None:
            raise UsageError("--label is about a Kafka of your own: give --kafka-home or --image too.")
        return None
    if label is not None and not LABEL.fullmatch(label):
        raise UsageError(f"--label {label!r}: take letters, digits, dots, hyphens and underscores, at most 40.")
    return OwnKafka(home, image, rules_of, label)
