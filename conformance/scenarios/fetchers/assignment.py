"""Which fetcher of a broker serves a partition?

The rule is the same on every release: the topic's hash, as Java hashes text, times 31, plus the partition's
index, in 32 bits; of that the absolute value (0 for the one number that has none), modulo ``num.replica.fetchers``.

Source: ``AbstractFetcherManager.getFetcherId`` and ``Utils.abs``, read on every release line from 0.10.2 to 3.9.
"""

from __future__ import annotations

_BITS = 32


def fetcher_id(topic: str, partition: int, fetchers: int) -> int:
    """Return which of a broker's fetchers to a leader serves a partition.

    Args:
        topic: the topic's name.
        partition: the partition's index.
        fetchers: ``num.replica.fetchers``.
    """
    number = _signed(31 * java_hash(topic) + partition)
    return (0 if number == -(1 << (_BITS - 1)) else abs(number)) % fetchers


def java_hash(text: str) -> int:
    """Return the hash that Java gives a text of characters from the basic plane."""
    number = 0
    for character in text:
        number = _signed(31 * number + ord(character))
    return number


def _signed(number: int) -> int:
    """Return a number as 32 bits hold it."""
    half = 1 << (_BITS - 1)
    return (number + half) % (1 << _BITS) - half
