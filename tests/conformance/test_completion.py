"""Bash, zsh and fish complete a command line: each of them is started, gets the script as --help says, and a TAB."""

from __future__ import annotations

import fcntl
import os
import re
import select
import subprocess
import termios
from typing import TYPE_CHECKING

import pytest

from conformance.cli import main
from conformance.registry import CATALOGUE
from fault_injection.waiting import NotYetError, until
from tests.conformance.terminals import COMMAND_LINE, piped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHELLS = {
    "bash": ("bash", "--noprofile", "--norc", "-i"),
    "zsh": ("zsh", "-f", "-i"),
    "fish": ("fish", "--no-config", "-i"),
}
INSTALLED = {
    "bash": "source {folder}/kafka-conformance; {stub}",
    "zsh": "fpath+={folder}; autoload -Uz compinit && compinit -u -D; {stub}",
    "fish": "source {folder}/kafka-conformance.fish; function kafka-conformance; echo got: $argv; end",
}
FILES = {"bash": "kafka-conformance", "zsh": "_kafka-conformance", "fish": "kafka-conformance.fish"}
STUB = 'kafka-conformance() { echo got: "$*"; }'
COMPLETED = {
    "expla": "explain",
    "explain regressions/KAFKA-68": "explain regressions/KAFKA-6857",
    "explain HW-02/fo": "explain HW-02/follower",
    "predict TR-01 --kafka 0.11.0.3/": "predict TR-01 --kafka 0.11.0.3/zookeeper",
    "run --backend pro": "run --backend process",
    "matrix --kafka lad": "matrix --kafka ladder",
    "explore --model Kip320Fi": "explore --model Kip320FirstTry",
    "judge --repr": "judge --repredict",
    "explain no-such-scen": "explain no-such-scen",
}
"""What is typed before TAB, and what the program is called with; the last one is nothing that could be completed."""


class TypedShell:
    """A shell that somebody types at."""

    def __init__(self, command: tuple[str, ...], home: Path) -> None:
        self.ours, theirs = os.openpty()
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - fish wants a terminal of its own
        )
        os.close(theirs)
        self.seen = ""

    def answer(self, typed: str, pattern: str) -> str:
        """Type something and return what the shell then writes that a pattern is about."""
        self.seen = ""
        os.write(self.ours, typed.encode())
        return until(lambda: self._found(pattern), deadline_s=60, what=f"{typed!r} is answered")

    def _found(self, pattern: str) -> str:
        while select.select([self.ours], [], [], 0)[0]:
            self.seen += os.read(self.ours, 4096).decode(errors="replace")
        found = re.search(pattern, self.seen)
        if found is None:
            raise NotYetError(self.seen)
        return found[1]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.ours)


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TypedShell]:
    """Yield a shell that has the script, and a function that tells how the program is called."""
    name, folder = request.param, tmp_path_factory.mktemp(request.param)
    (folder / FILES[name]).write_text(piped(*COMMAND_LINE, "completion", name), encoding="utf-8")
    typed = TypedShell(SHELLS[name], folder)
    installed = INSTALLED[name].format(folder=folder, stub=STUB)
    try:
        typed.answer(f"{installed}; echo rea''dy\n", r"(ready)\r?\n")
        yield typed
    finally:
        typed.close()


@pytest.mark.shells
@pytest.mark.parametrize("typed", COMPLETED)
def test_a_tab_completes(shell: TypedShell, typed: str) -> None:
    assert shell.answer(f"kafka-conformance {typed}\t\n", r"got: ([^\r\n]*?) ?\r?\n") == COMPLETED[typed]


@pytest.mark.shells
@pytest.mark.parametrize("name", SHELLS)
def test_the_shell_can_read_the_script(name: str, tmp_path: Path) -> None:
    script, broken = tmp_path / "script", tmp_path / "broken"
    script.write_text(piped(*COMMAND_LINE, "completion", name), encoding="utf-8")
    broken.write_text("if then (\n", encoding="utf-8")

    assert subprocess.run([name, "-n", script], check=False).returncode == 0
    assert subprocess.run([name, "-n", broken], check=False, capture_output=True).returncode != 0


@pytest.mark.parametrize("name", ["zsh", "fish"])
def test_every_scenario_is_in_the_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", name]) == 0
    script = capsys.readouterr().out

    assert [entry.name for entry in CATALOGUE if entry.name not in script] == []


def test_bash_would_take_a_name_with_an_equals_sign_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    assert "EL-03/acks" not in script
    assert re.search(r"\bEL-03\b", script)


def test_a_shell_that_is_not_known_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "cmd"])

    assert "choose from 'bash', 'zsh', 'fish'" in capsys.readouterr().err
