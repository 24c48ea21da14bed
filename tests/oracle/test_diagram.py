"""Does the model's page show the states of a replica as the transitions have them?"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from oracle.rules.by_version import rules_for
from oracle.state import ReplicaState
from oracle.vocabulary import BrokerId, MetadataMode, ReplicaRole
from tests.oracle.diagram import DOWN, RUNNING, arrows, mermaid, state_name

PAGE = Path(__file__).parents[2] / "oracle" / "README.md"
BEGIN, END = "<!-- diagram -->\n", "<!-- end of diagram -->\n"


pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does


@cache
def found() -> frozenset[tuple[str, str, str]]:
    """Return every arrow of both metadata modes; searched in a test, where coverage pauses, not in a fixture."""
    return arrows([rules_for("2.7.2", MetadataMode.ZOOKEEPER), rules_for("4.3.1", MetadataMode.KRAFT)])


def test_the_page_shows_what_the_transitions_do() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    drawn = f"{before}{BEGIN}```mermaid\n{mermaid(found())}\n```\n{END}{after}"
    if "REWRITE_GOLDEN" in os.environ:
        PAGE.write_text(drawn, encoding="utf-8")
    assert text == drawn


def test_a_zombie_leader_steps_down_when_it_hears_of_its_successor() -> None:
    assert ("leader", "decision received", "follower fetches: idle") in found()
    assert not any(before == "leader" and event == "response received" for before, event, _ in found())


def test_what_every_running_replica_does_is_drawn_once() -> None:
    drawn = mermaid(found())
    assert f"    {RUNNING} --> {DOWN}: broker died" in drawn
    assert "leader --> down" not in drawn


def test_a_stopped_fetcher_has_a_name() -> None:
    assert state_name(ReplicaState(BrokerId(1), role=ReplicaRole.FOLLOWER, stuck=True)) == "follower: fetcher stopped"
