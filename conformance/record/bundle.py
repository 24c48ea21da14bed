"""How do runs go to another machine whole, and what is believed of them there? A tar file, with digests of all in it.

First in it is ``bundle.json``: the tester that packed it, and of each run its release, the digest of the jars that ran,
and name, size and SHA-256 of every file. Then come the files, in that order. The same runs make the same bytes.

Who opens a bundle believes none of it: a member that is no plain file, that ``bundle.json`` does not name next, or that
is longer than it says there is refused before anything of it is written. Digests show what was damaged on the way, not
who made it: that takes a signature, which is the user's to make.

Logs and configurations of brokers stay out, for they name hosts and paths, and no verdict rests on them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, cast

import msgspec

from conformance.layout import size_words
from conformance.record.digests import check_digests
from conformance.record.directory import RunDirectory, RunDirectoryError, as_text
from conformance.record.run import RUN_FILE, open_run, read_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUNDLE_FILE = "bundle.json"
SUFFIXES = (".tgz", ".tar.gz")
FORMAT = 1
LEFT_OUT = "brokers"
"""The folder of a run that is not packed."""
TOLD_MOST = 64 * 2**20
"""So many bytes ``bundle.json`` has at most."""
WHOLE_MOST = 4 * 2**30
"""So many bytes all files of a bundle have at most, when it is opened."""
_PIECE = 2**20


class BundleError(RunDirectoryError):
    """What is no bundle, is damaged, or has what no bundle has; names it."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a run: its size in bytes, and its SHA-256."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackedRun:
    """A run of a bundle.

    Attributes:
        kafka: the release, with its metadata mode.
        entry: of the catalogue; None of a schedule beside it.
        jars: the digest of the jars that ran; None where an image did, whose digest is ``image``.
        files: by name below the run's directory.
    """

    kafka: str
    metadata: str
    entry: str | None
    jars: str | None
    image: str | None
    files: Mapping[str, PackedFile]


@dataclass(frozen=True, slots=True)
class Bundle:
    """bundle.json: which tester packed which runs, by the names of their directories."""

    format: int
    tester: str
    runs: Mapping[str, PackedRun]

    @property
    def size(self) -> int:
        """Return how many bytes all its files have."""
        return sum(file.bytes for run in self.runs.values() for file in run.files.values())

    def in_words(self) -> str:
        """Return how many runs and files it has."""
        runs, files = len(self.runs), sum(len(run.files) for run in self.runs.values())
        return f"{runs:,} run{'s' if runs != 1 else ''} in {files:,} files"


def is_bundle(path: Path) -> bool:
    """Return whether a path is that of a bundle by its name."""
    return path.name.endswith(SUFFIXES)


# Packing


def pack(runs: Sequence[Path], out: Path, tester: str) -> Bundle:
    """Pack runs into a file; it is there whole, or not at all.

    Raises:
        RunDirectoryError: a directory is no run, its files are not those that it ended with, or two have one name.
        OSError: a file cannot be read, or the bundle not be written.
    """
    opened = {run.name: open_run(run) for run in runs}
    if len(opened) < len(runs):
        twice = next(run.name for at, run in enumerate(runs) if run.name in {one.name for one in runs[:at]})
        raise RunDirectoryError(f"two of the runs are called {twice}; pack them apart")
    bundle = Bundle(FORMAT, tester, {name: _packed(run) for name, run in opened.items()})
    part = out.with_name(f".{out.name}.part")
    try:
        with part.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            _write(bundle, opened, cast("IO[bytes]", packed))
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return bundle


def _packed(run: RunDirectory) -> PackedRun:
    about = read_run(run)
    if about.evidence is not None:
        check_digests(run)
    files = {str(path.relative_to(run.path)): PackedFile(path.stat().st_size, _digest(path)) for path in _files(run)}
    return PackedRun(about.kafka, about.metadata, about.scenario, about.digests.jars, about.digests.image, files)


def _files(run: RunDirectory) -> list[Path]:
    """Return what is packed of a run: no hidden files, which Spark has its checksums in, and nothing of brokers."""
    found: list[Path] = []
    for path in sorted(run.path.rglob("[!.]*")):
        if path.relative_to(run.path).parts[0] == LEFT_OUT:
            continue
        if path.is_symlink():
            raise RunDirectoryError(f"{path} is a link; a bundle has files only")
        found += [path] if path.is_file() else []
    return found


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(bundle: Bundle, runs: Mapping[str, RunDirectory], packed: IO[bytes]) -> None:
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        told = as_text(bundle).encode()
        tar.addfile(_member(BUNDLE_FILE, len(told)), io.BytesIO(told))
        for name, run in bundle.runs.items():
            for file, about in run.files.items():
                with (runs[name].path / file).open("rb") as content:
                    tar.addfile(_member(f"{name}/{file}", about.bytes), content)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member


# Opening


def unpack(path: Path, into: Path) -> Bundle:
    """Open a bundle in an empty directory, each run in a directory of its name.

    Raises:
        BundleError: it is none, of another format, damaged, larger than a bundle may be, or has what none has.
        OSError: a file cannot be written.
    """
    with _opened(path) as tar:
        bundle = _told(path, tar)
        for name, run in bundle.runs.items():
            for file, about in run.files.items():
                _take(tar, f"{name}/{file}", about, into)
        if (more := tar.next()) is not None:
            raise BundleError(f"{path} has {more.name!r}, which its {BUNDLE_FILE} does not name")
    return bundle


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            bounded = cast("IO[bytes]", _Bounded(unpacked, WHOLE_MOST + TOLD_MOST))
            with tarfile.open(fileobj=bounded, mode="r:") as tar:
                yield tar
            while bounded.read(_PIECE):  # the checksum of the whole stands at its end
                pass
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise BundleError(f"{path} is no bundle, or damaged: {error}") from error


class _Bounded:
    """What is unpacked, forward only, and never more of it than a bundle may have: tar headers name their own size."""

    def __init__(self, unpacked: gzip.GzipFile, most: int) -> None:
        self._unpacked, self._most = unpacked, most

    def tell(self) -> int:
        """Return where it is read from next."""
        return self._unpacked.tell()

    def seek(self, offset: int) -> int:
        """Go on to an offset."""
        self._require(offset)
        return self._unpacked.seek(offset)

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes, or fewer at the end."""
        if not 0 <= size <= TOLD_MOST:
            raise BundleError(f"a header of the bundle claims {size_words(size)}")
        self._require(self._unpacked.tell() + size)
        return self._unpacked.read(size)

    def _require(self, end: int) -> None:
        if end > self._most:
            raise BundleError(f"the bundle unpacks to more than {size_words(WHOLE_MOST)}")


def _told(path: Path, tar: tarfile.TarFile) -> Bundle:
    first = tar.next()
    if first is None or first.name != BUNDLE_FILE or not first.isreg() or first.size > TOLD_MOST:
        raise BundleError(f"{path} is no bundle: it does not begin with {BUNDLE_FILE}")
    told = cast("IO[bytes]", tar.extractfile(first)).read()
    try:
        bundle = msgspec.json.decode(told, type=Bundle)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BundleError(f"{path}: {BUNDLE_FILE} cannot be read: {error}") from error
    if bundle.format != FORMAT:
        raise BundleError(f"{path} has format {bundle.format}, this tester reads {FORMAT}: use the one that packed it")
    if bundle.size > WHOLE_MOST:
        raise BundleError(f"{path} unpacks to {size_words(bundle.size)}, and {size_words(WHOLE_MOST)} is the most")
    _require_plain(path, bundle)
    return bundle


def _require_plain(path: Path, bundle: Bundle) -> None:
    """Refuse names that lead out of the directory that a bundle is opened in, or are not written in one way only."""
    for name, run in bundle.runs.items():
        if RUN_FILE not in run.files:
            raise BundleError(f"{path}: {name!r} is no run: it has no {RUN_FILE}")
        for file in (f"{name}/{file}" for file in run.files):
            parts = PurePosixPath(file).parts
            is_plain = "/".join(parts) == file and not {"..", "/"}.intersection(parts) and file.isprintable()
            if not is_plain or "\\" in file or len(PurePosixPath(name).parts) != 1:
                raise BundleError(f"{path} names {file!r}, which is no file of a run")


def _take(tar: tarfile.TarFile, name: str, about: PackedFile, into: Path) -> None:
    member = tar.next()
    if member is None or member.name != name:
        found = "nothing" if member is None else repr(member.name)
        raise BundleError(f"where {name} should come {found} does")
    if not member.isreg():
        raise BundleError(f"{name} is no plain file")
    if member.size != about.bytes:
        raise BundleError(f"{name} has {member.size:,} bytes; {BUNDLE_FILE} says {about.bytes:,}")
    path, digest, content = into / name, hashlib.sha256(), cast("IO[bytes]", tar.extractfile(member))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        while piece := content.read(_PIECE):
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != about.sha256:
        raise BundleError(f"{name} is not what was packed: its SHA-256 is another")
