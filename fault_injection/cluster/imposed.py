"""Which settings does the tester impose on a cluster, and why each of them?

Only settings that the release knows are given, so that a broker's log has no warnings of the tester's
making. Topic-level promises (min.insync.replicas, unclean.leader.election.enable) are a scenario's, never
imposed here.
"""

from fault_injection.cluster.spec import ClusterSpec, HighWatermarkCheckpoint, Node, ProcessRole, Timing

_NEVER_MS = 2**31 - 1
_LAG_MS = 3_000
"""Under ``timing: lag``; else a follower is silent for longer than any schedule takes."""
_SESSION_MS = {Timing.SESSION: 2_000, Timing.LAG: 60_000}
_IDLE_MS = 600_000
"""After so long Kafka ends a connection on which nothing comes, such as that of a held frame."""
_CHECKPOINT_MS = {HighWatermarkCheckpoint.PROMPT: 100, HighWatermarkCheckpoint.NEVER: _NEVER_MS}


def imposed_settings(spec: ClusterSpec, node: Node) -> dict[str, str]:
    """Return the settings that the tester imposes on a node."""
    if node.role is ProcessRole.ZOOKEEPER:
        return _zookeeper(spec)
    if node.role is ProcessRole.CONTROLLER:
        return _kraft(spec) | _topics() | _idle(spec) | {"num.network.threads": "1", "num.io.threads": "2"}
    waits = _patience(spec) | _idle(spec)
    settings = _replication(spec) | _topics() | waits | _internal_topics(spec) | _frugality(spec)
    return settings | (_kraft(spec) if spec.is_kraft else _zookeeper_client(spec))


def _replication(spec: ClusterSpec) -> dict[str, str]:
    """Timing and checkpoint profiles, short idle fetch rounds, quick discovery of a restarted leader.

    Whatever the interval, a broker writes its log start offsets once, 30 seconds after its start (LogManager): in the
    middle of a run. From 3.8 on it can be told to do so at its start (KAFKA-16552), when nothing was deleted yet.
    """
    settings = {
        "replica.lag.time.max.ms": _LAG_MS if spec.timing is Timing.LAG else spec.lag_s * 1000,
        "replica.high.watermark.checkpoint.interval.ms": _CHECKPOINT_MS[spec.checkpoint],
        "replica.fetch.wait.max.ms": spec.fetch_wait_max_ms,
        "replica.fetch.backoff.ms": 100,
    }
    if spec.release.is_at_least(0, 11):
        settings["log.flush.start.offset.checkpoint.interval.ms"] = _NEVER_MS
    if spec.release.is_at_least(3, 8):
        settings["log.initial.task.delay.ms"] = 0
    if not spec.fetch_sessions and spec.release.is_at_least(1, 1):
        settings["max.incremental.fetch.session.cache.slots"] = 0
    return _as_text(settings)


def _topics() -> dict[str, str]:
    """Nothing moves or appears by itself, and a deleted topic is gone soon."""
    return {
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
        "delete.topic.enable": "true",
        "log.segment.delete.delay.ms": "100",
    }


def _patience(spec: ClusterSpec) -> dict[str, str]:
    """A held frame is not given up by the node that waits for it.

    The price: a frozen leader is waited for as long. A follower of 0.10.2 that becomes leader itself first ends
    its fetcher, which waits for the answer in flight up to request.timeout.ms.
    """
    patience_ms = _patience_ms(spec)
    return _as_text(
        {
            "replica.socket.timeout.ms": 2 * patience_ms,
            "request.timeout.ms": patience_ms,
            "controller.socket.timeout.ms": patience_ms,
            "controlled.shutdown.retry.backoff.ms": 200,
        }
    )


def _idle(spec: ClusterSpec) -> dict[str, str]:
    """No node ends the connection of a frame that somebody waits for."""
    patience_ms = _patience_ms(spec)
    return _as_text({"connections.max.idle.ms": 2 * patience_ms} if patience_ms >= _IDLE_MS else {})


def _patience_ms(spec: ClusterSpec) -> int:
    return spec.patience_s * 1000


def _internal_topics(spec: ClusterSpec) -> dict[str, str]:
    """One partition on one broker each, so that they take no part in what is tested; time-outs are noticed soon."""
    settings = {"offsets.topic.num.partitions": 1, "offsets.topic.replication.factor": 1}
    if spec.release.is_at_least(0, 11):
        settings |= {
            "group.initial.rebalance.delay.ms": 0,
            "transaction.state.log.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
        }
    return _as_text(settings)


def _frugality(spec: ClusterSpec) -> dict[str, str]:
    """Several brokers share a small machine; from 4.1 on the log cleaner cannot be switched off quietly."""
    settings = {"num.network.threads": 2, "num.io.threads": 4, "background.threads": 2}
    if spec.release.is_at_least(4, 1):
        return _as_text(settings | {"log.cleaner.dedupe.buffer.size": 4 * 2**20})
    return _as_text(settings) | {"log.cleaner.enable": "false"}


def _kraft(spec: ClusterSpec) -> dict[str, str]:
    """A dead broker is noticed soon, and so is that a partition without a leader may have an unclean one.

    A held frame of the only controller is not given up by who waits for it; several elect as they do by default.
    """
    settings = {"broker.session.timeout.ms": _SESSION_MS[spec.timing], "broker.heartbeat.interval.ms": 500}
    if not spec.other_controller_ids:
        patience_ms = _patience_ms(spec)
        settings["controller.quorum.fetch.timeout.ms"] = settings["controller.quorum.request.timeout.ms"] = patience_ms
    if spec.release.is_at_least(3, 9):
        settings["unclean.leader.election.interval.ms"] = 1_000
    return _as_text(settings)


def _zookeeper_client(spec: ClusterSpec) -> dict[str, str]:
    return _as_text(
        {
            "zookeeper.session.timeout.ms": _SESSION_MS[spec.timing],
            "zookeeper.connection.timeout.ms": 30_000,
        }
    )


def _zookeeper(spec: ClusterSpec) -> dict[str, str]:
    """Short ticks allow short sessions; no fsync, since machines do not crash here."""
    settings = {
        "tickTime": "500",
        "minSessionTimeout": "1000",
        "maxSessionTimeout": "120000",
        "maxClientCnxns": "0",
        "forceSync": "no",
    }
    if spec.release.is_at_least(2, 0):
        settings["admin.enableServer"] = "false"
    return settings


def _as_text(settings: dict[str, int]) -> dict[str, str]:
    return {key: str(value) for key, value in settings.items()}
