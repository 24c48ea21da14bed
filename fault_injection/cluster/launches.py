"""Which Java program is each node, and what does it find in its directory?

A node's directory holds its settings (``server.properties``), its logging configuration, its log
(``server.log``), what it printed (``output.log``) and, under ``data/``, what it stores.
"""

from pathlib import Path

from fault_injection.cluster.backend import NodeLaunch
from fault_injection.cluster.jmx import jmx_options
from fault_injection.cluster.leftovers import MARKER
from fault_injection.cluster.logging_config import CONFIG_NAME, logging_config, logging_option
from fault_injection.cluster.plan import NodePlan
from fault_injection.cluster.properties import NodeProperties
from fault_injection.cluster.spec import ClusterSpec, Node, Role
from fault_injection.releases import JarSet

DATA = "data"
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
    Role.ZOOKEEPER: "org.apache.zookeeper.server.ZooKeeperServerMain",
    Role.CONTROLLER: "kafka.Kafka",
    Role.BROKER: "kafka.Kafka",
}


def log_directories(spec: ClusterSpec) -> list[str]:
    """Give the names of the log directories in a node's directory: ``data``, or those of ``log.dirs`` of the user."""
    return spec.overrides.get("log.dirs", DATA).split(",")


def write_files(spec: ClusterSpec, directory: Path, settings: NodeProperties) -> None:
    """Write a node's settings and logging configuration."""
    (directory / DATA).mkdir(parents=True, exist_ok=True)
    (directory / SETTINGS).write_text(settings.text())
    binding = spec.release.log_binding
    (directory / CONFIG_NAME[binding]).write_text(logging_config(binding, str(directory / LOG)))


def node_launch(spec: ClusterSpec, plan: NodePlan, jars: JarSet) -> NodeLaunch:
    """Give the program that a node is."""
    node, listeners, directory = plan.node, plan.listeners, plan.directory
    client = tuple(port for name, port in listeners.ports.items() if name == "CLIENT")
    others = tuple(port for name, port in listeners.ports.items() if name != "CLIENT")
    gauges = jmx_options(listeners.bind_host, plan.jmx) if plan.jmx is not None else ()
    shown = (plan.jmx[1],) if plan.jmx is not None else ()
    arguments = (*_options(spec, node, directory), *gauges, _MAIN_CLASS[node.role], str(directory / SETTINGS))
    ports = {"client_ports": client + shown, "node_ports": others}
    return NodeLaunch(node, spec.release.version, directory, jars, arguments, **ports)


def storage_tool_launch(
    spec: ClusterSpec, node: Node, directory: Path, jars: JarSet, arguments: tuple[str, ...]
) -> NodeLaunch:
    """Give a run of Kafka's storage tool with a node's settings."""
    tool = (*_options(spec, node, directory), "kafka.tools.StorageTool", *arguments)
    return NodeLaunch(node, spec.release.version, directory, jars, tool)


def _options(spec: ClusterSpec, node: Node, directory: Path) -> tuple[str, ...]:
    binding = spec.release.log_binding
    logging = logging_option(binding, str(directory / CONFIG_NAME[binding]))
    return (*_JVM_OPTIONS, f"{MARKER}{node.name}", logging)
