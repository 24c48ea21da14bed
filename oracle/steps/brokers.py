"""Which steps are about one broker? Its process ends, stands still and runs again; its links and its disk fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from oracle.steps.step import OfOneBroker, Step, described, named_brokers, step
from oracle.vocabulary import BrokerId, MetadataMode, Offset

if TYPE_CHECKING:
    from oracle.steps.step import SoFar


@step("kill", says="kill broker {broker} (kill -9)", leaves="broker_killed", fault="kill")
class Kill(OfOneBroker):
    """kill -9 a broker; ends when its registration is gone and any election this causes is done."""

    broker: BrokerId = described("the broker")


@step("kill_together", short="kill {brokers}", leaves="broker_killed", fault="kill_together")
class KillTogether(Step):
    """kill -9 several brokers at once (short: `kill: [1, 2]`); the controller notices them one by one, in any order."""

    brokers: tuple[BrokerId, ...] = described("the brokers")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_brokers("brokers", *self.brokers)
        so_far.require_distinct("brokers", self.brokers)

    @override
    def sentence(self) -> str:
        return f"kill {named_brokers(self.brokers)} at once (kill -9)"

    @override
    def left_for(self) -> tuple[str, ...]:
        return tuple(map(str, self.brokers))


@step("stop", says="stop broker {broker} gracefully", leaves="broker_stopped", fault="stop")
class Stop(OfOneBroker):
    """Stop a broker gracefully (SIGTERM, controlled shutdown)."""

    broker: BrokerId = described("the broker")


@step(
    "start",
    says="start broker {broker} again with the same files",
    leaves="broker_started",
    takes_back=("kill", "kill_together", "stop"),
)
class Start(OfOneBroker):
    """Start a stopped or killed broker with the same files; ends registered and unfenced."""

    broker: BrokerId = described("the broker")


@step(
    "pause",
    says="pause broker {broker} (SIGSTOP): it neither fetches, serves nor hears",
    leaves="broker_paused",
    fault="pause",
)
class Pause(OfOneBroker):
    """Freeze a broker (SIGSTOP): its connections stay, but it neither fetches, serves nor hears.

    Under timing: session the controller takes it for dead, as after a kill; under lag a follower only is silent.
    """

    broker: BrokerId = described("the broker")


@step("resume", says="let broker {broker} go on (SIGCONT)", leaves="broker_resumed", takes_back=("pause",))
class Resume(OfOneBroker):
    """Let a paused broker go on (SIGCONT) in its old role until it hears what was decided; ends registered."""

    broker: BrokerId = described("a paused broker")


@step(
    "isolate",
    says="cut broker {broker} off from all other nodes; clients still reach it",
    leaves="broker_isolated",
    fault="isolate",
)
class Isolate(OfOneBroker):
    """Cut every link of a broker to the other brokers and to the controller, both ways; clients still reach it.

    It hears no decision. In KRaft mode under timing: session the controller fences it; ZooKeeper keeps it registered.
    """

    broker: BrokerId = described("the broker")

    @override
    def faults(self, metadata: MetadataMode) -> int:
        return 2 if metadata is MetadataMode.KRAFT else 1  # its links to brokers, and those to a KRaft controller


@step("rejoin", says="let the links of broker {broker} work again", leaves="broker_rejoined", takes_back=("isolate",))
class Rejoin(OfOneBroker):
    """Let an isolated broker's links work again; ends registered, and when it has heard what was decided."""

    broker: BrokerId = described("an isolated broker")


@step(
    "lose_tail",
    says="the disk of broker {broker} forgets offset {offset} and beyond",
    short="lose {offset} on, broker {broker}",
    leaves="tail_lost",
    fault="lose_tail",
)
class LoseTail(Step):
    """Cut the log of a broker that is down, as a machine does that loses power before it has written it."""

    broker: BrokerId = described("a broker that is down")
    offset: Offset = described("the first offset that is lost")

    @override
    def check(self, so_far: SoFar) -> None:
        so_far.require_brokers("broker", self.broker)
        so_far.require_at_least("offset", self.offset, 0)


@step(
    "lose_checkpoint",
    says="the disk of broker {broker} forgets the high watermark",
    short="lose HW, broker {broker}",
    leaves="checkpoint_lost",
    fault="lose_high_watermark_checkpoint",
)
class LoseCheckpoint(OfOneBroker):
    """Remove the high watermark checkpoint of a broker that is down."""

    broker: BrokerId = described("a broker that is down")
