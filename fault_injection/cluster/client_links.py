"""Through which addresses do clients reach brokers by the relay?

A cluster with client links has two listeners for clients. CLIENT is direct and the tester's own: its questions
are answered whatever happens on the relay. RELAYED is advertised at the relay; a client that starts there is
told only relayed addresses of the other brokers, so all it does passes the relay.
"""

from fault_injection.cluster.lifecycle import Cluster
from fault_injection.releases import UsageError


def relayed_client_address(cluster: Cluster, broker: int) -> str:
    """Return ``host:port`` of a broker's RELAYED listener.

    Raises:
        UsageError: the cluster was not asked for client links.
    """
    if not cluster.spec.client_links:
        raise UsageError("This cluster has no client links: clients reach its brokers directly.")
    (plan,) = (plan for plan in cluster.plans if plan.node in cluster.spec.broker_nodes and plan.node.id == broker)
    host, port = plan.listeners.advertised["RELAYED"]
    return f"{host}:{port}"


def relayed_bootstrap(cluster: Cluster) -> str:
    """Return the relayed addresses of all brokers that may hold replicas, live or not.

    Raises:
        UsageError: the cluster was not asked for client links.
    """
    return ",".join(relayed_client_address(cluster, broker) for broker in cluster.spec.broker_ids)
