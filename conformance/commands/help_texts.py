"""What does ``--help`` say above and below the options?"""

from __future__ import annotations

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
