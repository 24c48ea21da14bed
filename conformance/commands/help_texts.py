"""What does ``--help`` say above and below the options?"""

from __future__ import annotations

import argparse
from typing import TypedDict

EPILOG = """examples:
  kafka-conformance list
  kafka-conformance predict TR-01 --kafka 0.10.2.2        what must happen; needs no cluster
  kafka-conformance run TR-01 --kafka 0.10.2.2            real brokers, a held FETCH, a verdict
  kafka-conformance run --kafka 4.4.0                     the quick profile, eleven scenarios
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance judge runs/RUN --rules-of 4.4.0       the same run under another release's rules
  kafka-conformance trace runs/RUN                        its wire, frame by frame, as the model reads it

exit codes: 0 conforms, 1 deviates, 2 usage, 3 inconclusive, 4 harness error, 130 Ctrl-C, 143 SIGTERM
"""
RUN = """Runs scenarios, or a schedule of your own, on real brokers that it starts and ends itself; writes one
directory a run, and report.html, junit.xml and report.json beside them. Each schedule is predicted first."""
RUN_EPILOG = """examples:
  kafka-conformance run TR-01 --kafka 0.10.2.2            one scenario on an old release
  kafka-conformance run --schedule my.yaml --kafka 3.9    your own schedule (see schedule-help)
  kafka-conformance run 'EL-*' --kafka 3.9/zookeeper --backend process
  kafka-conformance run TR-01 --repeat 10                 is it the same every time?

exit codes: 0 conforms or does not apply, 1 deviates, 2 usage, 3 inconclusive, 4 harness error,
130 Ctrl-C, 143 SIGTERM; of several runs 1 before 4 before 3 before 0
"""
PREDICT = """Says what must happen on a release, by the model alone: the numbers of each replica at every checkpoint,
what becomes of every record, and each log as label/leadership. Leaderships are counted from 0, one for each leader
change; Kafka's leader epoch may be higher, as some releases raise it without one. Refuses a schedule that the release
cannot follow, with file, line and step."""
JUDGE = """Judges a finished run again from its files; no broker is started. A verdict that differs, as that of another
tester may, takes the first one's place; the first is named and kept as verdict.before.json. Files that cannot be
judged any more leave verdict.json as it was, and the exit code is 4. With --rules-of or --repredict the same run is
held against a new prediction, by another release's rules or by its own; that verdict is written beside the first."""
PREDICT_EPILOG = """examples:
  kafka-conformance predict TR-01 --kafka 0.10.2.2             numbers, fates, and what becomes of the promise
  kafka-conformance predict TR-01 --kafka 0.10.2.2 --explain   which step and which rule decided each
  kafka-conformance predict --schedule my.yaml --kafka 3.9     your own schedule (see schedule-help)
"""
JUDGE_EPILOG = """examples:
  kafka-conformance judge runs/RUN                        the same verdict, or both
  kafka-conformance judge runs/RUN --rules-of 4.4.0       what would differ under another release's rules

exit codes: those of the run that it judges, see run --help
"""
LIST = """Lists the scenarios area by area, each with its requirement; with --kafka also what is not run on that
release, and why."""
LIST_EPILOG = """examples:
  kafka-conformance list                                  all of them
  kafka-conformance list TR --kafka 0.10.2                an area, and what of it that release does not run
  kafka-conformance list --kafka 4.4.0 --not-run          only what it does not run, by reason
"""
EXPLAIN = """Says what a scenario requires, why, what it does step by step, and what a release must answer. Of several:
what they have in common, and a table."""
EXPLAIN_EPILOG = """examples:
  kafka-conformance explain TR-01 --kafka 0.10.2.2        one, in prose, with what that release must show
  kafka-conformance explain EL-03 --kafka 4.4.0           several, as a table
"""
REPORT = "Writes one HTML page over finished runs, from the verdicts and files in their directories."
REPORT_EPILOG = """examples:
  kafka-conformance report runs                           every run in a directory
  kafka-conformance report runs/A runs/B --out both.html  two of them
"""


class Help(TypedDict):
    """What ``add_parser`` takes of a command's help, lines as they stand."""

    description: str
    epilog: str
    formatter_class: type[argparse.HelpFormatter]


def help_of(description: str, epilog: str) -> Help:
    """Return a command's help: what it does above its options, examples below."""
    return {"description": description, "epilog": epilog, "formatter_class": argparse.RawDescriptionHelpFormatter}
