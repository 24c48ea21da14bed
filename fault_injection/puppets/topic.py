"""Which topics do puppets speak about, and who is said to lead them?"""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from fault_injection.wire.controller_views import PartitionLeadership


@dataclass(frozen=True, slots=True)
class PuppetTopic:
    """A topic of one partition, number 0, that only puppets decide about.

    Attributes:
        name: its name; used once per run.
        replicas: the broker ids it is assigned to, preferred leader first.
        id: its id, which releases from 2.8 on know it by.
    """

    name: str
    replicas: tuple[int, ...]
    id: UUID = field(default_factory=uuid4)

    def led_by(
        self, leader: int, leader_epoch: int, isr: tuple[int, ...] | None = None, partition_epoch: int = 0
    ) -> PartitionLeadership:
        """Give a decision about the partition; without ``isr`` all replicas are in sync.

        The controller epoch in it is that of the request that carries it.
        """
        return PartitionLeadership(
            topic=self.name,
            topic_id=self.id,
            partition=0,
            leader=leader,
            leader_epoch=leader_epoch,
            isr=self.replicas if isr is None else isr,
            replicas=self.replicas,
            partition_epoch=partition_epoch,
            controller_epoch=0,
        )
