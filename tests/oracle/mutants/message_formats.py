"""Which mistakes can a release make with records that carry no epoch? Mutants of the module of older formats."""

from __future__ import annotations

from oracle.rules import message_format, truncation
from oracle.schedule import TopicSettings
from tests.oracle.mutants.killers import Answer, Story
from tests.oracle.mutants.mutant import Mutant, with_fields, with_truncation
from tests.oracle.mutants.questions import is_predicted
from tests.oracle.schedules import produce, schedule

IN_OLD_FORMAT = schedule(produce("m0"), settings=TopicSettings(message_format_version="0.10.2"))

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
        with_fields(notes_epoch_in_any_format=False),
    ),
    Mutant(
        "an-epoch-on-election-in-any-format",
        "message_format",
        "2.1.1 notes its epoch on election, as 2.1.0 does",
        Story("old-format-on-2.1.1"),
        with_fields(notes_epoch_in_any_format=True),
    ),
    Mutant(
        "end-of-no-epoch-is-unknown",
        "message_format",
        "1.1.0 answers as 1.1.1 does about no epoch",
        Story("old-format-on-1.1.0"),
        patches={"oracle.rules.message_format.end_offset_even_of_no_epoch": truncation.end_offset_only},
    ),
    Mutant(
        "end-of-no-epoch-is-known",
        "message_format",
        "1.1.1 answers as 1.1.0 does about no epoch",
        Story("old-format-on-1.1.1"),
        with_truncation(end_offset_for=message_format.end_offset_even_of_no_epoch),
    ),
    Mutant(
        "ignores-the-message-format",
        "message_format",
        "2.8 ignores message.format.version, as 3.0 does",
        Answer(is_predicted("2.8.2", IN_OLD_FORMAT), True),
        with_fields(heeds_message_format=False),
    ),
    Mutant(
        "heeds-the-message-format",
        "message_format",
        "3.0 looks at message.format.version, as 2.8 does",
        Answer(is_predicted("3.0.2", IN_OLD_FORMAT), False),
        with_fields(heeds_message_format=True),
    ),
)
