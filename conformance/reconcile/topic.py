"""What does the topic hold, read from the brokers up to a high watermark that was probed at rest?

Spark's Kafka source reads offsets from the earliest to ``end_offset``, exclusive. It assigns the partition to
itself, looks offsets up with an admin client and commits nothing. The deprecated lookup, with a consumer, makes
brokers create ``__consumer_offsets``; it is documented as needed before 0.11, but 0.10.2.2 answers both.

Sources: Structured Streaming + Kafka Integration Guide, batch queries.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.reconcile.jvm import failing_as
from conformance.reconcile.records import is_true

_PARTITION = 0
_EARLIEST = -2
_SETTINGS = {
    "spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "false",
    "spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text",
}
"""How the source is read: by its newer reader, without an object a row. (Spark's default names ``kafka`` too.)"""
_POLL_TIMEOUT_MS = 20_000
_REQUEST_TIMEOUT_MS = 15_000
_AT_THE_END_MS = 10
"""How long a broker keeps a FETCH at the log end offset. All that is read is there: a consumer that fetches beyond it,
ahead of what is asked for, only makes the next request on its connection wait behind, half a second by default."""


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
        for name, setting in _SETTINGS.items():
            spark.conf.set(name, setting)
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
        "kafka.fetch.max.wait.ms": str(_AT_THE_END_MS),
    }


# Which record is a key, and is the value the one that belongs to it? In Spark's own expressions.
#
# The key is the record id, eight bytes, big-endian. The value is the id in sixteen hexadecimal digits followed
# by a repeated SHA-256 of key and value length, cut to that length: a changed, cut or padded value differs from
# it. Bytes are compared, not texts, whose characters would have to be looked for. The twin of
# ``conformance.clients.records``; a test holds the two together.
#
# SQL reads a number from bytes by way of their hexadecimal and decimal digits, and has SHA-256 as lower case digits
# alone. Classes that Spark has with it do both with bytes: a record takes half the time.


_KEY_LENGTH = 8
_DIGEST_CHARACTERS_BITS = 6
_VALUE_LENGTH_MIN = 32


def record_id_of(key: Column) -> Column:
    """Return the record id in a key; null when the key is no id of ours."""
    number = _called("org.apache.spark.unsafe.types.ByteArray", "getPrefix", "bigint", key)
    return F.when((F.length(key) == _KEY_LENGTH) & (number >= 0), number)


def value_matches(key: Column, value: Column) -> Column:
    """Return whether a value is exactly the one its key prescribes for its length; never null."""
    length = F.length(value)
    hashed = F.concat(key, length.cast("string").cast("binary"))
    digest = F.hex(_called("org.apache.commons.codec.digest.DigestUtils", "sha256", "binary", hashed))
    longer = F.concat(F.hex(key), F.repeat(digest, F.shiftright(length, _DIGEST_CHARACTERS_BITS) + 1))
    matches = F.startswith(longer.cast("binary"), value)
    return is_true(matches & (F.length(key) == _KEY_LENGTH) & (length >= _VALUE_LENGTH_MIN))


def _called(owner: str, function: str, result: str, argument: Column) -> Column:
    """Return what a static function of a class on Spark's class path gives for a column; null for null."""
    jvm: Any = SparkContext._active_spark_context._jvm  # noqa: SLF001 - where pyspark has it
    spark, sequence = jvm.org.apache.spark.sql, jvm.PythonUtils.toSeq
    expressions = spark.classic.ExpressionUtils
    arguments = sequence([expressions.expression(argument._jc)])  # noqa: SLF001
    call = spark.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName(owner),
        spark.types.DataType.fromDDL(result),
        function,
        arguments,
        sequence([]),
        True,  # noqa: FBT003 - null for null
        False,  # noqa: FBT003 - and for nothing else
        True,  # noqa: FBT003 - always the same for the same
        jvm.scala.Option.empty(),
    )
    return Column(expressions.column(call))
