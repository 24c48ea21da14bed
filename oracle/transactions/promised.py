"""What is promised of transactions, and is it kept? The producers' side, and what consumers are given, compared.

No rule of a release is in here: the promise is the same on all, and predictions and measurements are held to it alike.

Sources: KIP-98; the documentation of ``isolation.level`` and of ``KafkaProducer``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

PROMISED = "promised: "
"""How questions begin whose answer is an empty list as long as the promise is kept."""
MISSING = f"{PROMISED}acknowledged records of committed transactions that consumers are not given"
UNASKED = f"{PROMISED}records that consumers are given whose transaction nobody has asked to commit"
STUCK = f"{PROMISED}partitions that are read no further, although no transaction goes on"


@dataclass(slots=True)
class PromisedRecords:
    """What producers have sent, asked and been told.

    Attributes:
        acknowledged: records whose producers were told that they are appended.
        committed: records of transactions that a producer was told are committed.
        asked: records of transactions that a producer has asked to commit, whatever it was told.
        going_on: by producer, the records of the transaction that it has not ended.
    """

    acknowledged: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    going_on: dict[int, list[str]] = field(default_factory=dict)

    def began(self, producer: int) -> None:
        """Note that a producer has its epoch: transactions of others cannot go on."""
        self.going_on = {producer: []}

    def sent(self, producer: int, label: str, *, is_acknowledged: bool) -> None:
        """Note a record, and whether its producer knows that it is appended."""
        self.going_on.setdefault(producer, []).append(label)
        if is_acknowledged:
            self.acknowledged.add(label)

    def ended(self, producer: int, *, commits: bool, is_told: bool) -> None:
        """Note that a producer asks for the end of its transaction, and whether it is told that it has ended."""
        labels = self.going_on.get(producer, [])
        if commits:
            self.asked.update(labels)
        if commits and is_told:
            self.committed.update(labels)
        if is_told:
            self.going_on.pop(producer, None)

    def held_against(
        self, given: Collection[str], ends: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[str, list[str] | list[int]]]:
        """Yield each promise with what breaks it.

        Args:
            given: the records that consumers of committed records are given.
            ends: of each partition, the last stable offset and the log's end.
        """
        yield MISSING, sorted((self.committed & self.acknowledged) - set(given))
        yield UNASKED, sorted(set(given) - self.asked)
        stands_still = [partition for partition, (stable, end) in enumerate(ends) if stable < end]
        yield STUCK, [] if any(self.going_on.values()) else stands_still
