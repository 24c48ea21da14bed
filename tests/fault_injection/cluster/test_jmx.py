"""Do brokers show their gauges where the tester reaches them, and only when they are asked to?"""

from pathlib import Path

import pytest

from fault_injection.cluster.backends.process import ProcessBackend
from fault_injection.cluster.launches import jmx_options, jmx_service, node_launch
from fault_injection.cluster.plan import ClusterPlan
from fault_injection.cluster.relay import DirectRelay
from fault_injection.cluster.spec import ClusterSpec, ProcessRole
from fault_injection.releases import JarSet, MetadataMode, find_release

JARS = JarSet(Path("jars"), (), "digest")


@pytest.mark.parametrize("jmx", [True, False])
def test_every_broker_has_a_port_of_its_own_if_asked(jmx: bool) -> None:
    spec = ClusterSpec(find_release("3.9"), MetadataMode.KRAFT, broker_ids=(1, 2), jmx=jmx)
    planned = ClusterPlan(spec, Path("nowhere"), ProcessBackend, DirectRelay())  # type: ignore[arg-type]
    shown = []
    for plan in planned.nodes.values():
        launch = node_launch(spec, plan, JARS)
        assert bool([one for one in launch.arguments if "jmxremote" in one]) is (plan.jmx is not None)
        if plan.jmx is not None:
            assert plan.node.role is ProcessRole.BROKER
            assert plan.jmx[1] in launch.client_ports
            shown.append(plan.jmx)
    planned.close()

    assert len(set(shown)) == (2 if jmx else 0)


def test_a_container_binds_every_address_and_names_the_published_one() -> None:
    options = jmx_options("0.0.0.0", ("127.0.0.1", 9999))

    assert "-Dcom.sun.management.jmxremote.host=0.0.0.0" in options
    assert "-Djava.rmi.server.hostname=127.0.0.1" in options
    assert {option.rpartition("=")[2] for option in options if "port=" in option} == {"9999"}
    assert jmx_service(("127.0.0.1", 9999)) == "service:jmx:rmi:///jndi/rmi://127.0.0.1:9999/jmxrmi"
