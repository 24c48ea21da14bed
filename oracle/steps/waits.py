"""Which steps change nothing? They wait for a state that the model foresees, let time pass, or look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import Step, described, named_brokers, step
from oracle.vocabulary import BrokerId, Timing

if TYPE_CHECKING:
    from oracle.steps.step import SoFar


@step("await_leader")
class AwaitLeader(Step):
    """Wait until the controller and every live broker name this leader (none: no leader)."""

    leader: BrokerId | None = described("broker id, or none")

    @override
    def check(self, so_far: SoFar) -> None:
        if self.leader is not None:
            so_far.require_brokers("leader", self.leader)

    @override
    def sentence(self) -> str:
        if self.leader is None:
            return "wait until the partition has no leader"
        return f"wait until broker {self.leader} leads"


@step("await_isr", says="wait until the in-sync replicas are {isr}", short="await ISR {isr}")
class AwaitIsr(Step):
    """Wait until the controller's committed in-sync replicas are these."""

    isr: tuple[BrokerId, ...] = described("broker ids, in any order")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_brokers("isr", *self.isr)


@step("await_lag", short="lag of {followers}")
class AwaitLag(Step):
    """Let replica.lag.time.max.ms pass, and half as much again: the leader removes lagging replicas (timing: lag)."""

    followers: tuple[BrokerId, ...] = described("the followers that do not fetch meanwhile: held, or killed")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_brokers("followers", *self.followers)
        if so_far.timing is not Timing.LAG:
            message = "await_lag needs timing: lag; under session the lag time is longer than a schedule"
            so_far.refuse("followers", message)

    @override
    def sentence(self) -> str:
        if not self.followers:
            return "let the lag time pass while everybody fetches"
        return f"let the lag time pass without a fetch of {named_brokers(self.followers)}"


@step("checkpoint", says="checkpoint: {name}", short="checkpoint")
class Checkpoint(Step):
    """Measure every replica's numbers, to be compared with the prediction."""

    name: str = described("what this moment shows")

    @override
    def check(self, so_far: SoFar) -> None:
        if self.name in so_far.checkpoints:
            so_far.refuse("name", f"checkpoint names must differ; repeated: {self.name}")
        so_far.checkpoints.add(self.name)
