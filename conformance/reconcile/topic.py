"""What does the topic hold, read from the brokers up to a high watermark that was probed at rest?

Spark's Kafka source reads offsets from the earliest to ``end_offset``, exclusive. It assigns the partition to
itself, looks offsets up with an admin client and commits nothing. The deprecated lookup, with a consumer, makes
brokers create ``__consumer_offsets``; it is documented as needed before 0.11, but 0.10.2.2 answers both.

Sources: Structured Streaming + Kafka Integration Guide, batch queries.
"""

import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.reconcile.failures import failing_as
from conformance.reconcile.values import record_id_of, value_matches

_PARTITION = 0
_EARLIEST = -2
_DEPRECATED_OFFSET_FETCHING = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
_POLL_TIMEOUT_MS = 20_000
_REQUEST_TIMEOUT_MS = 15_000


def read_topic(spark: SparkSession, bootstrap: str, topic: str, end_offset: int) -> DataFrame:
    """Give partition 0 of the topic as rows of ``schemas.TOPIC``; it is read when the rows are used.

    Args:
        spark: the session.
        bootstrap: the brokers to ask first, ``host:port,host:port``.
        topic: its name.
        end_offset: the offset to stop before: the leader's high watermark, probed at rest.

    Raises:
        ReconcileError: the source is not there, or refuses the options.
    """
    with failing_as(f"asking {bootstrap} for topic {topic}"):
        spark.conf.set(_DEPRECATED_OFFSET_FETCHING, "false")
        records = spark.read.format("kafka").options(**_options(bootstrap, topic, end_offset)).load()
        return decoded(records)


def decoded(records: DataFrame) -> DataFrame:
    """Give what the key and value of Kafka records say, as rows of ``schemas.TOPIC``."""
    key = F.col("key")
    return records.select(
        F.col("partition"),
        F.col("offset"),
        record_id_of(key).alias("record_id"),
        value_matches(key, F.col("value")).alias("value_matches"),
    )


def write_topic(records: DataFrame, run_directory: Path) -> None:
    """Read the topic and write what was read into the run directory, in place of an earlier reading.

    Raises:
        ReconcileError: the brokers did not give every offset below the end offset, or a failure of ours.
    """
    with failing_as("reading the topic"):
        records.write.mode("overwrite").parquet(str(run_directory / "topic"))


def _options(bootstrap: str, topic: str, end_offset: int) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": bootstrap,
        "assign": json.dumps({topic: [_PARTITION]}),
        "startingOffsets": json.dumps({topic: {str(_PARTITION): _EARLIEST}}),
        "endingOffsets": json.dumps({topic: {str(_PARTITION): end_offset}}),
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_uncommitted",
        "kafka.request.timeout.ms": str(_REQUEST_TIMEOUT_MS),
        "kafka.default.api.timeout.ms": str(_POLL_TIMEOUT_MS),
        "kafkaConsumer.pollTimeoutMs": str(_POLL_TIMEOUT_MS),
    }
