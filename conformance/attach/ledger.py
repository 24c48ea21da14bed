"""How does a ledger run beside a cluster that somebody else breaks? Begin, produce, come to rest, read back, judge.

Every phase leaves its directory such that ``finishing.finish`` goes on from there, whatever ended the tester.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

from conformance.attach.beginning import LedgerOptions, NewTopicAsked, begin, connection_of, load_of
from conformance.attach.finishing import finish
from conformance.attach.one_at_a_time import OneAtATime, are_in_sync
from conformance.attach.watching import Watcher, watching
from conformance.clients.client_settings import ClientSettings, client_settings
from conformance.clients.connecting import servers_of
from conformance.clients.ledger_producer import LedgerProducer
from conformance.record.attached import (
    Attached,
    Phase,
    note,
    read_attached,
)
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from conformance.clients.ledger_producer import Progress
    from conformance.record.attached import AttachVerdict, PartitionWatched
    from conformance.record.directory import RunDirectory
    from conformance.spark_thread import SparkThread


class AttachedLedger:
    """A ledger that produces while its block runs; the block is what breaks the cluster.

    Args:
        options: what it is to do.
        runs: the directory in which its own one is created.

    Raises:
        UsageError: the cluster, the topic or the options do not go together; nothing was written.
    """

    def __init__(self, options: LedgerOptions, runs: Path) -> None:
        self._options = options
        self._runs = runs
        self._stop, self._is_done = Event(), Event()
        self._stack = ExitStack()
        self._failure: BaseException | None = None
        self.run: RunDirectory
        self.attached: Attached
        self.watcher: Watcher
        self._producer: LedgerProducer

    def __enter__(self) -> Self:
        self.run, self.attached = begin(self._options, self._runs)
        options = self._options
        self.watcher = self._stack.enter_context(watching(options.bootstrap, options.client, self.attached, self.run))
        self._producer = LedgerProducer(
            connection_of(options), load_of(self.attached, options), self.run.path / "ledger"
        )
        self._thread = Thread(target=self._produce, name="attach-producer", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._producer.hurry()
        self.stop()
        self._thread.join()
        self._stack.close()
        self._note(phase=Phase.PRODUCED, ended_ns=time.time_ns())
        if self._failure is not None and error is None:
            raise self._failure

    @property
    def progress(self) -> Progress:
        """Return how far it is."""
        return self._producer.progress

    @property
    def is_in_sync(self) -> bool:
        """Return whether at the last look, a moment ago, every replica of every partition was in sync."""
        return are_in_sync(self._looks(), self.attached.partitions, self.attached.replicas, since_ns=0)

    @property
    def one_at_a_time(self) -> OneAtATime:
        """Return what lets one command after the other break the cluster."""
        return OneAtATime(self._looks, self.attached.partitions, self.attached.replicas)

    def _looks(self) -> tuple[PartitionWatched, ...]:
        return tuple(self.watcher.latest.values())

    def stop(self) -> None:
        """Send no more records; those that were sent are waited for."""
        self._stop.set()

    def done(self, wait_s: float) -> bool:
        """Wait so long, or until all records are sent and answered; return whether they are."""
        return self._is_done.wait(wait_s)

    def verdict(self, spark: SparkThread | None = None) -> AttachVerdict:
        """Read the topic back, once its block has ended, and judge every record.

        Raises:
            NotAtRestError: the cluster did not come to rest.
            ReconcileError: Spark failed.
        """
        verdict = finish(self.run, self._options.client, self._options.settle_s, spark)
        self.attached = read_attached(self.run)
        return verdict

    def _produce(self) -> None:
        try:
            self._producer.send(self._stop, self._note_sender)
        except BaseException as failure:  # noqa: BLE001 - raised again where the block ends
            self._failure = failure
        finally:
            self._is_done.set()

    def _note_sender(self, first: int) -> None:
        self._note(senders=(*self.attached.senders, first))

    def _note(self, **changes: object) -> None:
        self.attached = note(self.run, self.attached, **changes)


def ledger_beside(
    bootstrap: str,
    create: str | None = None,
    *,
    topic: str | None = None,
    runs: Path,
    command_config: Path | None = None,
    **options: Any,  # noqa: ANN401 - those of ``LedgerOptions``
) -> AttachedLedger:
    """Return a ledger for a test of one's own: what its block does is what breaks the cluster.

    Args:
        bootstrap: ``host:port`` of brokers, separated by commas.
        create: name of a topic to create; else ``topic`` names one that is there.
        topic: see there.
        runs: directory in which the ledger's own one is created.
        command_config: a client's properties: how to get in.
        options: further ones of ``LedgerOptions``, such as ``acks=Acks.LEADER`` or ``rate=5000``.

    Raises:
        UsageError: the options do not go together.
    """
    if (create is None) == (topic is None):
        raise UsageError("a ledger is given either a topic to create, or one that is there.")
    client = ClientSettings() if command_config is None else client_settings(command_config)
    if create is not None:
        options.setdefault("creates", NewTopicAsked())
    servers, name = tuple(servers_of(bootstrap)), str(create or topic)
    return AttachedLedger(LedgerOptions(servers, name, client=client, **options), runs)
