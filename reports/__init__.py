"""Reports: what a person and a machine read after a run.

This package reads run directories and nothing else: no broker, no Spark, no judge. It turns one or
more of them into a self-contained ``report.html``, a ``junit.xml`` and a ``report.json``.
"""

from __future__ import annotations

from reports.machine_reports import write_report

__all__ = ["write_report"]
