"""Does a broker take a controller's request that was meant for an earlier start of it? From 2.2 on it does not.

Every start of a broker has a broker epoch, and from 2.2 on the controller's requests name the one that they are meant
for (STALE_BROKER_EPOCH). Before, a request that was sent before a restart, and arrives after it, is obeyed. One that
names no broker epoch is obeyed at every release.

Source: KIP-380, KafkaApis.isBrokerEpochStale. ZooKeeper mode.

Mutant: obeys-what-was-meant-for-an-earlier-start, which an examination of one broker notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

NO_BROKER_EPOCH = -1
RULE = Rule(
    name="request-for-an-earlier-start-is-refused",
    source="KIP-380, KafkaApis.isBrokerEpochStale",
    says="A broker refuses a controller's request that names the broker epoch of an earlier start.",
)


def for_any_start(_named: int, _own: int) -> bool:
    """Take it whatever broker epoch it names."""
    return True


def for_this_start(named: int, own: int) -> bool:
    """Take it unless it names the broker epoch of an earlier start."""
    return named in (NO_BROKER_EPOCH, own)
