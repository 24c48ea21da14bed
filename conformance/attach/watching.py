"""Who looks at the cluster while the ledger runs? A thread that asks once a second and writes down answers.

A broker that does not answer leaves a gap and ends nothing: what breaks the cluster is not the watcher's business.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import TYPE_CHECKING

from conformance.clients.connecting import UnreadableClusterError, connected
from conformance.probes.topic_of_clients import NotAnsweredError, TopicOfClients
from conformance.record.attached import SETTINGS_FILE, WATCHED_FILE, SettingsWatched, read_watched
from conformance.record.directory import AppendedLines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conformance.clients.client_settings import ClientSettings
    from conformance.record.directory import RunDirectory

WATCH_S = 1.0
SETTINGS_EVERY = 5
"""Settings are asked for in every so manieth look."""
PATIENCE_S = 3.0


class Watcher:
    """Looks at one topic again and again, from where its directory has looks already.

    Attributes:
        latest: what the last look saw, by partition.
    """

    def __init__(self, bootstrap: Sequence[str], client: ClientSettings, topic: str, run: RunDirectory) -> None:
        self.latest = {one.partition: one for one in read_watched(run)}
        self._bootstrap, self._client, self._topic = bootstrap, client, topic
        self._watched = AppendedLines(run.path / WATCHED_FILE)
        self._settings = AppendedLines(run.path / SETTINGS_FILE)
        self._settings_told: SettingsWatched | None = None
        self._is_over = Event()

    def watch(self) -> None:
        """Look until it is told that it is over; a cluster that cannot be reached is tried again."""
        while not self._is_over.wait(WATCH_S):
            try:
                with connected(self._bootstrap, self._client, PATIENCE_S) as manager:
                    self._look_on(TopicOfClients(manager, self._topic))
            except UnreadableClusterError:
                continue
        self._watched.close()
        self._settings.close()

    def _look_on(self, topic: TopicOfClients) -> None:
        looks = 0
        while True:
            self._look(topic, is_settings=looks % SETTINGS_EVERY == 0)
            looks += 1
            if self._is_over.wait(WATCH_S):
                return

    def _look(self, topic: TopicOfClients, *, is_settings: bool) -> None:
        try:
            seen = topic.seen()
        except NotAnsweredError:
            return
        watermarks = topic.offsets(seen.partitions) if seen else {}
        for one in seen.partitions if seen else ():
            self.latest[one.partition] = replace(one, high_watermark=watermarks.get(one.partition))
            self._watched.append(self.latest[one.partition])
        if is_settings:
            self._note_settings(topic.settings())

    def _note_settings(self, now: SettingsWatched) -> None:
        before = self._settings_told
        if before is None or (before.values, before.why_not) != (now.values, now.why_not):
            self._settings.append(now)
            self._settings_told = now

    def end(self) -> None:
        """Have it look no more."""
        self._is_over.set()


@contextmanager
def watching(bootstrap: Sequence[str], client: ClientSettings, topic: str, run: RunDirectory) -> Iterator[Watcher]:
    """Watch a topic while the block runs."""
    watcher = Watcher(bootstrap, client, topic, run)
    thread = Thread(target=watcher.watch, name="attach-watcher", daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        watcher.end()
        thread.join(6 * PATIENCE_S)
