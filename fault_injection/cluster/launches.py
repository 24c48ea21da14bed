"""Which Java program is each node, and what does it find in its directory?

A node's directory holds its settings (``server.properties``), its logging configuration, its log
(``server.log``), what it printed (``output.log``) and, under ``data/``, what it stores.
"""

from pathlib import Path

from fault_injection.cluster.backend import NodeLaunch
from fault_injection.cluster.plan import DATA, NodePlan, NodeProperties
from fault_injection.cluster.relay import Address
from fault_injection.cluster.spec import ClusterSpec, Node, ProcessRole
from fault_injection.cluster.supervision import MARKER
from fault_injection.releases import JarSet, Java, LogBinding
from fault_injection.releases.jars import cache_directory

SETTINGS = "server.properties"
LOG = "server.log"
OUTPUT = "output.log"

_JVM_OPTIONS = (
    "-Xmx320m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Djava.net.preferIPv4Stack=true",
    "-Djava.awt.headless=true",
    "-Dzookeeper.jmx.log4j.disable=true",
)
_MAIN_CLASS = {
    ProcessRole.ZOOKEEPER: "org.apache.zookeeper.server.ZooKeeperServerMain",
    ProcessRole.CONTROLLER: "kafka.Kafka",
    ProcessRole.BROKER: "kafka.Kafka",
}


def write_files(spec: ClusterSpec, directory: Path, settings: NodeProperties) -> None:
    """Write a node's settings and logging configuration."""
    (directory / DATA).mkdir(parents=True, exist_ok=True)
    (directory / SETTINGS).write_text(settings.text())
    binding = spec.release.log_binding
    (directory / CONFIG_NAME[binding]).write_text(logging_config(binding, str(directory / LOG)))


def node_launch(spec: ClusterSpec, plan: NodePlan, jars: JarSet) -> NodeLaunch:
    """Return the program that a node is."""
    node, listeners, directory = plan.node, plan.listeners, plan.directory
    client = tuple(port for name, port in listeners.ports.items() if name == "CLIENT")
    others = tuple(port for name, port in listeners.ports.items() if name != "CLIENT")
    gauges = jmx_options(listeners.bind_host, plan.jmx) if plan.jmx is not None else ()
    shown = (plan.jmx[1],) if plan.jmx is not None else ()
    arguments = (*_options(spec, node, directory), *gauges, _MAIN_CLASS[node.role], str(directory / SETTINGS))
    at = spec.advertised
    elsewhere = () if at is None else tuple((at.address, port) for port in client)
    return NodeLaunch(
        node,
        spec.release.version,
        directory,
        jars,
        arguments,
        client_ports=shown if elsewhere else client + shown,
        node_ports=others,
        advertised_ports=elsewhere,
    )


def storage_tool_launch(
    spec: ClusterSpec, node: Node, directory: Path, jars: JarSet, arguments: tuple[str, ...]
) -> NodeLaunch:
    """Return a run of Kafka's storage tool with a node's settings."""
    tool = (*_options(spec, node, directory), "kafka.tools.StorageTool", *arguments)
    return NodeLaunch(node, spec.release.version, directory, jars, tool)


def _options(spec: ClusterSpec, node: Node, directory: Path) -> tuple[str, ...]:
    binding = spec.release.log_binding
    logging = logging_option(binding, str(directory / CONFIG_NAME[binding]))
    return (*_JVM_OPTIONS, f"{MARKER}{node.name}", logging)


# How do a node's own log messages reach one file, whichever logging library its release uses?


_LOG4J1 = """log4j.rootLogger=INFO, file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={log_file}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.kafka.request.logger=WARN
log4j.logger.org.apache.kafka.clients.NetworkClient=ERROR
"""

_LOG4J2 = """status=WARN
shutdownHook=disable
appender.file.type=File
appender.file.name=file
appender.file.fileName={log_file}
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=[%d] %p %m (%c)%n
rootLogger.level=INFO
rootLogger.appenderRef.file.ref=file
logger.requests.name=kafka.request.logger
logger.requests.level=WARN
logger.connections.name=org.apache.kafka.clients.NetworkClient
logger.connections.level=ERROR
"""

CONFIG_NAME = {LogBinding.LOG4J1: "log4j.properties", LogBinding.LOG4J2: "log4j2.properties"}
"""The name of the configuration file, by logging library."""


def logging_config(binding: LogBinding, log_file: str) -> str:
    """Return the logging configuration that appends everything from INFO up to one file."""
    template = _LOG4J1 if binding is LogBinding.LOG4J1 else _LOG4J2
    return template.format(log_file=log_file)


def logging_option(binding: LogBinding, config_file: str) -> str:
    """Return the Java option that points at a logging configuration file."""
    if binding is LogBinding.LOG4J1:
        return f"-Dlog4j.configuration=file:{config_file}"
    return f"-Dlog4j2.configurationFile=file:{config_file}"


# How do brokers of one release start in half the time from the second cluster on?
#
# Most of a broker's start is spent on loading and verifying classes. Java can keep the loaded classes in an archive
# (JEP 350): one broker of a release's first cluster writes it when it ends in order, and every later JVM with the
# same class path maps it. Java itself checks that archive, class path and Java version fit, and goes on without the
# archive if they do not.


_FRESH_NAME = "classes.jsa"


class ClassArchive:
    """The archive of one class path on one Java, and the one process that may write it.

    Attributes:
        writer: the process id of the JVM that is to write the archive, if one was chosen.
    """

    def __init__(self, jars: JarSet, java: Java) -> None:
        self.path = cache_directory().parent / "classes" / f"{jars.digest[:20]}-{java.version_text}.jsa"
        self.writer: int | None = None
        self._fresh: Path | None = None

    def options_to_read(self) -> tuple[str, ...]:
        """Return the Java options for a JVM that uses the archive, if there is one."""
        return (f"-XX:SharedArchiveFile={self.path}", "-Xshare:auto") if self.path.is_file() else ()

    def is_wanted(self) -> bool:
        """Return whether there is no archive and nobody is to write one yet."""
        return self.writer is None and not self.path.is_file()

    def options_to_write(self, directory: Path) -> tuple[str, ...]:
        """Return the Java options for the JVM that is to write the archive when it ends."""
        self._fresh = directory / _FRESH_NAME
        return (f"-XX:ArchiveClassesAtExit={self._fresh}",)

    def keep(self) -> None:
        """Keep what the writer wrote; it has ended in order."""
        if self._fresh is None or not self._fresh.is_file():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(f".{self.path.name}.{self.writer}")
        beside.write_bytes(self._fresh.read_bytes())
        beside.replace(self.path)
        self._fresh.unlink()


# How does a broker's JVM show its gauges to the tester?
#
# On one port, for the registry and for the objects alike, as the official images do it (``KAFKA_JMX_PORT``): a
# container publishes it under its own number, so the address that the registry names is the one that is reached.
# There is neither a password nor encryption: the port is bound to, or published on, the loopback address.


_PROPERTY = "-Dcom.sun.management.jmxremote"


def jmx_options(bind_host: str, address: Address) -> tuple[str, ...]:
    """Return the JVM's options.

    Args:
        bind_host: the address that the node listens on.
        address: where the tester reaches it.
    """
    host, port = address
    return (
        f"{_PROPERTY}.port={port}",
        f"{_PROPERTY}.rmi.port={port}",
        f"{_PROPERTY}.host={bind_host}",
        f"{_PROPERTY}.authenticate=false",
        f"{_PROPERTY}.ssl=false",
        f"-Djava.rmi.server.hostname={host}",
    )


def jmx_service(address: Address) -> str:
    """Return the address of the JVM's gauges as JMX writes it."""
    host, port = address
    return f"service:jmx:rmi:///jndi/rmi://{host}:{port}/jmxrmi"
