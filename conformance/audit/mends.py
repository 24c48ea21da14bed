"""Kafka's own commands that make a change, as an audit proposes them. It never runs one."""

from __future__ import annotations

PLACE = "HOST:PORT"
"""Stands for the brokers that were asked, and the file by which a client gets in."""
SERVER = f"--bootstrap-server {PLACE}"


def set_on_topic(topic: str, setting: str, value: object) -> str:
    """Return the command that sets a topic's setting."""
    return (
        f"kafka-configs.sh {SERVER} --alter --entity-type topics --entity-name {topic} --add-config {setting}={value}"
    )


def set_on_brokers(setting: str, value: object) -> str:
    """Return the command that sets the default of all brokers (KIP-226)."""
    return f"kafka-configs.sh {SERVER} --alter --entity-type brokers --entity-default --add-config {setting}={value}"


def upgrade_feature(feature: str, level: int) -> str:
    """Return the command that raises a feature's level (KIP-584)."""
    return f"kafka-features.sh {SERVER} upgrade --feature {feature}={level}"
