"""Were unclean elections on while records could be lost by one? What looks at settings tell of a window of time.

Only a window counts: from when what is gone was last known to be there until the leader changed. What was set before it
excuses nothing. A look tells of its moment; between two that tell the same it is supposed to have been so, for as long
as that can be defended, and the verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from conformance.audit.cluster import UNCLEAN, Source
from conformance.probes.topic_settings import DECIDED_FOR_ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from conformance.record.attached import SettingsWatched

NS_A_S = 1_000_000_000
GAP_S = 15.0
"""Three looks missed in a row (``watching.SETTINGS_S``): the settings were not watched then."""
SUPPOSED_S = 300.0
"""As long as a value of the topic, or of the whole cluster, that was the same before and after is supposed to have been
so although nobody looked: three brokers that are killed and start again take a minute or two. A broker's own value, of
which each start may bring another, is never supposed."""


@dataclass(frozen=True, slots=True)
class LossWindow:
    """When an election can have lost what is gone, by the wall clock.

    Attributes:
        after_ns: when it was last known to be there.
        until_ns: the look that last saw another leader; the last look of all if none did after that.
        changed_ns: the look that first saw another leader after it; None if none did.
    """

    after_ns: int
    until_ns: int
    changed_ns: int | None = None

    @property
    def until_first_change(self) -> LossWindow:
        """Return the window until the first change of leader: a later one need not have lost anything."""
        return replace(self, until_ns=self.until_ns if self.changed_ns is None else self.changed_ns)


def is_decided(settings: SettingsWatched) -> bool:
    """Return whether what brokers tell of unclean elections is what whoever decides about them has.

    With ZooKeeper a broker decides, with its own value if the topic has none; with KRaft, and in a migration to it, a
    process of its own, whose file no broker knows.
    """
    return settings.sources.get(UNCLEAN) in DECIDED_FOR_ALL or settings.is_kraft is False


def values_told(settings: SettingsWatched) -> frozenset[str]:
    """Return every value that who decides may have: more than one if brokers that may be the controller differ."""
    if not is_decided(settings):
        return frozenset()
    told: tuple[str | None, ...] = (settings.values.get(UNCLEAN),)
    if settings.sources.get(UNCLEAN) not in DECIDED_FOR_ALL:
        told = tuple(settings.unclean_by_broker.values()) or told
    return frozenset(one for one in told if one is not None)


class UncleanElections:
    """What looks tell of unclean elections.

    Args:
        settings: every look, in the order of time.
    """

    def __init__(self, settings: Iterable[SettingsWatched]) -> None:
        self._looks = [one for one in settings if one.why_not is None]

    def were_on(self, window: LossWindow) -> bool:
        """Return whether they were on at some time of a window: at a look, or at one before and one after."""
        return self._were_seen_on(window) or any(self._on_around(window))

    def _were_seen_on(self, window: LossWindow) -> bool:
        return any(_is_on(one) and window.after_ns < one.at_ns <= window.until_ns for one in self._looks)

    def _on_around(self, window: LossWindow) -> Iterator[float]:
        """Yield how many seconds apart two looks are, one before and one after a window, that both saw them on."""
        for earlier, later in pairwise(self._looks):
            apart_s = (later.at_ns - earlier.at_ns) / NS_A_S
            is_for_all = all(one.sources.get(UNCLEAN) in DECIDED_FOR_ALL for one in (earlier, later))
            is_around = earlier.at_ns < window.until_ns and later.at_ns > window.after_ns
            if is_around and _is_on(earlier) and _is_on(later) and apart_s <= (SUPPOSED_S if is_for_all else GAP_S):
                yield apart_s

    def may_have_been_on(self, window: LossWindow) -> bool:
        """Return whether a look tells so that is the next to a window, or a broker that may decide."""
        return any("true" in values_told(one) for one in self._about(window))

    def why_unseen(self, window: LossWindow) -> str | None:
        """Return why it cannot be told that they were off all through a window; one failed look hides no other."""
        looks = self._about(window)
        if not looks or any(one.values.get(UNCLEAN) is None for one in looks):
            return f"{UNCLEAN} cannot be seen here"
        if open_looks := [one for one in looks if not is_decided(one)]:
            source = open_looks[0].sources.get(UNCLEAN, Source.NOT_TOLD.value)
            return f"{UNCLEAN} is a broker's own ({source}), and the controller that decides may have another one"
        if silent := _never_told(self._looks):
            return f"{UNCLEAN} is each broker's own, and broker {silent[0]}, which may be the controller, never told it"
        gap_s = self._gap_s(window)
        if gap_s <= GAP_S or self._is_supposed(window, gap_s):
            return None
        return f"no look saw for {gap_s:,.0f} s whether {UNCLEAN} was still off, and they may have been lost then"

    def supposed_on(self, window: LossWindow) -> str | None:
        """Return what is supposed where they were on before and after, and nobody looked; None if a look saw it."""
        apart_s = min(self._on_around(window), default=0.0)
        if self._were_seen_on(window) or apart_s <= GAP_S:
            return None
        return f"nobody switched {UNCLEAN} off and on again within {apart_s:,.0f} s in which no look saw it"

    def supposed(self, window: LossWindow) -> str | None:
        """Return what is supposed where nobody looked; None if settings were watched all through a window."""
        gap_s = self._gap_s(window)
        if gap_s <= GAP_S:
            return None
        return f"nobody switched {UNCLEAN} on and off again within {gap_s:,.0f} s in which no look saw it"

    def _is_supposed(self, window: LossWindow, gap_s: float) -> bool:
        """Return whether a value that holds for all was there before and after, not too long ago."""
        looks = self._about(window)
        is_for_all = all(one.sources.get(UNCLEAN) in DECIDED_FOR_ALL for one in looks)
        is_between = looks[0].at_ns <= window.after_ns and looks[-1].at_ns >= window.until_ns
        return is_for_all and is_between and gap_s <= SUPPOSED_S

    def _about(self, window: LossWindow) -> Sequence[SettingsWatched]:
        """Return the looks within a window, the last one before it, and the first one after it."""
        before = [one for one in self._looks if one.at_ns <= window.after_ns][-1:]
        within = [one for one in self._looks if window.after_ns < one.at_ns < window.until_ns]
        after = [one for one in self._looks if one.at_ns >= max(window.until_ns, window.after_ns + 1)][:1]
        return [*before, *within, *after]

    def _gap_s(self, window: LossWindow) -> float:
        """Return the longest time without a look that touches a window; from its ends where none is beyond them."""
        moments = [one.at_ns for one in self._about(window)]
        begin, end = min([window.after_ns, *moments]), max([window.until_ns, *moments])
        return max(_gaps_s([begin, *moments, end]), default=0.0)


def _is_on(settings: SettingsWatched) -> bool:
    """Return whether a look saw them on, by all that may decide."""
    return values_told(settings) == {"true"}


def longest_gap_s(moments: Iterable[int]) -> float:
    """Return the longest time between two moments in a row, in seconds, given nanoseconds."""
    return max(_gaps_s(sorted(moments)), default=0.0)


def _gaps_s(moments: Sequence[int]) -> Iterator[float]:
    return ((later - earlier) / NS_A_S for earlier, later in pairwise(moments))


def _never_told(looks: Sequence[SettingsWatched]) -> Sequence[int]:
    """Return the brokers that never told their own value although it was asked for."""
    told = [(broker, value) for one in looks for broker, value in one.unclean_by_broker.items()]
    return sorted({broker for broker, _ in told} - {broker for broker, value in told if value is not None})
