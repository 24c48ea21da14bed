"""Which mistakes can a release make with records that carry no epoch? Mutants of the module of older formats."""

from __future__ import annotations

from oracle.rules import kip_101, message_format
from oracle.rules.release import before, since
from tests.oracle.mutants.killers import Story
from tests.oracle.mutants.mutant import Mutant, with_truncation

MUTANTS = (
    Mutant(
        "epochs-in-every-format",
        "message_format",
        "2.8 writes epochs into batches of an older format",
        Story("old-format-on-2.8"),
        patches={"oracle.rules.message_format.adapted": lambda rules, _settings: rules},
    ),
    Mutant(
        "no-epoch-in-any-cache",
        "message_format",
        "2.0.1 notes no epoch on election, as 2.1.1 does",
        Story("old-format-on-2.0.1"),
        patches={"oracle.rules.message_format._notes_epoch_on_election": before("0.11.0.0")},
    ),
    Mutant(
        "an-epoch-on-election-in-any-format",
        "message_format",
        "2.1.1 notes its epoch on election, as 2.1.0 does",
        Story("old-format-on-2.1.1"),
        patches={"oracle.rules.message_format._notes_epoch_on_election": since("0.11.0.0")},
    ),
    Mutant(
        "end-of-no-epoch-is-unknown",
        "message_format",
        "1.1.0 answers as 1.1.1 does about no epoch",
        Story("old-format-on-1.1.0"),
        patches={"oracle.rules.message_format.end_offset_even_of_no_epoch": kip_101.end_offset_only},
    ),
    Mutant(
        "end-of-no-epoch-is-known",
        "message_format",
        "1.1.1 answers as 1.1.0 does about no epoch",
        Story("old-format-on-1.1.1"),
        with_truncation(end_offset_for=message_format.end_offset_even_of_no_epoch),
    ),
)
