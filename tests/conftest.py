"""What do all tests take for granted about the process they run in, and which of them share one?"""

from __future__ import annotations

import functools
import re
import signal
from typing import TYPE_CHECKING
from zlib import crc32

import hypothesis
import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from xdist.scheduler import LoadFileScheduling

# A shell has its background jobs ignore SIGINT, and children inherit that: no Ctrl-C would reach a tester under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that is busy is no reason to fail: no example has a deadline of its own, and none is too slow to be made.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

TOGETHER = ("tests/integration/puppets/",)
"""Folders whose files share what takes long to start: brokers that play every examination once."""

AT_NIGHT = {
    # Either backend has the oldest and the newest release every time, in these two ways; crossed over, at night.
    "tests/fault_injection/cluster/": r"\[(0\.10\.2-process|4\.3-docker)\]",
    "tests/fault_injection/cluster/test_container_files.py": r"\[4\.3\]",
    "tests/fault_injection/cluster/test_several_controllers.py": r"\[3\.3\]",
    "tests/fault_injection/cluster/test_advertised.py": r"docker|::test_another_machine_",
    "tests/fault_injection/cluster/test_isolation.py": r"_is_unregistered_.*\[process\]|_keeps_.*\[docker\]",
    "tests/fault_injection/faults/test_process_faults.py": r"\[docker-(kill|kill_together|stop|pause)-",
    # Releases between the oldest and the newest.
    "tests/conformance/attach/": r"\[(0\.11\.0\.3|2\.8\.2|3\.9\.2)[]-]",
    "tests/conformance/attach/test_attach_with_brokers.py": r"::test_a_leader_that_is_cut_off_",
    "tests/conformance/attach/test_attach_secured.py": r"\[4\.4\.0-librdkafka\]|::test_(the_command|a_password_alone)_",
    "tests/conformance/attach/test_attach_interrupted.py": r"::test_(a|three)_",
    "tests/conformance/audit/test_audit_with_brokers.py": r"\[(2\.8\.2|3\.9\.2)\]",
    "tests/conformance/audit/test_audit_refused.py": r"\[2\.8\.2\]",
    # Ten million doctored records; by day a hundred thousand. A worker that is killed; by day two that live.
    "tests/conformance/reconcile/test_soak.py": r"\[10M\]",
    "tests/conformance/reconcile/test_soak_on_a_cluster.py": r"::",
    # A soak of the oldest release, and the newest one where that loses; by day one with a kill.
    "tests/conformance/soak/test_soak_with_brokers.py": r"::test_releases_",
    # A topic that is read on another machine, on a cluster of Spark that is started for each.
    "tests/conformance/soak/test_soak_elsewhere.py": r"::",
    "tests/conformance/soak/test_replica_files.py": r"_stays_away\[docker\]",
    # Mistakes of every kind on clusters made for them, and a good cluster of every line.
    "tests/conformance/audit/test_seeded_mistakes.py": r"::test_(?!every_check_)",
    "tests/conformance/audit/test_demonstrations_with_brokers.py": r"::",
    "tests/conformance/audit/test_api_versions.py": r"\[(?!0\.10\.2\.2/|4\.4\.0/)",
    "tests/conformance/clients/": r"\[(2\.8\.2|3\.9\.2)[]-]",
    "tests/conformance/soak/test_breaking_with_brokers.py": (
        r"\[docker-|::test_(the_other_|what_|a_frame_|a_broker_)|_second_.*\[4\.4\.0\]|(_one_after_|_ends_it_).*\[0\.10|-(kill|cut|second_leader)-"
    ),
    "tests/conformance/probes/": r"\[(2\.8\.2|3\.9\.2)[]-]",
    "tests/fault_injection/faults/": r"\[process-(2\.8\.2|3\.9\.2|4\.3\.1)[]-]",
    "tests/fault_injection/wire/test_proxy_with_brokers.py": r"\[(1\.1|2\.8)[]-]",
    "tests/fault_injection/wire/test_sessions_with_brokers.py": r"\[(1\.1\.1|2\.8\.2)\]",
    # What a hunt draws over many schedules, what every page says in a browser, and whole sites, written twice.
    "tests/conformance/hunting/test_deciding.py": r"::test_(what_is_guided_|a_hunt_that_goes_on_)",
    "tests/conformance/hunting/test_aiming.py": r"::test_(a_seed_decides_|a_search_finds_)",
    "tests/conformance/hunting/test_growing.py": r"::test_(nothing_grows_|lag_passes_|a_step_that_|a_schedule_that_)",
    "tests/conformance/audit/test_demonstrations.py": r"::test_other_.*\[min-isr-1-case1-4\.4\.0",
    "tests/conformance/site/test_site_command.py": r"::test_(the_newest_run_|a_second_time_|a_page_does_not_)",
    "tests/conformance/site/test_told_courses.py": r"::",
    "tests/conformance/attach/test_attach_reconcile.py": r"::test_many_records_",
    "tests/oracle/transactions/test_found_by_searching.py": r"\[(\w+-)?(2\.4\.1|4\.0\.0|4\.2\.0)-",
    "tests/corpus/test_corpus.py": r"::test_brokers_do_what_they_did\[",
    # Wheel and source archive of a release, built twice and tried.
    "tests/project/test_release.py": r"::test_a_release_is_built_",
    # Whole runs of the command line, the like of which .ci/run has every time.
    "tests/conformance/examining/test_fetchers_with_brokers.py": r"\[FE-03\]",
    "tests/conformance/examining/test_transactions_with_brokers.py": r"\[(2\.8\.2|3\.9\.2/)|::test_by_other_",
    "tests/integration/test_attach_composed.py": r"::test_a_container_",
    "tests/integration/test_clean_up.py": r"\[SIGTERM-Spark",
    "tests/integration/test_composed_clusters.py": r"\[zookeeper\]",
    "tests/conformance/test_terminal.py": r"::test_real_brokers_run_below_a_bar|_wider_.*(--not-run|explain EL)",
    "tests/integration/test_counterexamples.py": r"::test_a_hole_is_open_",
    "tests/integration/test_coverage.py": r"::",
    "tests/integration/test_hunting.py": r"::test_a_swapped_rule_",
    "tests/integration/test_lost_nodes.py": r"\[(wait until the|checkpoint: end|produce m1)",
    "tests/integration/test_nightly.py": r"::test_a_line_is_run_once_",
    "tests/integration/test_own_kafka.py": r"::test_an?_(directory|build|image)_[^[]*_release",
    "tests/integration/test_pytest_plugin.py": r"::test_(schedules_of_a_user_run_|schedules_and_|scenarios_in_)",
    "tests/integration/test_runs_beside_the_catalogue.py": r"\[0\.10\.2\.2\]|::test_a_run_without_fetch_sessions_",
    "tests/integration/test_used_clusters.py": r"::test_(a_cluster_that_a_run_has_spoilt|schedules_of_one_call_share)_",
}
"""What `.ci/run` leaves to `make test-nightly`: of the tests below a path those whose id has the pattern."""

ONE_IN_THREE = (
    "tests/oracle/mutants/test_mutants.py::test_no_mutant_survives[",
    "tests/oracle/mutants/test_prediction_mutants.py::test_no_mutant_survives[",
    "tests/oracle/differential/test_differential.py::test_both_tell_a_story_alike[",
    "tests/oracle/differential/test_differential.py::test_an_interpreter_that_is_wrong_would_be_noticed[",
    "tests/oracle/brokers/test_guarantee_table.py::test_a_sample_of_the_kept_table_is_what_the_explorer_finds[",
    "tests/conformance/audit/test_demonstrations.py::test_an_example_shows_its_harm_and_none_once_mended[",
    "tests/conformance/reconcile/test_doctored_runs.py::test_a_doctored_row_is_named[",
    "tests/conformance/scenarios/election/test_settings.py::test_the_crash_is_the_worst_of_the_table[",
    "tests/conformance/scenarios/election/test_settings.py::test_the_power_failure_loses_what_the_table_says_",
    "tests/conformance/scenarios/election/test_settings.py::test_the_explorer_finds_the_kept_schedule[",
    "tests/conformance/scenarios/regressions/test_predictions.py::test_it_leaves_nothing_open_and_loses_",
)
"""Tests of many cases of one kind, none of which reaches more than the others: one in three runs every time."""


def is_for_the_night(nodeid: str) -> bool:
    """Say whether a test is one that `.ci/run` leaves out."""
    if nodeid.startswith(ONE_IN_THREE):
        return crc32(nodeid.encode()) % 3 != 0
    return any(nodeid.startswith(path) and re.search(pattern, nodeid) for path, pattern in AT_NIGHT.items())


STARTS = ("broker", "docker", "spark")
"""Marks of tests that start something."""


@functools.cache
def says_what_it_starts(file: Path) -> bool:
    """Say whether a file of tests has one of these marks in its own text, by which `make test` finds those files."""
    return re.search(rf"mark\.({'|'.join(STARTS)})\b", file.read_text(encoding="utf-8")) is not None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what is for the night.

    Raises:
        pytest.UsageError: `make test` would miss it, as the file does not show that it starts something.
    """
    if is_for_the_night(item.nodeid):
        item.add_marker(pytest.mark.nightly)
    if any(map(item.get_closest_marker, STARTS)) and not says_what_it_starts(item.path):
        raise pytest.UsageError(f"{item.nodeid}: write pytest.mark.broker, docker or spark in the file itself")


@pytest.hookimpl(optionalhook=True)  # without xdist the tests run one after the other, in one process
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    """Keep the tests of one file in one lane, which starts their clusters once, and so those of some folders."""
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - xdist alone calls this

    class Lanes(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))

    return Lanes(config, log) if config.getvalue("dist") == "loadfile" else None
