WITH attempted AS (
    SELECT record_id, any_value(outcome) AS outcome, any_value(acked) AS acked
    FROM (
        SELECT a.record_id, coalesce(o.outcome, 'indeterminate') AS outcome, o.offset AS acked
        FROM read_parquet('{run}/ledger/attempts-*.parquet') a
        LEFT JOIN read_parquet('{run}/ledger/outcomes-*.parquet') o USING (record_id)
    )
    GROUP BY record_id
),
copies AS (
    SELECT record_id, count(*) AS copies, min("offset") AS first_offset, bool_and(value_matches) AS intact
    FROM read_parquet('{run}/topic/*.parquet') WHERE record_id IS NOT NULL GROUP BY record_id
),
judged AS (
    SELECT a.*, c.copies, c.first_offset, c.intact, coalesce(p.was_committed, false) AS was_committed,
        c.record_id IS NOT NULL AS is_there, c.record_id IS NULL AND coalesce(p.fate = 'deleted', false) AS is_deleted,
        EXISTS (
            SELECT 1 FROM copies e JOIN attempted b USING (record_id)
            WHERE e.record_id < a.record_id AND e.first_offset > c.first_offset
        ) AS is_overtaken
    FROM attempted a
    LEFT JOIN copies c USING (record_id)
    LEFT JOIN read_parquet('{run}/prediction/records.parquet') p USING (record_id)
)
SELECT
    count(*) FILTER (is_deleted) AS deleted,
    count(*) FILTER (NOT is_there AND NOT is_deleted AND (outcome = 'acknowledged' OR was_committed)) AS lost,
    count(*) FILTER (NOT is_there AND NOT is_deleted AND outcome <> 'acknowledged' AND NOT was_committed) AS absent,
    (SELECT count(DISTINCT record_id) FROM read_parquet('{run}/topic/*.parquet')
        WHERE record_id NOT IN (SELECT record_id FROM attempted))
      + (SELECT count(*) FROM read_parquet('{run}/topic/*.parquet') WHERE record_id IS NULL) AS phantom,
    count(*) FILTER (is_there AND outcome = 'refused') AS resurrected,
    count(*) FILTER (copies > 1) AS duplicated,
    count(*) FILTER (is_there AND acked IS NOT NULL AND acked <> first_offset) AS moved,
    count(*) FILTER (is_there AND NOT intact) AS value_changed,
    count(*) FILTER (is_there AND is_overtaken) AS reordered,
    count(*) FILTER (is_there AND outcome <> 'refused' AND copies = 1 AND intact AND NOT is_overtaken
        AND (acked IS NULL OR acked = first_offset)) AS kept
FROM judged
