"""An independent recount: the same classes by DuckDB, written apart, on random runs."""

import random
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from conformance.reconcile.job import reconcile_from_files
from conformance.reconcile.session import MANY_RECORDS
from tests.conformance.reconcile.runs import Run

pytestmark = [pytest.mark.spark, pytest.mark.alone]

_RECOUNT = (Path(__file__).parent / "recount.sql").read_text()
_DIVERGED = """
    SELECT count(DISTINCT x."offset") FROM (
        SELECT o."offset", a.broker AS a, b.broker AS b FROM
            (SELECT DISTINCT "offset" FROM logs) o,
            (SELECT DISTINCT broker, high_watermark FROM logs) a,
            (SELECT DISTINCT broker, high_watermark FROM logs) b
        WHERE a.broker < b.broker AND o."offset" < least(a.high_watermark, b.high_watermark)
    ) x
    LEFT JOIN logs la ON la.broker = x.a AND la."offset" = x."offset"
    LEFT JOIN logs lb ON lb.broker = x.b AND lb."offset" = x."offset"
    WHERE (la.broker IS NULL) <> (lb.broker IS NULL)
        OR la.record_id IS DISTINCT FROM lb.record_id
        OR la.leader_epoch IS DISTINCT FROM lb.leader_epoch
        OR la.value_matches IS DISTINCT FROM lb.value_matches
"""


def random_run(seed: int, records: int) -> Run:
    """Return a run in which everything can go wrong at once."""
    chance, run = random.Random(seed), Run()
    outcomes = ("acknowledged", "acknowledged", "refused", "indeterminate", None)
    for number in range(records):
        fate = chance.choice(("present", "present", "lost", "absent", "deleted"))
        run.produce(f"m{number}", chance.choice(outcomes), number + chance.choice((0, 0, 0, 1)), fate=fate)
    for offset in range(records):
        known = 1000 + offset + chance.choice((0, 0, 0, 0, 1, -1, 50_000))
        run.read(chance.choice((known,) * 9 + (None,)), offset, value_matches=chance.random() > 0.1)
    for broker in (1, 2, 3):
        log = [1000 + offset + (chance.random() < 0.2) for offset in range(chance.randint(0, records))]
        run.replicate(broker, log, high_watermark=chance.randint(0, records), predict=False)
    return run


@pytest.mark.parametrize(
    ("seed", "records", "many_records"),
    [(1, 5, False), (2, 30, False), (3, 30, False), (4, 300, False), (4, 300, True)],
)
def test_duckdb_counts_the_same(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    records: int,
    many_records: bool,
) -> None:
    monkeypatch.setattr("conformance.reconcile.session.MANY_RECORDS", 0 if many_records else MANY_RECORDS)
    run = random_run(seed, records)
    found = reconcile_from_files(spark, run.write(tmp_path))
    with duckdb.connect() as database:
        relation = database.sql(_RECOUNT.replace("{run}", str(tmp_path)))
        recount = dict(zip(relation.columns, relation.fetchall()[0], strict=True))
        database.sql(f"CREATE TABLE logs AS FROM read_parquet('{tmp_path}/replica_logs/*.parquet')")
        recount["diverged"] = database.sql(_DIVERGED).fetchall()[0][0]
    assert found.counts.identity_holds
    assert found.counts.classes == recount
