"""How do runs go to another machine whole, and what is believed of them there? A tar file, with digests of all in it.

First in it is ``bundle.json``: the tester that packed it, and of each run its release, the digest of the jars that ran,
and name, size and SHA-256 of every file. Then come the files, in that order. The same runs make the same bytes.

Who opens a bundle believes none of it. It is read forwards, block by block, and ends at what is not the plain header of
the file that ``bundle.json`` names next, in its size: other headers that tar has, such as links, sparse files and names
that go on, are not followed. Digests show what was damaged on the way, not who made it: that takes a signature, which
is the user's to make.

Brokers' logs and configurations and tracebacks stay out, for they name hosts and paths; no verdict rests on them.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import tempfile
import zlib
from collections.abc import Mapping  # noqa: TC003 - the decoder evaluates the fields' types
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Annotated, cast

import msgspec

from conformance.layout import size_words
from conformance.record.digests import check_digests
from conformance.record.directory import RunDirectory, RunDirectoryError, as_text
from conformance.record.prediction import check_frozen
from conformance.record.run import RUN_FILE, open_run, read_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUNDLE_FILE = "bundle.json"
SUFFIXES = (".tgz", ".tar.gz")
FORMAT = 1
LEFT_OUT = frozenset({"brokers", "traceback.txt"})
"""What is not packed of a run, nor of one that lies in it: it names hosts and paths."""
DERIVED = ("repredicted-", "verdict-repredicted-")
"""How names begin of what ``judge --rules-of`` has made of a run, which it makes again."""
TOLD_MOST = 16 * 2**20
"""So many bytes ``bundle.json`` has at most."""
WHOLE_MOST = 4 * 2**30
"""So many bytes all files of a bundle have at most."""
_PART_MOST = 255
"""So many bytes a file system takes as the name of a file."""
_PIECE = 2**20
_END = bytes(tarfile.BLOCKSIZE)


class BundleError(RunDirectoryError):
    """What is no bundle, is damaged, or has what no bundle has; names it."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a run: its size in bytes, and its SHA-256."""

    bytes: Annotated[int, msgspec.Meta(ge=0, le=WHOLE_MOST)]
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
    """Return whether a path is that of a bundle by its name; a directory is none."""
    return path.name.endswith(SUFFIXES) and not path.is_dir()


# Packing


def pack(runs: Sequence[Path], out: Path, tester: str) -> Bundle:
    """Pack runs into a file, which is there whole or not at all, and return what it says of itself.

    Raises:
        RunDirectoryError: a directory is no run, its files are not those that it ended with, two have one name, or a
            bundle cannot have them.
        OSError: a file cannot be read, or the bundle not be written.
    """
    opened = _by_name(runs, out)
    bundle = Bundle(FORMAT, tester, {name: _packed(run) for name, run in opened.items()})
    _require_plain(out, bundle)
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as raw:
        part = Path(raw.name)
        try:
            with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
                _write(bundle, opened, cast("IO[bytes]", packed))
            part.chmod(0o644)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    return bundle


def _by_name(runs: Sequence[Path], out: Path) -> dict[str, RunDirectory]:
    opened: dict[str, RunDirectory] = {}
    for path in runs:
        run = open_run(path.resolve())
        if run.path.name in opened:
            raise RunDirectoryError(f"two of the runs are called {run.path.name}; pack them apart")
        if out.resolve().is_relative_to(run.path):
            raise RunDirectoryError(f"{out} would be a file of the run that it packs; give another place")
        opened[run.path.name] = run
    return opened


def _packed(run: RunDirectory) -> PackedRun:
    about = read_run(run)
    if about.evidence is not None:
        check_digests(run)
    if about.prediction is not None:
        check_frozen(run)
    files = {path.relative_to(run.path).as_posix(): _file(path) for path in _files(run)}
    return PackedRun(about.kafka, about.metadata, about.scenario, about.digests.jars, about.digests.image, files)


def _files(run: RunDirectory) -> list[Path]:
    """Return what is packed of a run; what is hidden is not, such as Spark's checksums."""
    found: list[Path] = []
    for path in sorted(run.path.rglob("*")):
        parts = path.relative_to(run.path).parts
        if LEFT_OUT.intersection(parts) or any(part.startswith((".", *DERIVED)) for part in parts):
            continue
        if path.is_symlink():
            raise RunDirectoryError(f"{path} is a link; a bundle has files only")
        found += [path] if path.is_file() else []
    return found


def _file(path: Path) -> PackedFile:
    with path.open("rb") as file:
        return PackedFile(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _write(bundle: Bundle, runs: Mapping[str, RunDirectory], packed: IO[bytes]) -> None:
    told = as_text(bundle).encode()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(_member(BUNDLE_FILE, len(told)), io.BytesIO(told))
        for name, run in bundle.runs.items():
            for file, about in run.files.items():
                with (runs[name].path / file).open("rb") as content:
                    tar.addfile(_member(f"{name}/{file}", about.bytes), content)


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member


def _require_plain(path: Path, bundle: Bundle) -> None:
    """Refuse names that lead out of the directory that a bundle is opened in, and what a bundle cannot have.

    Raises:
        BundleError: it has no run, one without run.json, a name that is none of a file of a run, or too much.
    """
    if not bundle.runs:
        raise BundleError(f"{path} has no run")
    if bundle.size > WHOLE_MOST:
        raise BundleError(f"{path} unpacks to {size_words(bundle.size)}, and {size_words(WHOLE_MOST)} is the most")
    for name, run in bundle.runs.items():
        if RUN_FILE not in run.files:
            raise BundleError(f"{path}: {name!r} is no run: it has no {RUN_FILE}")
        names = [f"{name}/{file}" for file in run.files]
        folders = {str(parent) for file in names for parent in PurePosixPath(file).parents}
        for file in names:
            if not _is_plain(file) or file in folders or len(PurePosixPath(name).parts) != 1:
                raise BundleError(f"{path} names {file!r}, which no file of a run can be called in a bundle")


def _is_plain(file: str) -> bool:
    """Return whether a name is written in the one way in which it leads to a file below, and tar can write it."""
    parts = PurePosixPath(file).parts
    is_below = "/".join(parts) == file and not {"..", "/"}.intersection(parts)
    try:
        _member(file, 0).tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
    except ValueError:
        return False
    return is_below and file.isprintable() and "\\" not in file and max(map(len, map(str.encode, parts))) <= _PART_MOST


# Opening


def unpack(path: Path, into: Path) -> Bundle:
    """Open a bundle in an empty directory, each run in a directory of its name; return what it says of itself.

    Raises:
        BundleError: it is none, of another format, damaged, larger than a bundle may be, or has what none has.
        OSError: a file cannot be written.
    """
    with _opened(path) as members:
        bundle = _told(path, members)
        for name, run in bundle.runs.items():
            for file, about in run.files.items():
                _take(members, f"{name}/{file}", about, into)
        members.require_end()
    return bundle


@contextmanager
def _opened(path: Path) -> Iterator[_Members]:
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unpacked:
            yield _Members(unpacked)
    except (tarfile.HeaderError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise BundleError(f"{path} is no bundle, or damaged: {error}") from error


class _Members:
    """The members of a tar file that is read forwards, as ``pack`` writes it; every other header is refused."""

    def __init__(self, unpacked: gzip.GzipFile) -> None:
        self._unpacked = unpacked

    def size_of_next(self, name: str) -> int:
        """Read the header of the next member, and return how many bytes it has.

        Raises:
            BundleError: it is not of this name, or no plain file.
        """
        block = self._read(tarfile.BLOCKSIZE)
        if block == _END:
            raise BundleError(f"where {name} should come nothing does")
        member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if member.name != name:
            raise BundleError(f"where {name} should come {member.name!r} does")
        if member.type != tarfile.REGTYPE or member.size < 0:
            raise BundleError(f"{name} is no plain file")
        return member.size

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of the member whose header was read."""
        for left in range(size, 0, -_PIECE):
            yield self._read(min(left, _PIECE))
        self._read(-size % tarfile.BLOCKSIZE)

    def require_end(self) -> None:
        """Make sure that nothing comes any more; the checksum of the whole stands behind it.

        Raises:
            BundleError: something does.
        """
        end = self._unpacked.read(tarfile.RECORDSIZE + tarfile.BLOCKSIZE)  # two empty blocks, filled up to a record
        if any(end) or self._unpacked.read(1):
            raise BundleError(f"there is more in the bundle than its {BUNDLE_FILE} names")

    def _read(self, size: int) -> bytes:
        found = self._unpacked.read(size)
        if len(found) < size:
            raise EOFError("it ends too early")
        return found


def _told(path: Path, members: _Members) -> Bundle:
    try:
        size = members.size_of_next(BUNDLE_FILE)
    except BundleError as error:
        raise BundleError(f"{path} is no bundle: {error}") from error
    if size > TOLD_MOST:
        raise BundleError(f"{path}: {BUNDLE_FILE} has {size_words(size)}, and {size_words(TOLD_MOST)} is the most")
    told = b"".join(members.content(size))
    try:
        bundle = msgspec.json.decode(told, type=Bundle)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BundleError(f"{path}: {BUNDLE_FILE} cannot be read: {error}") from error
    if bundle.format != FORMAT:
        raise BundleError(f"{path} has format {bundle.format}, this tester reads {FORMAT}: use the one that packed it")
    _require_plain(path, bundle)
    return bundle


def _take(members: _Members, name: str, about: PackedFile, into: Path) -> None:
    """Write the next member, which must be the file that is named."""
    size = members.size_of_next(name)
    if size != about.bytes:
        raise BundleError(f"{name} has {size:,} bytes; {BUNDLE_FILE} says {about.bytes:,}")
    path, digest = into / name, hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        for piece in members.content(size):
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != about.sha256:
        raise BundleError(f"{name} is not what was packed: its SHA-256 is another")
