"""Which columns do the Parquet files of a run directory have?

The files are read with these schemas and no other, so a file of another shape fails instead of being guessed.
"""

from pyspark.sql.types import (
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

_BOOLEAN, _INTEGER, _LONG, _STRING = BooleanType(), IntegerType(), LongType(), StringType()


def _schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


#: ledger/attempts-*.parquet: written before the send.
ATTEMPTS = _schema(
    record_id=_LONG,
    label=_STRING,
    topic=_STRING,
    partition=_INTEGER,
    acks=_INTEGER,
    step=_INTEGER,
    value_length=_INTEGER,
    attempted_ns=_LONG,
)

#: ledger/outcomes-*.parquet: what the producer saw; no row means nobody knows.
OUTCOMES = _schema(record_id=_LONG, outcome=_STRING, error=_STRING, offset=_LONG, completed_ns=_LONG)

#: prediction/records.parquet: the frozen prediction of every record; offset is null unless it is present.
PREDICTED_RECORDS = _schema(
    record_id=_LONG,
    label=_STRING,
    fate=_STRING,
    was_committed=_BOOLEAN,
    outcome=_STRING,
    error=_STRING,
    offset=_LONG,
    acks=_INTEGER,
)

#: prediction/replica_logs.parquet: the predicted log of every replica.
PREDICTED_REPLICA_LOGS = _schema(broker=_INTEGER, offset=_LONG, label=_STRING, record_id=_LONG, leadership=_INTEGER)

#: topic/*.parquet: what Spark read through the Kafka source; record_id is null for a key that is no id.
TOPIC = _schema(partition=_INTEGER, offset=_LONG, record_id=_LONG, value_matches=_BOOLEAN)

#: replica_logs/*.parquet: the decoded segments of every replica; leader_epoch -1 means the format has none.
REPLICA_LOGS = _schema(
    broker=_INTEGER,
    offset=_LONG,
    record_id=_LONG,
    leader_epoch=_INTEGER,
    value_matches=_BOOLEAN,
    high_watermark=_LONG,
)
