"""Does a ledger get in where clients need TLS and a password, and does no password leave by it?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from conformance.attach.beginning import LedgerOptions, NewTopicAsked
from conformance.attach.finishing import delete_created
from conformance.attach.ledger import AttachedLedger
from conformance.attach.spark_login import java_connection
from conformance.audit.reading import cluster_reader
from conformance.clients.client_settings import ClientSettings, client_settings
from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.reconcile.topic import read_ranges
from conformance.record.attached import Promised
from conformance.spark_thread import SparkThread
from tests.conformance.secured_cluster import PASSWORD, PLAIN_PASSWORD, Secured, secured_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]
RECORDS = 3_000
PART_OF_EACH_PASSWORD = "of-alice"
"""As it is however the rest of it is escaped."""


@pytest.fixture(scope="module", params=["2.8.2", "4.4.0"])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_cluster(request.param, tmp_path_factory.mktemp("secured")) as cluster:
        yield cluster


def _options(secured: Secured, file: Path, name: str) -> LedgerOptions:
    return LedgerOptions(
        bootstrap=tuple(secured.bootstrap.split(",")),
        topic=name,
        client=client_settings(file),
        creates=NewTopicAsked(partitions=3),
        records=RECORDS,
        rate=None,
    )


@pytest.mark.parametrize("names", ["java", "librdkafka"])
def test_every_record_is_read_back_through_tls_and_a_password(secured: Secured, names: str, tmp_path: Path) -> None:
    file = secured.client_file() if names == "java" else secured.librdkafka_file()
    with AttachedLedger(_options(secured, file, f"kept-{names}"), tmp_path) as ledger:
        ledger.done(60)
    with _seen_processes() as command_lines, SparkThread() as spark:
        verdict = ledger.verdict(spark)
        plan = _plan_of(spark, ledger)
        left = _files_with(_work_of(spark), PART_OF_EACH_PASSWORD)
    assert verdict.promise is Promised.KEPT, verdict
    assert "${login:/proc/" in plan
    assert PART_OF_EACH_PASSWORD not in plan
    assert left == []
    assert verdict.reason.startswith(f"every one of {RECORDS:,} acknowledged")
    secret = PASSWORD if names == "java" else PLAIN_PASSWORD
    assert command_lines
    assert not [line for line in command_lines if secret in line]
    assert _files_with(ledger.run.path, PART_OF_EACH_PASSWORD) == []
    assert _files_with(secured.files, PART_OF_EACH_PASSWORD), "what looks for it finds it where it is"
    delete_created(ledger.run, client_settings(file))


def _plan_of(spark: SparkThread, ledger: AttachedLedger) -> str:
    """Return the plans of a reading, and the options that its source was given."""

    def plan() -> str:
        attached = ledger.attached
        with java_connection(ledger._options.client) as connection:
            options = {f"kafka.{name}": value for name, value in connection.items()}
            ranges = {number: (0, end) for number, end in enumerate(attached.ends)}
            frame = read_ranges(spark._session(), attached.bootstrap, attached.topic, ranges, options)
            assert frame.count()
            return f"{frame._jdf.queryExecution().toString()}\n{options}"

    return spark._done(plan)


def _work_of(spark: SparkThread) -> Path:
    """Return where the session keeps its files, which another test of this process may have started."""
    place = spark._done(lambda: spark._session().conf.get("spark.local.dir"))
    assert place is not None
    return Path(place).parent


def _files_with(directory: Path, secret: str) -> list[Path]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if secret.encode() in path.read_bytes()]


class _SeenProcesses:
    """Gathers the command lines of all processes of this machine, again and again."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._is_over = Event()
        self._thread = Thread(target=self._look)

    def __enter__(self) -> set[str]:
        self._thread.start()
        return self.lines

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.2):
            listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
            self.lines.update(listed.splitlines())


_seen_processes = _SeenProcesses


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"sasl_jaas_config": 'x.ScramLoginModule required username="alice" password="wrong";'},
            "does not let this user in|are user, password and certificates right",
        ),
        ({"ssl_truststore_location": "OTHER"}, "CERTIFICATE_VERIFY_FAILED"),
        ({"ssl_keystore_location": None, "ssl_keystore_type": None}, "are user, password and certificates right"),
    ],
    ids=["password", "authority", "certificate"],
)
def test_who_may_not_get_in_is_told_why_and_nothing_is_written(
    secured: Secured, changes: dict[str, str | None], why: str, tmp_path: Path
) -> None:
    other = {name: f"{secured.files}/other-ca.pem" if value == "OTHER" else value for name, value in changes.items()}
    options = _options(secured, secured.client_file(**other), "never")
    with pytest.raises(UnreadableClusterError, match=why) as refused, AttachedLedger(options, tmp_path):
        pass
    assert PASSWORD not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_the_audit_gets_in_by_the_same_file(secured: Secured) -> None:
    servers = secured.bootstrap.split(",")
    with cluster_reader(servers, client_settings(secured.client_file())) as reader:
        assert len(reader.read().brokers) == 3


def test_the_command_tells_no_password(secured: Secured, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "attach", "--bootstrap-server", secured.bootstrap]
    command += ["--command-config", str(secured.client_file()), "--create", "command", "--records", "100"]
    told = subprocess.run(
        [*command, "--runs-dir", str(tmp_path / "runs"), "--delete-created", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert told.returncode == 0, told.stderr
    assert '"promise": "kept"' in told.stdout
    assert PASSWORD not in told.stdout + told.stderr


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SSL"])
def test_a_password_alone_and_a_certificate_alone_get_in(
    protocol: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    directory = tmp_path_factory.mktemp(protocol.lower())
    with secured_cluster("4.4.0", directory, protocol=protocol) as cluster:
        with AttachedLedger(_options(cluster, cluster.client_file(), "alone"), tmp_path / "ledger") as ledger:
            ledger.done(60)
        verdict = ledger.verdict()
        assert verdict.promise is Promised.KEPT, verdict
        assert verdict.reason.startswith(f"every one of {RECORDS:,} acknowledged")
        nobody = ClientSettings()
        with pytest.raises(UnreadableClusterError), connected(cluster.bootstrap.split(","), nobody, patience_s=2):
            pass
