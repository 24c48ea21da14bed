"""Which settings of a schedule become those of its topic?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.steps.topic import MESSAGE_FORMAT, MIN_ISR, UNCLEAN

if TYPE_CHECKING:
    from oracle.schedule import Schedule, TopicSettings


def topic_configs(schedule: Schedule) -> dict[str, str]:
    """Return the topic configurations that a schedule asks for."""
    return configs_of(schedule.settings)


def configs_of(settings: TopicSettings) -> dict[str, str]:
    """Return durability settings as topic configurations."""
    written = {MIN_ISR: str(settings.min_insync_replicas), UNCLEAN: str(settings.unclean_leader_election).lower()}
    if settings.message_format_version is None:
        return written
    return {**written, MESSAGE_FORMAT: settings.message_format_version}


def user_settings(schedule: Schedule) -> dict[str, str]:
    """Return the same with the replication factor, as reports list the user's settings."""
    return {"replication.factor": str(len(schedule.replicas)), **topic_configs(schedule)}
