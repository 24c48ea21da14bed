"""Do equal keys mean states that no property and no later event tells apart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from oracle.brokers.model import Brokers
from oracle.brokers.questions import SearchBounds
from oracle.brokers.reductions import Keys
from oracle.properties import ASKED
from oracle.rules.by_version import rules_for
from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, MetadataMode

if TYPE_CHECKING:
    from oracle.state import PartitionState

# A search reaches much by chance; each branch has a test that names what it does
pytestmark = [pytest.mark.no_cover, pytest.mark.slow]

STATES = 1500
UNCLEAN = TopicSettings(1, unclean_leader_election=True)


@pytest.mark.parametrize("release", ["0.10.2.2", "2.8.0"])
@pytest.mark.parametrize("acks", [Acks.ALL, Acks.NONE])
def test_equal_keys_mean_equal_properties_and_equal_successors(release: str, acks: Acks) -> None:
    brokers = Brokers(rules_for(release, MetadataMode.ZOOKEEPER), SearchBounds(acks=acks, settings=UNCLEAN))
    seen: dict[tuple[int, ...], tuple[object, ...]] = {}
    queue = list(brokers.initial_states())
    repeated = 0
    for state in queue:
        key, read = brokers.key(state), read_of(brokers, state)
        if key in seen:
            repeated += 1
            assert seen[key] == read
        elif len(seen) < STATES:
            seen[key] = read
            queue += brokers.successors(state)
    assert repeated > STATES // 2


def read_of(brokers: Brokers, state: PartitionState) -> tuple[object, ...]:
    """Return what properties and the next steps make of a state."""
    properties = tuple(holds(state) for holds in ASKED.values())
    return (properties, tuple(brokers.key(successor) for successor in brokers.successors(state)))


def test_losses_that_a_property_tells_apart_have_other_keys() -> None:
    brokers = Brokers(rules_for("2.8.0", MetadataMode.ZOOKEEPER), SearchBounds(acks=Acks.NONE, settings=UNCLEAN))
    states = list(brokers.initial_states())
    for state in states:
        if len(states) < STATES:
            states += brokers.successors(state)
    keys = Keys()
    flags = {
        (loss.label, loss.was_clean, loss.had_appended): keys.key(state)[0]
        for state in states
        for loss in state.history_losses[:1]
    }
    assert len(set(flags.values())) == len(flags) > 1
