"""What does the topic hold, read from the brokers up to a high watermark that was probed at rest?

Spark's Kafka source reads offsets from the earliest to ``end_offset``, exclusive. It assigns the partition to
itself, looks offsets up with an admin client and commits nothing. The deprecated lookup, with a consumer, makes
brokers create ``__consumer_offsets``; it is documented as needed before 0.11, but 0.10.2.2 answers both.

Sources: Structured Streaming + Kafka Integration Guide, batch queries.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.reconcile.jvm import failing_as
from conformance.reconcile.records import is_true

_PARTITION = 0
_EARLIEST = -2
_DEPRECATED_OFFSET_FETCHING = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"
_POLL_TIMEOUT_MS = 20_000
_REQUEST_TIMEOUT_MS = 15_000


def read_topic(spark: SparkSession, bootstrap: str, topic: str, end_offset: int) -> DataFrame:
    """Return partition 0 of the topic as rows of ``run_files.TOPIC``; it is read when the rows are used.

    Args:
        spark: the session.
        bootstrap: the brokers to ask first, ``host:port,host:port``.
        topic: its name.
        end_offset: the offset to stop before: the leader's high watermark, probed at rest.

    Raises:
        ReconcileError: the source is not there, or refuses the options.
    """
    timeouts = {
        "kafka.request.timeout.ms": str(_REQUEST_TIMEOUT_MS),
        "kafka.default.api.timeout.ms": str(_POLL_TIMEOUT_MS),
        "kafkaConsumer.pollTimeoutMs": str(_POLL_TIMEOUT_MS),
    }
    return read_ranges(spark, bootstrap, topic, {_PARTITION: (_EARLIEST, end_offset)}, timeouts)


def read_ranges(
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    ranges: Mapping[int, tuple[int, int]],
    options: Mapping[str, str],
) -> DataFrame:
    """Return partitions of a topic as rows of ``run_files.TOPIC``; they are read when the rows are used.

    Args:
        spark: the session.
        bootstrap: the brokers to ask first.
        topic: its name.
        ranges: of each partition the first offset, and the one to stop before.
        options: of Spark's Kafka source, beside what every reading has.

    Raises:
        ReconcileError: the source is not there, or refuses the options.
    """
    return decoded(records_between(spark, bootstrap, topic, ranges, options))


def records_between(
    spark: SparkSession,
    bootstrap: str,
    topic: str,
    ranges: Mapping[int, tuple[int, int]],
    options: Mapping[str, str],
) -> DataFrame:
    """Return the same records as Spark's Kafka source has them.

    Raises:
        ReconcileError: as of ``read_ranges``.
    """
    with failing_as(f"asking {bootstrap} for topic {topic}"):
        spark.conf.set(_DEPRECATED_OFFSET_FETCHING, "false")
        source = {**options, **_options(bootstrap, topic, ranges)}
        return spark.read.format("kafka").options(**source).load()


def decoded(records: DataFrame) -> DataFrame:
    """Return what the key and value of Kafka records say, as rows of ``run_files.TOPIC``."""
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


def _options(bootstrap: str, topic: str, ranges: Mapping[int, tuple[int, int]]) -> dict[str, str]:
    starts = {str(partition): start for partition, (start, _) in ranges.items()}
    ends = {str(partition): end for partition, (_, end) in ranges.items()}
    return {
        "kafka.bootstrap.servers": bootstrap,
        "assign": json.dumps({topic: list(ranges)}),
        "startingOffsets": json.dumps({topic: starts}),
        "endingOffsets": json.dumps({topic: ends}),
        "failOnDataLoss": "true",
        "kafka.isolation.level": "read_uncommitted",
    }


# Which record is a key, and is the value the one that belongs to it? In Spark's own expressions.
#
# The key is the record id, eight bytes, big-endian. The value is the id in sixteen hexadecimal digits followed
# by a repeated SHA-256 of key and value length, cut to that length: a changed, cut or padded value differs from
# it. Bytes are compared, not texts, whose characters would have to be looked for, and digits are made upper case by
# reading and writing them, which takes a quarter of the time that changing their case does. The twin of
# ``conformance.clients.records``; a test holds the two together.


_KEY_LENGTH = 8
_DIGEST_CHARACTERS = 64
_VALUE_LENGTH_MIN = 32


def record_id_of(key: Column) -> Column:
    """Return the record id in a key; null when the key is no id of ours."""
    number = F.conv(F.hex(key), 16, 10).try_cast("bigint")
    return F.when(F.length(key) == _KEY_LENGTH, number)


def value_matches(key: Column, value: Column) -> Column:
    """Return whether a value is exactly the one its key prescribes for its length; never null."""
    length = F.length(value)
    seed = F.hex(F.unhex(F.sha2(F.concat(key, length.cast("string").cast("binary")), 256)))
    filler = F.repeat(seed, (length / _DIGEST_CHARACTERS).cast("int") + 1)
    expected = F.substring(F.concat(F.hex(key), filler).cast("binary"), F.lit(1), length)
    matches = expected == value
    return is_true(matches & (F.length(key) == _KEY_LENGTH) & (length >= _VALUE_LENGTH_MIN))
