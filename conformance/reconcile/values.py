"""Which record is a key, and is the value the one that belongs to it? In Spark's own expressions.

The key is the record id, eight bytes, big-endian. The value is the id in sixteen hexadecimal digits followed
by a repeated SHA-256 of key and value length, cut to that length: a changed, cut or padded value differs from
it. The twin of ``conformance.clients.records``; a test holds the two together.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from conformance.reconcile.anomalies.facts import is_true

_KEY_LENGTH = 8
_DIGEST_CHARACTERS = 64
_VALUE_LENGTH_MIN = 32


def record_id_of(key: Column) -> Column:
    """Give the record id in a key; null when the key is no id of ours."""
    number = F.conv(F.hex(key), 16, 10).try_cast("bigint")
    return F.when(F.length(key) == _KEY_LENGTH, number)


def value_matches(key: Column, value: Column) -> Column:
    """Say whether a value is exactly the one its key prescribes for its length; never null."""
    length = F.length(value)
    seed = F.upper(F.sha2(F.concat(key, F.encode(length.cast("string"), "UTF-8")), 256))
    filler = F.repeat(seed, (length / _DIGEST_CHARACTERS).cast("int") + 1)
    expected = F.substring(F.concat(F.hex(key), filler), F.lit(1), length)
    matches = F.encode(expected, "UTF-8") == value
    return is_true(matches & (F.length(key) == _KEY_LENGTH) & (length >= _VALUE_LENGTH_MIN))
