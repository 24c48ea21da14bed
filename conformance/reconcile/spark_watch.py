"""How far is the work that Spark does, and does it get anywhere? Asked beside it, from another thread.

Stages and their tasks are told by Spark's status store. How many records its Kafka source has read is in the gauges of
consumers, which are in this JVM where Spark is local; elsewhere the tasks of the stage that reads say it roughly.

Sources: Spark's documentation, "Monitoring and Instrumentation"; Kafka's, "Consumer Fetch Metrics".
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from conformance.reconcile.executors import Hunger
from conformance.reconcile.jvm import SPARK_FAILURES

LOOK_EVERY_S = 5.0
_CONSUMERS = "kafka.consumer:type=consumer-fetch-manager-metrics,client-id=*"
_CONSUMED = "records-consumed-total"
_OBJECT_NAME = "javax.management.ObjectName"


@dataclass(frozen=True, slots=True)
class StageSeen:
    """A stage under way: its tasks, and how many of them have ended."""

    number: int
    tasks: int
    ended: int


class Reading:
    """How far is the reading of a topic, and what comes after it?

    Args:
        records: how many the topic has.
        partitions: how many of its partitions have some.
        tasks: in how many the topic is to be read; the source rounds for each partition, and gives each one at least.
        tell: told in a line.
    """

    def __init__(self, records: int, partitions: int, tasks: int, tell: Callable[[str], None]) -> None:
        self._records, self._tell = records, tell
        rounded = partitions if tasks > partitions else 0
        self._tasks = range(max(tasks - rounded, partitions), tasks + rounded + 1)
        self._stage: int | None = None
        self._began_s = 0.0

    def see(self, stages: list[StageSeen], consumed: int | None, now_s: float) -> None:
        """Tell how far it is, given the stages under way, in their order.

        Args:
            stages: as of now.
            consumed: how many records were read; None if only tasks say that.
            now_s: monotonic.
        """
        if not stages:
            return
        if self._stage is None and consumed != 0:
            self._stage = next((one.number for one in stages if one.tasks in self._tasks), None)
            self._began_s = now_s - LOOK_EVERY_S
        first = next((one for one in stages if one.number == self._stage), stages[0])
        tasks = f"{first.ended:,} of {first.tasks:,} tasks"
        if first.number != self._stage:
            self._tell(f"counts: stage {first.number}, {tasks}")
            return
        read = min(self._records, self._records * first.ended // first.tasks if consumed is None else consumed)
        rate = read / (now_s - self._began_s)
        left = f", {rate:,.0f} a second, some {(self._records - read) / rate:,.0f} s left" if read else ""
        self._tell(f"read {'some ' if consumed is None else ''}{read:,} of {self._records:,} ({tasks}){left}")


class SparkWatch:
    """Looks at the work of a session every few seconds.

    Args:
        spark: the session.
        reading: is told what is seen; None if nobody wants to know.
        hunger: of executors; None where Spark needs none, since it is on this machine alone.
    """

    def __init__(self, spark: SparkSession, reading: Reading | None, hunger: Hunger | None) -> None:
        self._context: Any = spark.sparkContext
        self._reading, self._hunger = reading, hunger
        self._most: dict[str, int] = {}

    def look(self) -> None:
        """Look once. What fails in Spark fails its work too, which says why.

        Raises:
            ReconcileError: Spark has no executor for too long.
        """
        with suppress(*SPARK_FAILURES):
            if self._hunger is not None:
                self._hunger.look(self._context)
            if self._reading is not None:
                self._reading.see(self._stages(), self._consumed(), time.monotonic())

    def _stages(self) -> list[StageSeen]:
        seen = self._context._jsc.sc().statusStore().activeStages()  # noqa: SLF001 - where pyspark has it
        each = (seen.apply(place) for place in range(seen.size()))
        found = (StageSeen(one.stageId(), one.numTasks(), one.numCompleteTasks()) for one in each)
        return sorted(found, key=lambda one: one.number)

    def _consumed(self) -> int | None:
        """Return how many records were read from Kafka so far; None if executors are elsewhere."""
        if self._hunger is not None:
            return None
        for name, count in self._gauges().items():  # a consumer that is closed after a while has none any more
            self._most[name] = max(count, self._most.get(name, 0))
        return sum(self._most.values())

    def _gauges(self) -> dict[str, int]:
        jvm = self._context._jvm  # noqa: SLF001 - where pyspark has it
        pattern = jvm.javax.management.ObjectName(_CONSUMERS)
        names = self._asked("queryNames", (_OBJECT_NAME, pattern), ("javax.management.QueryExp", None))
        return {
            str(name.toString()): int(
                self._asked("getAttribute", (_OBJECT_NAME, name), ("java.lang.String", _CONSUMED))
            )
            for name in names
        }

    def _asked(self, method: str, *arguments: tuple[str, object]) -> Any:  # noqa: ANN401 - what Java returns
        """Ask the JVM's own server of gauges, given arguments and their classes.

        Its class is in no exported package, so that the method is the one of its interface.
        """
        gateway, jvm = self._context._gateway, self._context._jvm  # noqa: SLF001 - where pyspark has them
        classes = gateway.new_array(jvm.java.lang.Class, len(arguments))
        values = gateway.new_array(jvm.java.lang.Object, len(arguments))
        for place, (name, value) in enumerate(arguments):
            classes[place], values[place] = jvm.java.lang.Class.forName(name), value
        of_interface = jvm.java.lang.Class.forName("javax.management.MBeanServer").getMethod(method, classes)
        return of_interface.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), values)
