"""What can go wrong with the tester's own machinery around a cluster?"""


class ClusterError(Exception):
    """The harness could not do what was asked of it; never a statement about Kafka's behaviour."""


class NodeDiedError(ClusterError):
    """A node ended although nobody ended it.

    Attributes:
        node: the name of the node.
        log_tail: the last lines that it wrote.
    """

    def __init__(self, node: str, log_tail: str) -> None:
        super().__init__(f"{node} ended although nobody ended it; its last lines:\n{log_tail}")
        self.node = node
        self.log_tail = log_tail


class StorageFormatError(ClusterError):
    """Kafka's own storage tool refused to format a directory."""
