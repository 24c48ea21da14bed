"""How do the words of outcomes, fates and errors travel through the join?

As small numbers: a group of fixed-width columns is aggregated in a hash table, one with texts is sorted.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column
from pyspark.sql import functions as F

from conformance.reconcile.record_facts import ACKNOWLEDGED, INDETERMINATE, REFUSED
from conformance.reconcile.run_files import OUTCOMES as OUTCOME_FILES
from conformance.reconcile.run_files import PREDICTED_RECORDS

OUTCOMES = (ACKNOWLEDGED, REFUSED, INDETERMINATE)
FATES = ("present", "lost", "absent", "undetermined", "deleted")


def code_of(word: Column, words: Sequence[str]) -> Column:
    """Return the position of a word among the words, counted from 1; null for any other."""
    codes = (F.when(word == known, F.lit(code)) for code, known in enumerate(words, 1))
    return F.coalesce(F.lit(None).cast("int"), *codes)


def word_of(code: Column, words: Sequence[str]) -> Column:
    """Return the word that a code stands for."""
    return F.coalesce(F.lit(None).cast("string"), *(F.when(code == at, word) for at, word in enumerate(words, 1)))


def errors_of(run_directory: Path) -> tuple[str, ...]:
    """Return the different errors that a run's producers saw or its prediction names: a handful."""
    found: set[str] = set()
    for path in (*OUTCOME_FILES.paths(run_directory), *PREDICTED_RECORDS.paths(run_directory)):
        column = pq.read_table(path, columns=["error"]).column("error")
        found.update(error for error in column.unique().to_pylist() if error is not None)
    return tuple(sorted(found))
