"""The house is kept: small files, small functions, nothing left undone, nothing of one machine."""

from __future__ import annotations

import ast
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import PACKAGES, ROOT, files, functions, importers, module_name, python_files, texts

if TYPE_CHECKING:
    from pathlib import Path

FILE_LINES_MAX = 300
LONGER_FILES = {
    "tests/oracle/tracing/test_changes.py": "every change of in-sync replicas, and what producers are told meanwhile",
    "tests/conformance/test_bundle.py": "what is packed, and each thing that is refused in somebody's bundle",
    "conformance/record/bundle.py": "one format: how it is written, and all that is refused where it is opened",
    "conformance/soak/producing.py": "a producer's process, seen from its parent and from itself",
    "conformance/commands/attaching.py": "`attach`: what it takes, says beforehand, does, and says at the end",
    "fault_injection/cluster/lifecycle.py": "all that can be done to a cluster, and what is known of its nodes",
    "conformance/commands/judgement.py": "`judge`: what it takes and needs, and what it says of both verdicts",
    "conformance/scenarios/leader_epoch/le_05_zombies.py": "one row: every way not to have heard of a leader epoch",
    "conformance/stages/judging.py": "how a run becomes a verdict: what its files must be, what is gathered from them",
    "conformance/clients/transactional_requests.py": "one transactional id: all that is asked for it, and what is read",
    "conformance/examining/transaction_scripts.py": "one script after the other, and the cluster that they are done to",
    "oracle/transactions/script.py": "one act a class: what happens, in words, and what is answered",
    "oracle/transactions/model.py": "one graph: all that can happen next to a transactional id, and its bounds",
    "oracle/rules/transactions.py": "one table: every rule of transactions, and the releases that have it",
    "oracle/obstructing.py": "what obstacles, ends, starts and the lag time change, and what of it is refused",
    "conformance/running/rest.py": "one definition: when a partition is at rest, and what is measured then",
    "conformance/running/processes.py": "every end and start of a broker, and what is awaited after it",
    "fault_injection/wire/gate.py": "one policy: what each word does to what is armed, and to what is held",
    "tests/fault_injection/wire/kio_views.py": "one table: every message, as an independent decoder reads it",
    "fault_injection/wire/proxy.py": "one relay, one lock: what is asked of it, and what becomes of each frame",
    "fault_injection/wire/proxy_connection.py": "one connection: its two threads, its two sides, and how each ends",
    "conformance/hunting/proposals.py": "one function a kind of step, one after the other",
    "conformance/catalogue/track_record.py": "one table: a row a defect",
    "conformance/pipeline.py": "the one path of a run: predict, run, read, reconcile, judge",
    "conformance/record/prediction.py": "the prediction as it is frozen: its form, its tables, its hash",
    "tests/conformance/attach/test_attach_with_brokers.py": "one cluster a release: all that befalls a ledger on it",
    "tests/conformance/stages/test_judging.py": "what one change of one file makes of a verdict, one after the other",
    "tests/conformance/judgement/test_evidence.py": "one table: each piece of evidence, and what is told without it",
    "oracle/rules/by_version.py": "one table: what does each release do?",
    "oracle/state.py": "everything that the model knows at one moment, one class after the other",
    "conformance/cluster_pool.py": "which brokers a schedule needs, and the cluster that is kept for them",
    "oracle/world.py": "what is in flight and held, and every move that can come next",
    "oracle/tracing/leadership.py": "what a frame between leader and follower says of both",
    "oracle/tracing/partition_replay.py": "one partition: what each event says of its replicas, one after the other",
    "oracle/tracing/observed.py": "every event that a wire trace can hold, one class after the other",
    "tests/project/test_workflows.py": "every workflow and script of ours: what it names is there, and is run",
    "tests/reports/golden_writer.py": "one run directory, every file of it, from one story",
    "tests/oracle/differential/interpreter.py": "the whole second interpreter, to be read in one piece",
}
FILE_LINES_MIN = 60
"""A shorter module with one importer belongs into it: it is read on the way to another, never alone."""
SHORTER_FILES: dict[str, str] = {}
ONE_THING_A_FILE = ("conformance/scenarios/",)
FUNCTION_LINES_MAX = 40
LONGER_FUNCTIONS = {
    "tests/reports/golden_steps.py:truncation_steps": "one story, one row a step",
    "tests/reports/golden_steps.py:witness_steps": "one story, one row a step",
}
SLEEPS = "fault_injection/waiting.py"
HERE = "tests/architecture/test_tidy.py"
UNDONE = re.compile(r"\b(FIXME|TODO|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$~}/-])/(work|root|home|Users|tmp|mnt|workspace|builds)(/|\b)|\b[C-Z]:\\\\?Users")
OUTSIDERS = re.compile(r"\b(LLM|chatbot|copilot|language model|this session|coding agent)\b", re.IGNORECASE)
HOST = re.compile(r"https?://([A-Za-z0-9.-]+)")
PUBLIC_HOSTS = {
    "repo1.maven.org",  # Maven Central, the default of a release's jars
    "maven.apache.org",  # an XML namespace
    "www.apache.org",
    "www.w3.org",
    "json.schemastore.org",  # the schema that a SARIF file names
    "kafka.apache.org",
    "issues.apache.org",
    "cwiki.apache.org",
    "github.com",
    "127.0.0.1",
    "localhost",
}


def test_a_long_file_has_a_reason() -> None:
    lengths = {path.as_posix(): len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in python_files()}
    long = {name for name, lines in lengths.items() if lines > FILE_LINES_MAX}

    assert long - set(LONGER_FILES) == set()
    assert set(LONGER_FILES) - long == set(), "no longer long: take it off the list"


def test_a_short_file_with_one_importer_is_folded_into_it() -> None:
    short = {path.as_posix() for path in python_files() if _is_splinter(path)}

    assert short - set(SHORTER_FILES) == set()
    assert set(SHORTER_FILES) - short == set(), "it is longer, or others import it: take it off the list"


def _is_splinter(path: Path) -> bool:
    if path.parts[0] not in PACKAGES or path.name == "__init__.py" or path.as_posix().startswith(ONE_THING_A_FILE):
        return False
    lines = (ROOT / path).read_text(encoding="utf-8").count("\n")
    return lines < FILE_LINES_MIN and len(importers()[module_name(path)]) == 1


def test_functions_are_small() -> None:
    long = {one.where for path in python_files() for one in functions(path) if one.lines > FUNCTION_LINES_MAX}

    assert long - set(LONGER_FUNCTIONS) == set()
    assert set(LONGER_FUNCTIONS) - long == set(), "no longer long: take it off the list"


@pytest.mark.parametrize("package", [*PACKAGES, "tests"])
def test_every_folder_of_code_says_what_it_is(package: str) -> None:
    folders = {path.parent for path in python_files() if path.parts[0] == package}
    silent = [folder.as_posix() for folder in folders if not _docstring(folder / "__init__.py")]

    assert [folder for folder in silent if folder.split("/")[0] != "tests"] == []


def test_no_code_is_ignored_by_git() -> None:
    command = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", *PACKAGES, "tests"]
    ignored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()

    assert [name for name in ignored if name.endswith(".py")] == [], "a clone would not have them"


def test_every_module_of_the_packages_opens_with_a_docstring() -> None:
    ours = [path for path in python_files() if path.parts[0] in PACKAGES]

    assert [path.as_posix() for path in ours if not _docstring(path)] == []


def _docstring(path: Path) -> str | None:
    if not (ROOT / path).exists():
        return None
    return ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))


def test_nothing_is_left_undone() -> None:
    assert [name for name, text in texts() if name != HERE and UNDONE.search(text)] == []


def test_only_one_place_sleeps() -> None:
    sleeping = {path.as_posix() for path in python_files() if _sleeps(path)}

    assert sleeping == {SLEEPS}


def _sleeps(path: Path) -> bool:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "sleep" and _is_clock(node.value))
        or (isinstance(node, ast.ImportFrom) and node.module == "time" and "sleep" in {one.name for one in node.names})
        for node in ast.walk(tree)
    )


def _is_clock(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"time", "asyncio"}


def test_no_path_of_one_machine_is_named() -> None:
    found = [f"{name}: {hit.group()}" for name, text in texts() if name != HERE for hit in MACHINE_PATH.finditer(text)]

    assert found == []


def test_the_project_speaks_of_itself_alone() -> None:
    assert [name for name, text in texts() if name != HERE and OUTSIDERS.search(text)] == []


def test_every_host_is_public_or_an_example() -> None:
    found = {host for name, text in texts() if name != HERE for host in HOST.findall(text)}

    assert {host for host in found if not host.endswith(".example")} <= PUBLIC_HOSTS


def test_no_file_is_a_dumping_ground() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "stuff"}

    assert [path.as_posix() for path in files() if path.stem in vague or vague & set(path.parts)] == []


@pytest.mark.parametrize(
    ("pattern", "text", "is_found"),
    [
        (UNDONE, "# TODO: later", True),
        (UNDONE, "TODOS", False),
        (MACHINE_PATH, 'Path("/tmp/runs")', True),
        (MACHINE_PATH, "see /home/me/runs", True),
        (MACHINE_PATH, "tests/tmp/x and https://host/work/x", False),
        (OUTSIDERS, "as asked in this session", True),
        (OUTSIDERS, "a Spark session", False),
    ],
)
def test_the_patterns_bite(pattern: re.Pattern[str], text: str, *, is_found: bool) -> None:
    assert bool(pattern.search(text)) is is_found
