"""Which mistakes are about how a prediction comes about? One or more in every module of ``oracle.predicting``."""

from __future__ import annotations

from functools import partial

from oracle.rules.by_version import rules_for
from oracle.vocabulary import MetadataMode
from tests.oracle import (
    test_catching,
    test_deleted_records,
    test_explaining,
    test_lagging,
    test_obstacles,
    test_races,
    test_refusals,
    test_wording,
)
from tests.oracle.mutants.own_text import TextMutant, every_case, golden

RULES = rules_for("2.8.2", MetadataMode.ZOOKEEPER)
REFUSALS = every_case(test_refusals.test_what_cannot_come_is_refused)
IN_VAIN = every_case(test_catching.test_a_hold_in_vain_is_refused_where_it_is_armed)
BOTH_ENDS = test_races.test_both_ends_of_a_race_are_listed_with_the_moves_that_lead_there
WHAT_DIFFERS = test_races.test_what_differs_is_named_and_its_records_are_undetermined
UNDETERMINED = partial(test_wording.test_a_record_above_the_high_watermark_is_undetermined, RULES)
STORIES = every_case(test_explaining.test_a_story_reads_as_it_did)

MUTANTS = (
    TextMutant(
        "a produce may end as it likes",
        "predicting.assumptions",
        "if actual != expect.value:",
        "if False:",
        REFUSALS,
    ),
    TextMutant(
        "what waits for ever does not time out",
        "predicting.assumptions",
        "time_out(p) if p.label in labels and p.outcome is None else p",
        "p",
        test_refusals.test_any_outcome_is_taken_as_it_comes,
    ),
    TextMutant(
        "other followers may lag than those that are named",
        "predicting.assumptions",
        "if sorted(followers) != list(silent):",
        "if not silent:",
        every_case(test_lagging.test_what_the_timing_does_not_bring_about_is_refused),
    ),
    TextMutant(
        "a produce is to blame for its records",
        "predicting.branches",
        'return "leader"',
        'return "records"',
        every_case(test_obstacles.test_the_field_to_blame_is_named),
    ),
    TextMutant(
        "nobody says which outcomes an await leaves out",
        "predicting.branches",
        "if unmet:",
        "if False:",
        test_races.test_an_await_keeps_the_outcomes_that_satisfy_it_and_names_the_race,
    ),
    TextMutant(
        "ways that meet again keep what decided for one of them",
        "predicting.branches",
        "race=shared(way.race, other.race)",
        "race=way.race",
        test_races.test_a_race_that_no_longer_matters_decides_for_nothing_later,
    ),
    TextMutant(
        "ways that meet again have what one of them had on the way",
        "predicting.branches",
        "moments=opened(way.moments, other.moments)",
        "moments=way.moments",
        test_races.test_what_a_race_leaves_open_for_some_steps_only_is_marked_there,
    ),
    TextMutant(
        "a counted frame need not be awaited",
        "predict",
        "armed.hold.nth > 1",
        "False",
        test_catching.test_a_counted_frame_is_awaited_where_it_comes,
    ),
    TextMutant(
        "a hold in vain is armed",
        "predict",
        "not any(step.name in end.gate.met for end in ends)",
        "False",
        IN_VAIN,
    ),
    TextMutant("steps count from 0", "predicting.wording", "{index + 1}", "{index}", BOTH_ENDS),
    TextMutant(
        "every election is told as clean",
        "predicting.comparing",
        '"cleanly" if was_clean else "uncleanly"',
        '"cleanly"',
        STORIES,
    ),
    TextMutant(
        "a shrink for lag is told as a join",
        "predicting.comparing",
        "if gone:\n        return _first_of",
        "if False:\n        return _first_of",
        every_case(test_wording.test_a_shrink_for_lag_names_its_rule),
    ),
    TextMutant(
        "the record at the high watermark can be read",
        "predicting.outcome",
        "if offset < leader.high_watermark:",
        "if offset <= leader.high_watermark:",
        UNDETERMINED,
    ),
    TextMutant(
        "a committed record that is gone was never there",
        "predicting.outcome",
        "Fate.LOST if was_committed else Fate.ABSENT",
        "Fate.ABSENT",
        golden("TR-01"),
    ),
    TextMutant(
        "a record deleted by request is there",
        "predicting.outcome",
        "if offset < leader.log_start_offset:",
        "if False:",
        test_deleted_records.test_deleted_records_are_not_lost,
    ),
    TextMutant(
        "what moved a number first explains it",
        "predicting.explaining",
        "tuple(found[-1:])",
        "tuple(found[:1])",
        STORIES,
    ),
    TextMutant(
        "the first link always wins the race",
        "predicting.interleavings",
        "if is_calm and _is_seen_by_its_follower_only(fetch):",
        "if is_calm:",
        BOTH_ENDS,
    ),
    TextMutant(
        "who goes on is told as paused once more",
        "predicting.comparing",
        "sorted(new.paused - old.paused)",
        "sorted(new.paused | old.paused)",
        test_obstacles.test_the_chronicle_tells_what_stood_in_the_way,
    ),
    TextMutant(
        "a paused broker shows what it has in memory",
        "predicting.outcome",
        "is_paused=r.broker in paused",
        "is_paused=False",
        every_case(test_obstacles.test_a_paused_broker_shows_what_its_disk_has),
    ),
    TextMutant(
        "a loss is judged as if nobody had waited for more than the leader",
        "predicting.outcome",
        "judge_loss(produce.acks,",
        "judge_loss(type(produce.acks)(1),",
        golden("TR-01"),
    ),
    TextMutant(
        "what nobody learnt is acknowledged",
        "predicting.outcome",
        "produce.outcome or ProduceOutcome.INDETERMINATE",
        "produce.outcome or ProduceOutcome.ACKNOWLEDGED",
        UNDETERMINED,
    ),
    TextMutant(
        "a loss is not told",
        "predicting.outcome",
        "if fate in (Fate.PRESENT, Fate.UNDETERMINED) or loss is None:",
        "if True:",
        golden("TR-03"),
    ),
    TextMutant(
        "of an open record the best is told",
        "predicting.races",
        "max(enumerate(records, start=1)",
        "min(enumerate(records, start=1)",
        WHAT_DIFFERS,
    ),
    TextMutant(
        "ends that differ in a number are one",
        "predicting.races",
        "if len(set(values)) > 1:",
        "if False:",
        WHAT_DIFFERS,
    ),
    TextMutant(
        "a dropped frame can be let go",
        "predicting.step_effects",
        "if armed.dropped:",
        "if False:",
        REFUSALS,
    ),
    TextMutant(
        "a leader that has not heard of its election takes records",
        "predicting.step_effects",
        "if elected is not None and world",
        "if False and world",
        every_case(test_catching.test_a_leader_that_has_not_heard_of_its_election_turns_a_record_away),
    ),
    TextMutant(
        "a high watermark never falls with the log",
        "predicting.wording",
        "if is_cut else",
        "if False else",
        partial(test_wording.test_a_high_watermark_falls_with_the_log_that_is_cut, RULES),
    ),
)
