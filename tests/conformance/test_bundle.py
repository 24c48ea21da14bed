"""Do runs come out of a bundle as they went in, and is whatever else is in a file refused before it is written?"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.cli import main
from conformance.commands import judgement
from conformance.record import bundle
from conformance.record.bundle import BUNDLE_FILE, Bundle, BundleError, pack, unpack
from conformance.record.directory import RunDirectoryError
from tests.conformance.brokerless import brokerless_pipeline
from tests.conformance.examinations import MEASURED, Table, examination

if TYPE_CHECKING:
    from collections.abc import Callable

    from conformance.record.directory import RunDirectory

ENTRY = examination(Table(MEASURED))
HOST = "a-host-of-ours"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """Return the run of an examination; its brokers' logs name a host, and Spark left its checksum."""
    monkeypatch.setattr(judgement, "CATALOGUE", (ENTRY,))
    run = brokerless_pipeline(tmp_path / "runs").run(ENTRY).run
    (run.path / "brokers" / "1").mkdir(parents=True, exist_ok=True)
    (run.path / "brokers" / "1" / "server.log").write_text(HOST)
    (run.path / ".part-0.crc").write_text("crc")
    return run


@pytest.fixture
def packed(run: RunDirectory, tmp_path: Path) -> Path:
    path = tmp_path / "b.tgz"
    pack([run.path], path, "0.1.0")
    return path


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]


def doctored(path: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """Write a bundle's members again, changed, with sizes that fit."""
    found = [(tarfile.TarInfo(name), content) for name, content in members(path).items()]
    change(found)
    with tarfile.open(path, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for member, content in found:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def told(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Change what bundle.json says."""

    def retold(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        document = json.loads(found[0][1])
        change(document)
        found[0] = found[0][0], json.dumps(document).encode()

    return doctored(path, retold)


def files_of(document: dict[str, Any]) -> dict[str, Any]:
    (run,) = document["runs"].values()
    files: dict[str, Any] = run["files"]
    return files


def refused(path: Path, into: Path, why: str) -> None:
    with pytest.raises(BundleError, match=why):
        unpack(path, into)


def test_a_run_comes_out_as_it_went_in(run: RunDirectory, packed: Path, tmp_path: Path) -> None:
    found = unpack(packed, tmp_path / "out")
    name = run.path.name
    kept = {path.relative_to(run.path): path.read_bytes() for path in run.path.rglob("[!.]*") if path.is_file()}
    out = {
        path.relative_to(tmp_path / "out" / name): path.read_bytes()
        for path in (tmp_path / "out" / name).rglob("*")
        if path.is_file()
    }
    assert out == {path: content for path, content in kept.items() if path.parts[0] != "brokers"}
    assert (found.tester, list(found.runs), found.runs[name].kafka) == ("0.1.0", [name], "0.10.2.2")
    assert found.size == sum(map(len, out.values()))


def test_nothing_in_it_names_the_machine_or_the_time(run: RunDirectory, packed: Path, tmp_path: Path) -> None:
    content = b"".join(members(packed).values())
    assert HOST.encode() not in content
    assert str(tmp_path).encode() not in content
    with tarfile.open(packed) as tar:
        assert {(one.mtime, one.uid, one.uname, one.mode) for one in tar} == {(0, 0, "", 0o644)}
    again = pack([run.path], tmp_path / "again.tgz", "0.1.0")
    assert (tmp_path / "again.tgz").read_bytes() == packed.read_bytes()
    assert isinstance(again, Bundle)


def test_what_a_run_did_not_end_with_is_not_packed(run: RunDirectory, tmp_path: Path) -> None:
    (run.path / "timeline.ndjson").write_text("{}\n")
    with pytest.raises(RunDirectoryError, match=r"timeline\.ndjson has changed"):
        pack([run.path], tmp_path / "b.tgz", "0.1.0")
    assert not list(tmp_path.glob("*b.tgz*"))


def test_links_are_not_packed(run: RunDirectory, tmp_path: Path) -> None:
    (run.path / "a-link").symlink_to("/etc/hostname")
    with pytest.raises(RunDirectoryError, match="a-link is a link"):
        pack([run.path], tmp_path / "b.tgz", "0.1.0")


def test_what_names_the_machine_or_is_made_again_is_not_packed(run: RunDirectory, packed: Path, tmp_path: Path) -> None:
    hidden = ("traceback.txt", "again/r/brokers/1/server.log", "again/r/traceback.txt", ".hidden/f", "a/.hidden")
    for name in (*hidden, "repredicted-4.4.0-kraft/run.json", "verdict-repredicted-4.4.0-kraft.json"):
        (run.path / name).parent.mkdir(parents=True, exist_ok=True)
        (run.path / name).write_text(HOST)
    (run.path / "repredicted-4.4.0-kraft" / "wire.ndjson").symlink_to("../wire.ndjson")
    pack([run.path], tmp_path / "again.tgz", "0.1.0")
    assert (tmp_path / "again.tgz").read_bytes() == packed.read_bytes()


def test_a_prediction_that_changed_is_not_packed(run: RunDirectory, tmp_path: Path) -> None:
    with (run.path / "prediction" / "questions.json").open("a") as file:
        file.write(" ")
    with pytest.raises(RunDirectoryError, match="the prediction has changed"):
        pack([run.path], tmp_path / "b.tgz", "0.1.0")


def test_a_run_that_is_named_by_a_dot_keeps_its_name(
    run: RunDirectory, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run.path)
    pack([Path()], tmp_path / "dot.tgz", "0.1.0")
    assert (tmp_path / "dot.tgz").read_bytes() == packed.read_bytes()


def test_a_bundle_in_its_own_run_is_refused(run: RunDirectory) -> None:
    with pytest.raises(RunDirectoryError, match="would be a file of the run that it packs"):
        pack([run.path], run.path / "b.tgz", "0.1.0")


@pytest.mark.parametrize("name", ["a\nb", "a\\b", "n" * 200])
def test_what_could_not_be_opened_is_not_packed(name: str, run: RunDirectory, tmp_path: Path) -> None:
    (run.path / name).touch()
    with pytest.raises(RunDirectoryError, match="can be called in a bundle"):
        pack([run.path], tmp_path / "b.tgz", "0.1.0")
    assert not list(tmp_path.glob("*b.tgz*"))


def test_more_than_can_be_opened_is_not_packed(
    run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "WHOLE_MOST", 10)
    with pytest.raises(RunDirectoryError, match=r"unpacks to .*, and 10 bytes is the most"):
        pack([run.path], tmp_path / "b.tgz", "0.1.0")


def test_a_link_that_lies_beside_is_not_followed(run: RunDirectory, tmp_path: Path) -> None:
    (precious := tmp_path / "precious").write_text("mine")
    (tmp_path / ".b.tgz.part").symlink_to(precious)
    pack([run.path], tmp_path / "b.tgz", "0.1.0")
    assert precious.read_text() == "mine"
    assert not (tmp_path / "b.tgz").is_symlink()


def test_two_runs_of_one_name_are_refused(run: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=f"two of the runs are called {run.path.name}"):
        pack([run.path, run.path], tmp_path / "b.tgz", "0.1.0")


def test_a_byte_that_changed_is_named(packed: Path, tmp_path: Path) -> None:
    def flip(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        at = next(number for number, (member, _) in enumerate(found) if member.name.endswith("/run.json"))
        member, content = found[at]
        found[at] = member, content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]

    refused(doctored(packed, flip), tmp_path / "out", r"run\.json is not what was packed: its SHA-256 is another")


KINDS = (*(tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE), tarfile.CONTTYPE)


@pytest.mark.parametrize("kind", [*KINDS, tarfile.AREGTYPE, tarfile.GNUTYPE_SPARSE])
def test_what_is_no_plain_file_is_refused(kind: bytes, packed: Path, tmp_path: Path) -> None:
    def link(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        member = tarfile.TarInfo(found[1][0].name)
        member.type, member.linkname = kind, "/etc/hostname"
        found[1] = member, b""

    refused(doctored(packed, link), tmp_path / "out", "is no plain file")
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_symlink()]


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "a//x", "./x", "a\\..\\x", "a/\nx", ""])
def test_names_that_lead_elsewhere_are_refused(name: str, packed: Path, tmp_path: Path) -> None:
    def lead(document: dict[str, Any]) -> None:
        files_of(document)[name] = {"bytes": 1, "sha256": ""}

    refused(told(packed, lead), tmp_path / "out", "which no file of a run can be called")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/a", ""])
def test_runs_that_are_called_so_are_refused(name: str, packed: Path, tmp_path: Path) -> None:
    def call(document: dict[str, Any]) -> None:
        document["runs"] = {name: next(iter(document["runs"].values()))}

    refused(told(packed, call), tmp_path / "out", "which no file of a run can be called")


def test_what_it_does_not_name_is_refused(packed: Path, tmp_path: Path) -> None:
    def add(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        found.append((tarfile.TarInfo("../../more"), b"more"))

    refused(doctored(packed, add), tmp_path / "out", "there is more in the bundle than its bundle.json names")
    assert not list(tmp_path.rglob("more"))


@pytest.mark.parametrize(
    ("at", "why"), [(1, "where .* should come '.*' does"), (-1, "where .* should come nothing does")]
)
def test_what_is_missing_is_named(at: int, why: str, packed: Path, tmp_path: Path) -> None:
    refused(doctored(packed, lambda found: found.__delitem__(at)), tmp_path / "out", why)


def test_a_bomb_is_refused_by_what_it_says(packed: Path, tmp_path: Path) -> None:
    def swell(document: dict[str, Any]) -> None:
        for one in files_of(document).values():
            one["bytes"] = 2**30

    refused(told(packed, swell), tmp_path / "out", "unpacks to .* GB, and .* is the most")
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_longer_than_told_is_refused_before_it_is_written(packed: Path, tmp_path: Path) -> None:
    def lengthen(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        found[2] = found[2][0], found[2][1] + b"x" * 10**6

    refused(doctored(packed, lengthen), tmp_path / "out", "bytes; bundle.json says")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
@pytest.mark.parametrize(("size", "times"), [(2**32, 1), (0, 5000)])
def test_headers_that_go_on_are_refused_unread(
    kind: bytes, size: int, times: int, packed: Path, tmp_path: Path
) -> None:
    content = gzip.decompress(packed.read_bytes())
    header = tarfile.TarInfo(BUNDLE_FILE)
    header.type, header.size = kind, size
    packed.write_bytes(gzip.compress(header.tobuf(tarfile.GNU_FORMAT) * times + content))
    refused(packed, tmp_path / "out", "bundle.json is no plain file")


@pytest.mark.parametrize("size", [-1, -512, 2**63, 10**400])
def test_sizes_that_no_file_has_are_refused(size: int, packed: Path, tmp_path: Path) -> None:
    def say(document: dict[str, Any]) -> None:
        next(iter(files_of(document).values()))["bytes"] = size

    refused(told(packed, say), tmp_path / "out", "bundle.json cannot be read|is the most")


def test_a_header_with_a_negative_size_is_refused(packed: Path, tmp_path: Path) -> None:
    content = bytearray(gzip.decompress(packed.read_bytes()))
    header = tarfile.TarInfo(BUNDLE_FILE)
    header.size = -512
    content[:512] = header.tobuf(tarfile.GNU_FORMAT)
    packed.write_bytes(gzip.compress(bytes(content)))
    refused(packed, tmp_path / "out", "bundle.json is no plain file")


@pytest.mark.parametrize(
    "more", [gzip.compress(b"\0" * 2**23), gzip.compress(b"x"), b"x"], ids=["a bomb", "a stream", "a byte"]
)
def test_what_comes_behind_the_end_is_refused(more: bytes, packed: Path, tmp_path: Path) -> None:
    packed.write_bytes(packed.read_bytes() + more)
    refused(packed, tmp_path / "out", "there is more in the bundle|damaged")


@pytest.mark.parametrize("files", [1, 2, 17, 18, 19, 20, 37, 38, 39, 40])
def test_whatever_the_end_is_filled_up_with_it_is_the_end(files: int, run: RunDirectory, tmp_path: Path) -> None:
    for number in range(files):
        (run.path / f"{number}.txt").write_text("x")
    pack([run.path], tmp_path / "b.tgz", "0.1.0")
    assert f"{files - 1}.txt" in unpack(tmp_path / "b.tgz", tmp_path / "out").runs[run.path.name].files


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_what_was_cut_off_is_refused(share: float, packed: Path, tmp_path: Path) -> None:
    content = packed.read_bytes()
    packed.write_bytes(content[: int(share * len(content))])
    refused(packed, tmp_path / "out", "no bundle|damaged|should come nothing")


@pytest.mark.parametrize(
    "content",
    [b"no archive", gzip.compress(b"no archive"), gzip.compress(b"\0" * 10240)],
    ids=["a text", "a packed text", "an empty archive"],
)
def test_what_is_no_bundle_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "b.tgz").write_bytes(content)
    refused(tmp_path / "b.tgz", tmp_path / "out", "is no bundle")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda document: document.update(format=2), "has format 2, this tester reads 1"),
        (lambda document: document.pop("tester"), f"{BUNDLE_FILE} cannot be read"),
        (lambda document: files_of(document).pop("run.json"), "is no run"),
        (lambda document: document.update(runs={}), "has no run"),
        (lambda document: files_of(document).update({"run.json/x": {"bytes": 0, "sha256": ""}}), "can be called"),
        (lambda document: files_of(document).update({"x" * 256: {"bytes": 0, "sha256": ""}}), "can be called"),
    ],
)
def test_what_it_says_of_itself_is_checked(
    change: Callable[[dict[str, Any]], None], why: str, packed: Path, tmp_path: Path
) -> None:
    refused(told(packed, change), tmp_path / "out", why)


# The commands


def test_a_bundle_is_judged_where_its_runs_are_not(
    run: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.tgz"
    assert main(["bundle", str(run.path.parent), "--out", str(path)]) == 0
    assert f"bundle: {path}: 1 run in " in capsys.readouterr().out
    assert main(["judge", str(path)]) == 0
    out = capsys.readouterr().out
    assert f"{run.path.name}: CONFORMS" in out
    assert f"{path}: 1 run in " in out
    assert "whole; packed by kafka-conformance " in out


def test_a_bundle_is_judged_in_json(run: RunDirectory, packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", str(packed), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (one,) = document["runs"]
    assert (document["tester"], one["run"], one["conformance"]) == ("0.1.0", run.path.name, "CONFORMS")


def test_a_verdict_that_was_doctored_is_told(
    run: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = json.loads((run.path / "verdict.json").read_text())
    (run.path / "verdict.json").write_text(json.dumps(verdict | {"conformance": "DEVIATES"}))
    path = tmp_path / "b.tgz"
    pack([run.path], path, "0.1.0")
    before = path.read_bytes()
    assert main(["judge", str(path)]) == 0
    assert "is DEVIATES" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_texts_of_a_bundle_steer_no_terminal(
    run: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = json.loads((run.path / "verdict.json").read_text())
    (run.path / "verdict.json").write_text(json.dumps(verdict | {"reason": "\x1b[31m", "conformance": "DEVIATES"}))
    pack([run.path], tmp_path / "b.tgz", "\x1b]0;mine\x07")
    assert main(["judge", str(tmp_path / "b.tgz")]) == 0
    out = capsys.readouterr().out
    assert "\ufffd[31m" in out
    assert "\x1b" not in out


def test_a_run_of_another_format_is_an_error_of_that_run_alone(
    run: RunDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(run.path, run.path.parent / "newer")
    about = json.loads((run.path.parent / "newer" / "run.json").read_text())
    path = tmp_path / "b.tgz"
    pack([run.path, run.path.parent / "newer"], path, "0.1.0")

    def newer(found: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        content = json.dumps(about | {"format": 99}).encode()
        document = json.loads(found[0][1])
        digest = hashlib.sha256(content).hexdigest()
        document["runs"]["newer"]["files"]["run.json"] = {"bytes": len(content), "sha256": digest}
        found[0] = found[0][0], json.dumps(document).encode()
        at = next(number for number, (member, _) in enumerate(found) if member.name == "newer/run.json")
        found[at] = found[at][0], content

    assert main(["judge", str(doctored(path, newer)), "--json"]) == 4
    first, second = json.loads(capsys.readouterr().out)["runs"]
    assert (first["conformance"], second["conformance"]) == ("CONFORMS", "HARNESS_ERROR")
    assert "has format 99" in second["reason"]


def test_a_damaged_bundle_is_a_clear_error(packed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed.write_bytes(b"x")
    assert main(["judge", str(packed)]) == 2
    assert f"{packed} is no bundle" in capsys.readouterr().err


def test_a_bundle_has_a_name_that_judge_knows(run: RunDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", str(run.path), "--out", "b.zip"]) == 2
    assert "ends in .tgz or .tar.gz" in capsys.readouterr().err
