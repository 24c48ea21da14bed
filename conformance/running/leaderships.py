"""Which leader epoch do the brokers have for a leadership of the schedule? Learned at rest, step by step.

A leadership begins whenever another broker leads than at the last rest, or one leads again after nobody did. A
controller may raise the epoch during a leadership; asked about is the last one seen of it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class _Leadership:
    leader: int
    last_epoch: int


class Leaderships:
    """Knows every leadership that was seen at rest, in order."""

    def __init__(self) -> None:
        self._seen: list[_Leadership] = []
        self._is_led = False

    def note(self, leader: int | None, leader_epoch: int) -> None:
        """Take note of who leads at rest, and in which epoch."""
        if leader is None:
            self._is_led = False
            return
        if not self._is_led or self._seen[-1].leader != leader:
            self._seen.append(_Leadership(leader, leader_epoch))
        self._is_led = True
        self._seen[-1].last_epoch = leader_epoch

    def epoch_of(self, ordinal: int, current_epoch: int) -> int:
        """Return the epoch that a schedule means by a leadership: see ``oracle.asking``.

        Args:
            ordinal: of the leadership, from 0.
            current_epoch: the controller's present epoch.
        """
        ahead = ordinal - (len(self._seen) - 1)
        return self._seen[ordinal].last_epoch if ahead < 0 else current_epoch + ahead

    def ordinal_of(self, leader_epoch: int | None) -> int | None:
        """Return the leadership that an epoch belongs to: the first one that did not end before it."""
        if leader_epoch is None:
            return None
        ended = [one.last_epoch for one in self._seen[:-1]]
        return sum(1 for last in ended if last < leader_epoch)
