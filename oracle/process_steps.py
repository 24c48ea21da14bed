"""Which steps are about a broker's process? It ends, stands still, and runs again."""

# ruff: noqa: RUF009 - described() declares a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass

from oracle.step_fields import described
from oracle.vocabulary import BrokerId  # noqa: TC001 - schedule files are decoded by these types


@dataclass(frozen=True, slots=True)
class Kill:
    """kill -9 a broker; ends when its registration is gone and any election this causes is done."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class KillTogether:
    """kill -9 several brokers at once (short: `kill: [1, 2]`); the controller notices them one by one, in any order."""

    brokers: tuple[BrokerId, ...] = described("the brokers")


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a broker gracefully (SIGTERM, controlled shutdown)."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Start:
    """Start a stopped or killed broker with the same files; ends registered and unfenced."""

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Pause:
    """Freeze a broker (SIGSTOP): its connections stay, but it neither fetches, serves nor hears.

    Under timing: session the controller takes it for dead, as after a kill; under lag a follower only is silent.
    """

    broker: BrokerId = described("the broker")


@dataclass(frozen=True, slots=True)
class Resume:
    """Let a paused broker go on (SIGCONT) in its old role until it hears what was decided; ends registered."""

    broker: BrokerId = described("a paused broker")
