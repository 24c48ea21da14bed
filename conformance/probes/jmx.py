"""What do a broker's own gauges say?

Kafka shows its gauges over JMX, which speaks Java alone. So a small JVM of the tester's own, a child process,
is the client, and Py4J, which PySpark brings along, calls its ``javax.management`` classes. One such JVM
serves any number of readings, and ends with the tester whatever happens.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any, Self

from conformance.probes.connection import ProbeError
from conformance.spark_extra import at_first_use
from fault_injection.cluster.launches import jmx_service
from fault_injection.releases import find_java

if TYPE_CHECKING:
    from types import TracebackType

    from py4j import java_gateway

    from fault_injection.cluster.relay import Address
else:
    java_gateway = at_first_use("py4j.java_gateway")

_OPTIONS = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
_OPENED = "--add-opens=java.management.rmi/javax.management.remote.rmi=ALL-UNNAMED"
"""The connection is of a private class, whose methods Py4J calls."""
_END_S = 10.0


class GaugeReader:
    """A client of brokers' gauges; a context manager that ends its JVM."""

    def __init__(self) -> None:
        java = str(find_java().executable)
        options = [*_OPTIONS, _OPENED]
        port, token, self._process = java_gateway.launch_gateway(
            javaopts=options, java_path=java, die_on_exit=True, enable_auth=True, return_proc=True
        )
        self._gateway = java_gateway.JavaGateway(
            gateway_parameters=java_gateway.GatewayParameters(port=port, auth_token=token)
        )
        self._connections: dict[Address, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def number(self, address: Address, gauge: str, attribute: str = "Value") -> int | None:
        """Read a whole number; None while the broker has no such gauge.

        Args:
            address: of the broker's gauges.
            gauge: the object's name, such as ``kafka.server:type=ReplicaManager,name=PartitionCount``.
            attribute: which of its attributes.

        Raises:
            ProbeError: nobody answers there, or not with a number.
        """
        try:
            name = self._gateway.jvm.javax.management.ObjectName(gauge)
            connection = self._connection(address)
            return int(connection.getAttribute(name, attribute)) if connection.isRegistered(name) else None
        except Exception as broken:  # pyspark, once used, makes the exceptions of every gateway its own, or fails at it
            self._connections.pop(address, None)  # who asks again has a new one
            raise ProbeError(f"{address[0]}:{address[1]}", f"{gauge} was not read: {broken!r}") from broken

    def _connection(self, address: Address) -> Any:  # noqa: ANN401 - an object of the JVM
        if address not in self._connections:
            remote = self._gateway.jvm.javax.management.remote
            url = remote.JMXServiceURL(jmx_service(address))
            self._connections[address] = remote.JMXConnectorFactory.connect(url).getMBeanServerConnection()
        return self._connections[address]

    def close(self) -> None:
        """End the JVM."""
        self._gateway.shutdown()
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_END_S)
