"""What the user got wrong ends with exit code 2 and one clear sentence, before any broker starts."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.commands.parser import own_version
from fault_injection.releases.release import JarsUnavailableError
from tests.conformance.ideal_runs import write_ideal_run

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
GOOD = """\
id: mine/one
requirement: It holds.
replicas: [1, 2]
steps:
  - produce: {records: [m0]}
  - kill: 2
  - await_isr: [1, 2]
"""


@pytest.fixture(autouse=True)
def own_sigterm() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(autouse=True)
def no_broker_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a backend was chosen before the request was checked")

    monkeypatch.setattr("conformance.session.choose_backend", refuse)


def sentence(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Run the command line, require exit code 2, no answer and one sentence of complaint."""
    assert main([str(argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("kafka-conformance: ")
    assert said.err.count("\n") == 1
    return said.err.removeprefix("kafka-conformance: ").rstrip("\n")


@pytest.mark.parametrize("command", ["predict", "run"])
def test_an_unknown_release_lists_the_known_ones(capsys: pytest.CaptureFixture[str], command: str) -> None:
    said = sentence(capsys, command, "TR-01", "--kafka", "9.9.9")

    assert said.startswith("Kafka '9.9.9' is not a supported release; the supported ones are 0.10.2, 0.11, ")
    assert said.endswith("4.4.")


@pytest.mark.parametrize("word", ["latest", "trunk"])
def test_a_word_for_a_release_is_answered_with_the_one_that_is_known(
    capsys: pytest.CaptureFixture[str], word: str
) -> None:
    said = sentence(capsys, "predict", "TR-01", "--kafka", word)

    assert said.endswith(" 4.4. The last of them is also called newest.")


@pytest.mark.parametrize(
    ("release", "mode", "has"), [("0.10.2.2", "kraft", "zookeeper"), ("4.3.1", "zookeeper", "kraft")]
)
def test_a_metadata_mode_that_the_release_lacks_is_refused(
    capsys: pytest.CaptureFixture[str], release: str, mode: str, has: str
) -> None:
    said = sentence(capsys, "run", "TR-01", "--kafka", release, "--metadata", mode)

    assert said == f"Kafka {release} does not run in {mode} mode; it has {has}."


@pytest.mark.parametrize("command", ["list", "explain", "predict", "run"])
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("TR-91", "did you mean TR-0"),
        ("HW-01", "HW-01 is checked in every run"),
        ("hw-1", "HW-01 is checked in every run"),
        ("EL-3", "did you mean EL-03? "),
        ("le-3", "did you mean LE-03? "),
        ("nothing", "kafka-conformance list names them all"),
    ],
)
def test_a_name_that_matches_nothing_says_what_there_is(
    capsys: pytest.CaptureFixture[str], command: str, name: str, advice: str
) -> None:
    said = sentence(capsys, command, name)

    assert said.startswith(f"no entry matches '{name}'; {advice}")
    assert said.endswith("kafka-conformance list names them all")


@pytest.mark.parametrize("command", ["predict", "run"])
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("kill: 2", "kil: 2", ":6: step 2: unknown step 'kil'"),
        ("produce: {records: [m0]}", "produce: {}", ":5: step 1: field 'records': produce needs 'records'"),
        ("", "", ":7: step 3: field 'isr': the ISR is [1], not [1, 2], under the rules of Kafka 2.8.2 (zookeeper)"),
    ],
    ids=["unknown step", "missing field", "impossible under the rules"],
)
def test_a_schedule_that_cannot_be_used_is_refused_with_its_place(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, old: str, new: str, expected: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace(old, new))

    assert sentence(capsys, command, "--schedule", path, "--kafka", "2.8.2").startswith(f"{path}{expected}")


def test_a_schedule_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for path, command in ((tmp_path / "none.yaml", "predict"), (tmp_path / "none", "run")):
        said = sentence(capsys, command, "--schedule", path)

        assert said.startswith(f"{path} does not exist: give a YAML schedule, a Python file with SCENARIOS, or a ")
        assert said.endswith("`kafka-conformance schedule-help --example TR-01` prints one to start from")


def test_rules_of_an_unknown_release_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = write_ideal_run(tmp_path)

    assert sentence(capsys, "judge", run.path, "--rules-of", "9.9").startswith("Kafka '9.9' is not a supported release")


def test_a_kafka_home_without_jars_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = sentence(capsys, "run", "TR-01", "--kafka-home", tmp_path, "--runs-dir", tmp_path / "runs")

    assert said == f"--kafka-home {tmp_path} is no directory of a Kafka: it has no libs/*.jar."


def test_a_kafka_home_of_another_release_than_asked_for_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-3.9.2.jar").touch()
    said = sentence(capsys, "run", "TR-01", "--kafka", "4.3.1", "--kafka-home", tmp_path)

    assert said == f"--kafka-home {tmp_path} holds Kafka 3.9.2, but --kafka 4.3.1 was asked for."


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--image", "k:1", "--kafka-home", "k"], "--kafka-home and --image both bring a Kafka: give one of them."),
        (
            ["--image", "k:1", "--backend", "process"],
            "--image needs containers, but --backend process was asked for; --kafka-home needs none.",
        ),
        (
            ["--image", "k:1", "--jre-image", "j"],
            "--image is run as it is, on its own Java: --jre-image does not go with it.",
        ),
        (
            ["--spark-master", "mesos://h:1"],
            (
                "--spark-master mesos://h:1: Spark knows local[N], spark://HOST:PORT, yarn and k8s://URL, "
                "but no such master."
            ),
        ),
    ],
)
def test_options_that_cannot_be_followed_are_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert sentence(capsys, "run", "TR-01", *options) == said


def test_an_image_without_docker_is_refused_with_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/absent.sock")
    said = sentence(capsys, "run", "TR-01", "--image", "apache/kafka:4.3.1")

    assert said.startswith("--image apache/kafka:4.3.1 cannot be used: no Docker daemon answers (")
    assert said.endswith(" give its directory with --kafka-home, which needs no containers.")


def test_a_spark_master_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"spark://127.0.0.1:{server.getsockname()[1]}"
    for command in (["run", "TR-01"], ["judge", str(write_ideal_run(tmp_path).path)]):
        said = sentence(capsys, *command, "--spark-master", master)
        assert said.startswith(f"--spark-master {master}: no Spark master can be reached (")


@pytest.mark.parametrize("missing", ["jars_of", "schema_jar", "spark_connector_jars"])
def test_jars_that_cannot_be_had_are_a_usage_error_before_a_broker_starts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    def unavailable(*_: object) -> None:
        raise JarsUnavailableError("kafka-clients 3.9.2 is not cached and no repository answers.")

    for source in ("jars_of", "schema_jar", "spark_connector_jars"):
        found = unavailable if source == missing else lambda *_: None
        monkeypatch.setattr(f"conformance.session.{source}", found)
    said = sentence(capsys, "run", "TR-01", "--kafka", "4.3.1", "--runs-dir", tmp_path / "runs", "--quiet")

    assert said == "kafka-clients 3.9.2 is not cached and no repository answers."


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["runn"], "there is no command 'runn'; did you mean run?; --help names them all"),
        (["xyz"], "there is no command 'xyz'; --help names them all"),
        (["it's"], 'there is no command "it\'s"; '),
        (["'run"], """there is no command "'run"; did you mean run?"""),
        (["it's\" (choose from x"], """there is no command 'it\\'s" (choose from x'; --help"""),
        (["list", "--kafak", "4.3.1"], "kafka-conformance list: error: unrecognized arguments: --kafak; did you mean"),
        (["run", "--repat=3"], "unrecognized arguments: --repat=3; did you mean --repeat or --report?"),
        (["track-record", "x"], "kafka-conformance track-record: error: unrecognized arguments: x\n"),
        (["run", "--profile", "slow"], "argument --profile: invalid choice: 'slow'"),
        (["run", "--backend", "cloud"], "argument --backend: invalid choice: 'cloud'"),
        (["run", "--repeat", "-3"], "argument --repeat: '-3' is not a whole number from 1"),
        (["run", "--repeat", "0"], "argument --repeat: '0' is not a whole number from 1"),
        (["run", "--repeat", "two"], "argument --repeat: 'two' is not a whole number from 1"),
        (["run", "--seed", "x"], "argument --seed: invalid int value: 'x'"),
        (["judge"], "the following arguments are required: RUN"),
        (["explain"], "the following arguments are required: ENTRY"),
        (["predict", "--metadata", "raft"], "argument --metadata: invalid choice: 'raft'"),
    ],
)
def test_options_that_do_not_exist_are_usage_errors(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_bare_command_tells_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])

    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert "examples:\n  kafka-conformance list\n" in said.err
    assert said.err.endswith("\nkafka-conformance: error: the following arguments are required: COMMAND\n")


def test_the_tester_tells_its_own_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"kafka-conformance {declared_version()}\n"


def declared_version() -> str:
    declared: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return declared


def test_a_tester_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.commands.parser.PACKAGE", "kafka-conformance-that-is-not-installed")

    assert own_version() == "of a checkout that is not installed"


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_an_output_that_was_closed_is_no_error(closed: str) -> None:
    command = f"{sys.executable} -m conformance.cli list TR-01 {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{sys.executable} -m conformance.cli schedule-help | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
