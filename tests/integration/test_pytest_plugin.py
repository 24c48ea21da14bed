"""The catalogue as somebody else's pytest run: options, test ids, verdicts and the report."""

from __future__ import annotations

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import conformance
from conformance.registry import CATALOGUE, select
from tests.conformance.schedules.test_own_scenarios import GOOD

if TYPE_CHECKING:
    from conformance.catalogue.examination import Entry


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest over the installed package from another directory, as its user would."""
    command = [sys.executable, "-m", "pytest", "--pyargs", "conformance", "-p", "no:cacheprovider", *arguments]
    settings = folder / "pytest.ini"
    if not settings.exists():  # without one, pytest takes any that it finds in a folder above
        settings.write_text("[pytest]\n", encoding="utf-8")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_scenario_passes_and_its_id_says_what_it_proves(tmp_path: Path) -> None:
    report, results = tmp_path / "report", tmp_path / "results.xml"
    done = run_pytest(
        tmp_path,
        *("--kafka-version", "4.3.1", "--kafka-backend", "process", "-k", "HW-03"),
        *("--conformance-report", str(report), f"--junitxml={results}"),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    (case,) = ET.parse(results).getroot().iter("testcase")
    assert case.attrib["name"] == ("test_brokers_conform[HW-03+HW-01+HW-04+HW-05+HW-06/kafka=4.3.1/kraft]")
    properties = {one.attrib["name"]: one.attrib["value"] for one in case.iter("property")}
    assert (properties["conformance"], properties["promise"]) == ("CONFORMS", "KEPT")
    assert "HW-03" in (report / "report.html").read_text(encoding="utf-8")
    assert (report / "junit.xml").is_file()
    assert (report / "report.json").is_file()


OWN = Path(__file__).parents[2] / "examples" / "restarted-follower.yaml"
COMPOSED = "services: {kafka: {image: kafka}}\n"


def run_own(folder: Path, *arguments: str, first: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run pytest over a folder with a schedule and another YAML file."""
    schedules = folder / "schedules"
    schedules.mkdir(exist_ok=True)
    shutil.copy(OWN, schedules)
    (schedules / "docker-compose.yaml").write_text(COMPOSED, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *first, "schedules", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(300)
def test_schedules_of_a_user_run_where_a_release_is_named(tmp_path: Path) -> None:
    report = tmp_path / "report"
    done = run_own(
        tmp_path,
        *("--kafka-version", "4.3.1", "--kafka-backend", "process", "--conformance-report", str(report), "-v"),
    )

    assert done.returncode == 0, done.stdout + done.stderr
    name = "schedules/restarted-follower.yaml::test_brokers_conform[examples/restarted-follower/kafka=4.3.1/kraft]"
    assert f"{name} PASSED" in done.stdout
    assert "examples/restarted-follower" in (report / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("first", [("--pyargs", "conformance"), ()], ids=["catalogue first", "schedules first"])
def test_schedules_and_the_catalogue_are_collected_by_one_pytest(tmp_path: Path, first: tuple[str, ...]) -> None:
    rest = () if first else ("--pyargs", "conformance")
    done = run_own(tmp_path, *rest, "--kafka-version", "4.3.1", "--collect-only", "-q", first=first)

    assert done.returncode == 0, done.stdout + done.stderr
    assert sum("::test_brokers_conform[" in line for line in done.stdout.splitlines()) == len(select()) + 1


def test_scenarios_in_python_are_collected_by_file_and_by_folder(tmp_path: Path) -> None:
    (tmp_path / "schedules").mkdir()
    (tmp_path / "schedules" / "mine.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "schedules" / "helper.py").write_text("raise SystemExit('not run')\n", encoding="utf-8")
    for given in ((), ("schedules/mine.py",)):
        done = run_own(tmp_path, *given, "--kafka-version", "4.3.1", "--collect-only", "-q")

        assert done.returncode == 0, done.stdout + done.stderr
        names = sorted(line for line in done.stdout.splitlines() if line.startswith("schedules/mine.py"))
        test = "schedules/mine.py::test_brokers_conform"
        assert names == [f"{test}[mine/{label}/kafka=4.3.1/kraft]" for label in ("m0", "m1")]


def test_without_a_release_no_schedule_is_collected(tmp_path: Path) -> None:
    done = run_own(tmp_path, "--collect-only", "-q")

    assert "no tests collected" in done.stdout
    assert ".yaml" not in done.stdout


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("replicas: [1]\nsteps: [{produc: 1}]\n", "wrong.yaml:1: field 'id': 'id' is missing"),
        (OWN.read_text(encoding="utf-8").replace("kill: 2", "kill: 9"), "wrong.yaml:"),
    ],
)
def test_a_schedule_that_cannot_be_used_is_named_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "schedules").mkdir()
    (tmp_path / "schedules" / "wrong.yaml").write_text(text, encoding="utf-8")
    done = run_own(tmp_path, "--kafka-version", "4.3.1", "--collect-only", "-q")

    assert done.returncode == 2, done.stdout + done.stderr
    assert complaint in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_every_scenario_is_collected_with_its_requirements_and_release(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    done = run_pytest(tmp_path, "--kafka-version", "0.10.2", "--collect-only", "-q")

    assert done.returncode == 0, done.stdout + done.stderr
    ids = [line for line in done.stdout.splitlines() if "::" in line]
    assert ids
    assert all(line.endswith("/kafka=0.10.2.2/zookeeper]") for line in ids)
    assert any("[TR-01+TR-04/" in line for line in ids)


@pytest.mark.parametrize(
    ("arguments", "entries"),
    [((), select(profile="quick")), (("--conformance-profile", "full"), CATALOGUE)],
    ids=["the foundation unless told otherwise", "everything"],
)
def test_the_profile_says_how_much_is_collected(
    tmp_path: Path, arguments: tuple[str, ...], entries: tuple[Entry, ...]
) -> None:
    done = run_pytest(tmp_path, "--kafka-version", "4.3.1", "--collect-only", "-q", *arguments)

    assert sum("::test_brokers_conform[" in line for line in done.stdout.splitlines()) == len(entries)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--kafka-version", "9.9"], "Kafka '9.9' is not a supported release; the supported ones are 0.10.2, "),
        (
            ["--kafka-version", "4.3.1", "--kafka-metadata", "zookeeper"],
            "Kafka 4.3.1 does not run in zookeeper mode; it has kraft.",
        ),
        (["--kafka-backend", "cloud"], "argument --kafka-backend: invalid choice: 'cloud'"),
    ],
)
def test_an_option_that_cannot_be_is_a_usage_error(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    done = run_pytest(tmp_path, *arguments, "-k", "HW-03")

    assert done.returncode == 4, done.stdout + done.stderr
    assert complaint in done.stdout + done.stderr
    assert len(done.stderr.splitlines()) < 10, "a sentence, no traceback"


def test_a_directory_without_jars_is_an_error_before_any_broker_starts(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "--kafka-version", "4.3.1", "--kafka-home", str(tmp_path), "-k", "HW-03")

    assert done.returncode != 0
    assert "is no directory of a Kafka: it has no libs/*.jar." in done.stdout + done.stderr


def test_a_pytest_run_that_does_not_ask_for_scenarios_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    assert True\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("name", ["oracle", "reports", "fault_injection"])
def test_a_project_with_a_package_of_the_same_name_is_told_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    done = run_pytest(tmp_path, "--collect-only")

    assert done.returncode == 4, done.stdout + done.stderr
    assert f"{tmp_path / name} is found before kafka-conformance's own package {name!r}" in done.stderr
    assert len(done.stderr.splitlines()) < 5, "a sentence, no traceback"


def test_a_module_of_the_same_name_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "reports.py").touch()
    done = run_pytest(tmp_path, "--collect-only")

    assert done.returncode == 4, done.stdout + done.stderr
    assert "a module 'reports' is found before kafka-conformance's own package" in done.stderr


def test_a_test_that_has_conformance_in_its_name_asks_for_no_scenario(tmp_path: Path) -> None:
    """With a package of the tester's names, so that it would be refused if it did."""
    (tmp_path / "oracle").mkdir()
    (tmp_path / "test_conformance_of_mine.py").write_text("def test_mine():\n    assert True\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_conformance_of_mine.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_path_into_the_package_asks_for_scenarios(tmp_path: Path) -> None:
    catalogue = Path(conformance.__file__).with_name("test_catalogue.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(catalogue), "--kafka-version", "9.9"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 4, done.stdout + done.stderr
    assert "Kafka '9.9' is not a supported release" in done.stdout + done.stderr
