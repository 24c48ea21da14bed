"""``bundle``: runs in one file, for somebody else to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.commands.parser import add_json, check_file, own_version
from conformance.commands.reporting import add_runs
from conformance.layout import size_words
from conformance.record.bundle import SUFFIXES, is_bundle, pack
from conformance.record.directory import as_plain
from conformance.record.run import runs_given
from fault_injection.releases import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from conformance.commands.parser import Parser
    from conformance.console import Console

DESCRIPTION = """Packs finished runs into one file, with the SHA-256 of every file in it, the tester's version and the
digest of the jars that ran. Whoever gets it verifies and judges it with judge, on any machine, without
brokers. Brokers' logs and configurations and tracebacks stay out: they name hosts and paths, and no verdict
rests on them. The reason of a run that broke off may quote lines of a log: look before you send it. Digests
show damage, not who made it: sign the file with a tool of yours, as gpg --detach-sign does."""
EPILOG = """examples:
  kafka-conformance bundle runs/RUN                       bundle.tgz, of one run
  kafka-conformance bundle runs --out nightly.tgz         of every run in a directory
  kafka-conformance judge nightly.tgz                     what they come to, elsewhere
"""


def add_bundle(parser: Parser) -> None:
    """Say what the command does, and add its options."""
    parser.describe(DESCRIPTION, EPILOG)
    add_runs(parser, out="bundle.tgz", what="the bundle")
    add_json(parser)
    parser.set_defaults(command=lambda console, a: bundle_runs(console, a.runs, a.out))


def bundle_runs(console: Console, runs: Sequence[Path], out: Path) -> int:
    """Pack runs into a file.

    Raises:
        RunDirectoryError: a directory is no run, or its files are not those that it ended with.
        UsageError: the file is not to be called so, or its directory does not exist.
    """
    if not is_bundle(out):
        raise UsageError(f"--out {out}: a bundle's name ends in {' or '.join(SUFFIXES)}, by which judge knows it")
    given = runs_given(runs)
    check_file(out)
    bundle = pack(given, out, own_version())
    if console.as_json:
        console.answer_json({"bundle": str(out), **as_plain(bundle)})
        return 0
    console.answer(f"bundle: {out}: {bundle.in_words()}, {size_words(out.stat().st_size)}")
    return 0
