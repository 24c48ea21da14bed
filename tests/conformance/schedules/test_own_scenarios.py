"""Is a file in Python taken as the catalogue's are, and refused with its place where it cannot be?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.schedules.own_scenarios import has_scenarios, read_scenarios
from conformance.schedules.schedule_file import ScheduleFileError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
from conformance.catalogue.scenario import Scenario
from conformance.scenarios.vocabulary import await_isr, brokers, checkpoint, kill, produce
from oracle.schedule import Schedule


def crash(label):
    return Scenario(
        name=f"mine/{label}",
        explanation="a crash",
        schedule=Schedule(
            id=f"mine/{label}",
            requirement="A crash loses nothing.",
            sources=(),
            replicas=brokers(1, 2),
            steps=(produce(label), kill(2), await_isr(1), checkpoint("the end")),
        ),
    )


SCENARIOS = (crash("m0"), crash("m1"))
"""


def write(folder: Path, text: str) -> Path:
    (path := folder / "mine.py").write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    path = write(folder, text)
    with pytest.raises(ScheduleFileError) as caught:
        read_scenarios(path)
    return str(caught.value).removeprefix(str(path))


def test_each_scenario_of_the_file_is_taken_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    assert [one.name for one in read_scenarios(write(tmp_path, GOOD))] == ["mine/m0", "mine/m1"]
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_the_model_predicts_them_by_file_and_by_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, GOOD)
    (tmp_path / "helper.py").write_text("raise SystemExit('not run')\n")
    for given in (path, tmp_path):
        assert main(["predict", "--schedule", str(given), "--kafka", "4.4.0"]) == 0
        out = capsys.readouterr().out
        assert [line.split()[0] for line in out.splitlines() if " on Kafka " in line] == ["mine/m0", "mine/m1"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x = 1\n", ": no tuple SCENARIOS is in it, such as SCENARIOS = (MINE,)"),
        ("SCENARIOS = ()\n", ": no tuple SCENARIOS is in it, such as SCENARIOS = (MINE,)"),
        ("SCENARIOS = (7,)\n", ": SCENARIOS has 7, which is no Scenario"),
        ("x = (\n", ":1: not valid Python: '(' was never closed"),
        ("x = 1\ny = z\n", ":2: NameError: name 'z' is not defined"),
        ("x = 1\nraise SystemExit(0)\n", ":2: SystemExit: 0"),
        (GOOD.replace("brokers(1, 2)", "brokers(1, 12)"), ": mine/m0: field 'replicas': replicas are broker ids "),
        (GOOD.replace("kill(2)", "kill(3)"), ": mine/m0: step 2: field 'broker': "),
        (GOOD.replace("kill(2)", "'kill 2'"), ": mine/m0: something is no step, or no setting: "),
        (GOOD.replace('="a crash"', '="a crash", questions=(1,)'), ": mine/m0: only entries of the catalogue ask "),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    assert refusal(tmp_path, text).startswith(complaint)


def test_what_is_not_there_or_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.py").mkdir()
    for name, why in (("none.py", "No such file or directory"), ("folder.py", "Is a directory")):
        with pytest.raises(ScheduleFileError, match=why):
            read_scenarios(tmp_path / name)
    assert not has_scenarios(tmp_path / "folder.py")


def test_a_schedule_that_a_release_cannot_follow_is_named_with_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, GOOD.replace("await_isr(1)", "await_isr(1, 2)"))
    assert main(["predict", "--schedule", str(path), "--kafka", "4.4.0"]) == 2
    assert f"{path}: mine/m0: step 3:" in capsys.readouterr().err


def test_the_same_name_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, GOOD.replace('crash("m1")', 'crash("m0")'))
    assert main(["predict", "--schedule", str(path)]) == 2
    assert f"{path}: {path} has the id mine/m0 too: give it another" in capsys.readouterr().err
