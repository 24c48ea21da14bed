"""Which options does ``trace`` have? Its part of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.commands.ignored_options import refuse
from conformance.commands.tracing import TraceOptions, tell_trace

if TYPE_CHECKING:
    from conformance.console import Console

DESCRIPTION = """Tells the wire trace of a run as the model reads it, step by step, and whether a rule of the release
allows every event of it. Between the brokers, and between them and the controller, every frame is two
events: sent, and received. A follower's FETCH shows its log end offset, the leader's answer its high watermark,
LeaderAndIsr or the metadata log who leads; what was done to brokers, what producers were told and what
probes measured comes in between. What the frames do not show is inferred, and where two things may
be true both are kept, until a frame decides."""
EPILOG = """how to read it:
  seconds since the trace began, #number of the frame in wire.ndjson, what it shows. Fetches that bring no news
  are counted, not told (--all tells them). A frame that reached its receiver late was held.
  At the end: how often each wire invariant held. One that was never exercised proves nothing.

examples:
  kafka-conformance trace runs/RUN                        the story of the wire, and the verdict
  kafka-conformance trace runs/RUN --rules-of 0.10.2      where an old release would have done otherwise
  kafka-conformance trace runs/RUN --json                 only what came out, as in trace_check.json
  kafka-conformance trace runs/RUN --events > e.ndjson    the events themselves, one a line

exit codes: 0 allowed, 1 an event that no rule allows, 2 usage, 4 not checked (no trace, cut short, undecoded frames)
"""


def add_trace(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its options."""
    parser = commands.add_parser(
        "trace",
        help="tell the wire trace of a run as the model reads it, and check it",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="a run directory")
    parser.add_argument("--rules-of", metavar="VERSION", help="check with another release's rules")
    parser.add_argument("--metadata", choices=("zookeeper", "kraft"), help="metadata mode of those rules")
    parser.add_argument("--all", action="store_true", help="tell every event, also those without news")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--events", action="store_true", help="only the events, one JSON value a line; checks nothing")
    form.add_argument("--json", action="store_true", help="answer as JSON on standard output")
    parser.set_defaults(command=_trace)


def _trace(console: Console, parsed: argparse.Namespace) -> int:
    if parsed.events:
        refuse(parsed, ["--rules-of", "--metadata"], "is about the check, and --events checks nothing.")
    if parsed.events or parsed.json:
        refuse(parsed, ["--all"], "is about the story, which --events and --json do not tell.")
    options = TraceOptions(parsed.run, parsed.rules_of, parsed.metadata, parsed.all, parsed.events)
    return tell_trace(console, options)
