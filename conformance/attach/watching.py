"""Who looks at the cluster while the ledger runs? A thread that asks once a second and writes down answers.

A broker that does not answer ends nothing: what breaks the cluster is not the watcher's business. Every look at the
settings is written down, and so is one that nobody answered, or that failed otherwise: none is taken for another.
A look that hangs when the ledger ends is not written down: the looks after it would seem to be those before.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

from conformance.attach.rest import why_another
from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.probes.topic_of_clients import NotAnsweredError, TopicOfClients
from conformance.record.attached import SETTINGS_FILE, WATCHED_FILE, SettingsWatched, read_watched
from conformance.record.directory import AppendedLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.clients.client_settings import ClientSettings
    from conformance.record.attached import Attached, PartitionWatched
    from conformance.record.directory import RunDirectory

WATCH_S = 1.0
SETTINGS_S = 5.0
"""Settings are asked for by the first look after so long."""
PATIENCE_S = 3.0


class Watcher:
    """Looks at one topic again and again, from where its directory has looks already.

    Attributes:
        latest: what the last look saw, by partition of the ledger; those that were added meanwhile are none of it.
    """

    def __init__(self, bootstrap: Sequence[str], client: ClientSettings, attached: Attached, run: RunDirectory) -> None:
        self.latest = {one.partition: one for one in read_watched(run)}
        self._bootstrap, self._client, self._attached = bootstrap, client, attached
        self._watched = AppendedLines(run.path / WATCHED_FILE)
        self._settings = AppendedLines(run.path / SETTINGS_FILE)
        self._settings_due_s = 0.0
        self._is_over = Event()
        self._writing = Lock()

    def watch(self) -> None:
        """Look until it is told that it is over; whatever a look fails by is written down, and tried again."""
        while not self._is_over.wait(WATCH_S):
            try:
                with connected(self._bootstrap, self._client, PATIENCE_S) as manager:
                    self._look_on(TopicOfClients(manager, self._attached.topic))
            except UnreadableClusterError as error:
                self._note_unseen(str(error))
            except Exception as error:  # noqa: BLE001 - a thread that ends by it would say nothing, and see nothing
                self._note_unseen(f"the look failed: {error!r}")
        self.close()

    def close(self) -> None:
        """Close its files."""
        with self._writing:
            self._watched.close()
            self._settings.close()

    def _look_on(self, topic: TopicOfClients) -> None:
        while True:
            is_due = time.monotonic() >= self._settings_due_s
            self._look(topic, is_settings=is_due)
            if is_due:
                self._settings_due_s = time.monotonic() + SETTINGS_S
            if self._is_over.wait(WATCH_S):
                return

    def _look(self, topic: TopicOfClients, *, is_settings: bool) -> None:
        try:
            seen = topic.seen()
        except NotAnsweredError as error:
            self._note_unseen(str(error))
            return
        if why := "there is no such topic" if seen is None else why_another(seen, self._attached):
            self._note_unseen(why)
        if why or seen is None:
            return
        partitions = seen.partitions[: self._attached.partitions]
        watermarks = topic.offsets(partitions)
        self._note([replace(one, high_watermark=watermarks.get(one.partition)) for one in partitions])
        if is_settings:
            self._note_settings(topic.settings())

    def _note(self, looks: Sequence[PartitionWatched]) -> None:
        with self._writing:
            for one in looks if not self._is_over.is_set() else ():
                self.latest[one.partition] = one
                self._watched.append(one)

    def _note_settings(self, now: SettingsWatched) -> None:
        with self._writing:
            if not self._is_over.is_set():
                self._settings.append(now)

    def _note_unseen(self, why: str) -> None:
        self._note_settings(SettingsWatched(time.time_ns(), why_not=why))

    def end(self) -> None:
        """Have it look no more; once this returns, nothing is written down."""
        with self._writing:
            self._is_over.set()


@contextmanager
def watching(
    bootstrap: Sequence[str], client: ClientSettings, attached: Attached, run: RunDirectory
) -> Iterator[Watcher]:
    """Watch the topic of a ledger while the block runs."""
    watcher = Watcher(bootstrap, client, attached, run)
    thread = Thread(target=watcher.watch, name="attach-watcher", daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        watcher.end()
        thread.join(6 * PATIENCE_S)
