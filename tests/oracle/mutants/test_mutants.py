"""Is every rule watched? Each mutant is noticed by what it names, and by the same check the right rules pass."""

from __future__ import annotations

import pytest

from tests.oracle.mutants import (
    clients,
    controllers,
    leadership,
    message_formats,
    published,
    puppeteered,
    reassignments,
    release_facts,
    requests,
    truncation,
)
from tests.oracle.mutants.mutant import Mutant, same

pytestmark = pytest.mark.no_cover  # a search reaches much by chance; each branch has a test that names what it does

MUTANTS: tuple[Mutant, ...] = (
    *truncation.MUTANTS,
    *message_formats.MUTANTS,
    *leadership.MUTANTS,
    *clients.MUTANTS,
    *controllers.MUTANTS,
    *reassignments.MUTANTS,
    *release_facts.MUTANTS,
    *requests.MUTANTS,
    *published.MUTANTS,
    *puppeteered.MUTANTS,
)


@pytest.fixture(params=MUTANTS, ids=lambda mutant: mutant.name)
def mutant(request: pytest.FixtureRequest) -> Mutant:
    made: Mutant = request.param
    return made


def test_no_mutant_survives(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutant.killed_by.passes(same), "the right rules pass"
    for name, wrong in mutant.patches.items():
        monkeypatch.setattr(name, wrong)
    assert not mutant.killed_by.passes(mutant.change), mutant.wrong


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
