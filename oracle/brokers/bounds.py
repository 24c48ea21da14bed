"""How far does a search go? The constants of the brokers' model, as the published specifications have theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

from oracle.schedule import TopicSettings
from oracle.vocabulary import Acks, HighWatermarkCheckpoint


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """What a partition under search is made of, and how much may happen to it.

    Attributes:
        replicas: number of replicas; broker 1 leads first.
        records: how many records are sent at most, one by one.
        epochs: highest leader epoch that is searched on from; each election and, in most
            releases, each removal takes one.
        acks: what every producer waits for.
        settings: the topic's settings.
        checkpointing: when high watermarks reach the disk.
        kills: whether brokers are killed.
        stops: whether brokers stop gracefully.
        power_failure: whether one broker, once, dies and loses the tail of its log.
        late_joins: whether the controller takes its time to add a replica to the ISR.
    """

    replicas: int = 2
    records: int = 2
    epochs: int = 3
    acks: Acks = Acks.ALL
    settings: TopicSettings = field(default_factory=TopicSettings)
    checkpointing: HighWatermarkCheckpoint = HighWatermarkCheckpoint.PROMPT
    kills: bool = True
    stops: bool = False
    power_failure: bool = False
    late_joins: bool = False
