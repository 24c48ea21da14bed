"""Does another engine count the same? DuckDB joins every record of the same files, and must find every class alike.

Nothing of Spark's way is used again: no blocks, no masks; each record's row is joined, and its predicted copies are
listed only where the prediction has a row about it.
"""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from conformance.reconcile.errors import ReconcileError
from conformance.reconcile.run_files import ATTEMPTS, OUTCOMES, TOPIC
from conformance.record.attached import IDS_MAX
from conformance.record.directory import RunDirectory
from conformance.record.soak import Soak, ledger_directories
from conformance.record.soak_counted import CLASSES, ClassCounted, SoakCounted
from conformance.record.soak_prediction import BATCHES_FILE
from conformance.spark_extra import CROSS_CHECK_EXTRA, CROSS_CHECK_MISSING

MEMORY = "4GB"
_TABLES = """
create table attempts as select record_id, count(*) as attempts from read_parquet($attempts) group by record_id;
create table outcomes as
select record_id, bool_or(outcome = 'acknowledged') as acknowledged, bool_or(outcome = 'refused') as refused,
    min("offset") filter (outcome = 'acknowledged' and "offset" >= 0) as told
from read_parquet($outcomes) group by record_id;
create table found as
select record_id, count(*) as copies, count(*) filter (partition <> own) as elsewhere,
    count(*) filter (not value_matches) as changed, min("offset") filter (partition = own) as first_there
from (select *, (record_id - $base) % $ids % $partitions as own from read_parquet($topic)
    where record_id between $base and $base + $producers * $ids - 1)
group by record_id;
create table foretold as
select record_id, list(place_at) filter (fate = 'present' and place_at is not null) as present,
    list(place_at) filter (fate = 'lost' and place_at is not null) as gone,
    list(place_at) filter (fate = 'either' and place_at is not null) as either,
    bool_or(fate = 'present' and place_at is null) as somewhere,
    bool_or(fate = 'lost' and place_at is null and answer = 'acknowledged') as gone_somewhere,
    bool_or(fate = 'either' and place_at is null) as either_somewhere
from (select first_id + place * step as record_id, base_offset + place as place_at, fate, answer
    from (select *, unnest(range("count")) as place from read_parquet($batches)))
group by record_id;
create table offsets_there as
select record_id, list(distinct "offset") as there
from read_parquet($topic) join foretold using (record_id)
where (record_id - $base) % $ids % $partitions = partition group by record_id;
create table lying as
select record_id, bool_or("offset" = told) as as_told
from (select record_id, partition, "offset" from read_parquet($topic)) join outcomes using (record_id)
where (record_id - $base) % $ids % $partitions = partition group by record_id;
"""
_RECORDS = """
create table records as
with ids as (select record_id from attempts union select record_id from found),
joined as (
    select record_id, coalesce(attempts, 0) as attempts, coalesce(acknowledged, false) as acknowledged,
        coalesce(refused, false) and not coalesce(acknowledged, false) as refused, told, first_there,
        coalesce(copies, 0) as copies, coalesce(elsewhere, 0) as elsewhere, coalesce(changed, 0) as changed,
        coalesce(as_told, false) as as_told, foretold.record_id is not null as has_rows,
        coalesce(present, []) as present, coalesce(gone, []) as gone, coalesce(either, []) as either,
        coalesce(somewhere, false) as somewhere, coalesce(gone_somewhere, false) as gone_somewhere,
        coalesce(either_somewhere, false)::int as either_somewhere, coalesce(there, []) as there
    from ids left join attempts using (record_id) left join outcomes using (record_id)
        left join found using (record_id) left join lying using (record_id)
        left join foretold using (record_id) left join offsets_there using (record_id)
),
expecting as (
    select *, gone_somewhere or coalesce(list_contains(gone, told), false) as is_gone,
        either_somewhere > 0 or coalesce(list_contains(either, told), false) as is_open
    from joined
),
expected as (
    select *, list_distinct(list_concat(present,
        case when acknowledged and told is not null and not is_gone and not is_open then [told] else [] end)) as must
    from expecting
),
placed as (
    select *, case when len(must) = 0 and ((acknowledged and told is null and not is_gone and not is_open) or somewhere)
        then 1 else 0 end as unplaced,
        list_filter(there, lambda one: not list_contains(must, one)) as extras,
        attempts > 0 and elsewhere = 0 and changed = 0 as is_sound, len(either) > 0 or either_somewhere > 0 as may_be
    from expected
),
judged as (
    select *, case
        when not has_rows then
            case when is_sound and copies = acknowledged::int and (told is null or coalesce(first_there = told, false))
                then 'predicted' else 'against' end
        when not is_sound or not list_has_all(there, must) then 'against'
        when not may_be then case when len(extras) = unplaced then 'predicted' else 'against' end
        when len(list_filter(extras, lambda one: not list_contains(either, one))) - unplaced
            between 0 and either_somewhere then 'either'
        else 'against' end as judged
    from placed
),
moving as (
    select *, attempts > 0 and copies > 0 and (elsewhere > 0 or (told is not null and not as_told)) as moved,
        (record_id - $base) % $ids % $partitions as own, (record_id - $base) // $ids as producer
    from judged
),
ordering as (select *, case when attempts > 0 and not moved then first_there end as place from moving),
ordered as (
    select *, coalesce(place < max(place) over earlier, false) as reordered
    from ordering window earlier as (
        partition by producer, own order by record_id rows between unbounded preceding and 1 preceding)
)
select record_id, own, judged, attempts > 0 and acknowledged and copies = 0 as lost,
    attempts = 0 and copies > 0 as phantom,
    attempts > 0 and changed > 0 as value_changed, attempts > 0 and copies > 1 as duplicated,
    attempts > 0 and copies > 0 and (refused or (len(must) = 0 and unplaced = 0 and not may_be)) as resurrected,
    moved, reordered, attempts > 0 and not acknowledged and copies = 0 as absent,
    attempts > 0 and not acknowledged and not refused and copies > 0 as indeterminate_present,
    attempts > 0 and acknowledged and copies > 0
        and not (value_changed or duplicated or resurrected or moved or reordered) as kept
from ordered
union all
select null, partition, 'against', false, true, false, false, false, false, false, false, false, false
from read_parquet($topic) where not coalesce(record_id between $base and $base + $producers * $ids - 1, false);
"""
_PRIMARY = "case " + " ".join(f"when {name} then '{name}'" for name in CLASSES) + " end"
_COUNTS = " union all ".join(
    (
        *(
            f"select own, 'class', '{name}', judged, count(*) from records where {name} group by all"  # noqa: S608
            for name in CLASSES
        ),
        f"select own, 'primary class', {_PRIMARY}, judged, count(*) from records group by all",  # noqa: S608
    )
)


def differences(run: Path, soak: Soak, counted: SoakCounted, scratch: Path) -> tuple[str, ...]:
    """Return in words where DuckDB's counts are others than Spark's; none if all are the same.

    Args:
        run: the directory, with the topic as it was read in ``topic/``.
        soak: of it.
        counted: by Spark.
        scratch: a directory for what does not fit into memory.

    Raises:
        ReconcileError: DuckDB is not installed, or the topic was not written down.
    """
    if not TOPIC.paths(run):
        raise ReconcileError(f"{run} has no topic/*.parquet: what was read was not written down.")
    again = recounted(run, soak, scratch)
    found = []
    for one in counted.partitions:
        for way, counts in (("class", one.classes), ("primary class", one.primary)):
            for name in CLASSES:
                ours, theirs = counts[name], again.get((one.partition, way, name), ClassCounted())
                if ours != theirs:
                    found.append(f"partition {one.partition}, {way} {name}: Spark counts {ours}, DuckDB {theirs}")
    return tuple(found)


def recounted(run: Path, soak: Soak, scratch: Path) -> Mapping[tuple[int, str, str], ClassCounted]:
    """Return what DuckDB counts: by partition, ``class`` or ``primary class``, and name.

    Raises:
        ReconcileError: DuckDB is not installed, or fails.
    """
    try:
        duckdb: Any = import_module(CROSS_CHECK_EXTRA)
    except ModuleNotFoundError as error:
        raise ReconcileError(CROSS_CHECK_MISSING) from error
    with duckdb.connect(str(scratch / "cross-check.duckdb")) as connection:
        try:
            return _counts(connection, _files(run, soak))
        except duckdb.Error as error:
            raise ReconcileError(f"DuckDB failed while counting {run.name} again: {error}") from error


def _files(run: Path, soak: Soak) -> Mapping[str, object]:
    ledgers = ledger_directories(RunDirectory(run), soak)
    return {
        "attempts": [str(path) for ledger in ledgers for path in ATTEMPTS.paths(ledger)],
        "outcomes": [str(path) for ledger in ledgers for path in OUTCOMES.paths(ledger)],
        "topic": [str(path) for path in TOPIC.paths(run)],
        "batches": [str(run / BATCHES_FILE)],
        "base": soak.base,
        "ids": IDS_MAX,
        "producers": soak.producers,
        "partitions": soak.partitions,
    }


def _counts(connection: Any, values: Mapping[str, object]) -> Mapping[tuple[int, str, str], ClassCounted]:  # noqa: ANN401
    connection.execute(f"set memory_limit = '{MEMORY}'; set preserve_insertion_order = false")
    for statement in (*_TABLES.split(";\n"), *_RECORDS.split(";\n")):
        if statement.strip():
            connection.execute(statement, {name: value for name, value in values.items() if f"${name}" in statement})
    found: dict[tuple[int, str, str], ClassCounted] = {}
    for own, way, name, judged, count in connection.execute(_COUNTS).fetchall():
        key = (own, way, name)
        found[key] = found.get(key, ClassCounted()) + ClassCounted(**{judged: count})
    return found
