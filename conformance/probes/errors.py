"""What can keep a probe from its answer?"""


class ProbeError(Exception):
    """A broker did not answer a probe, or answered with an error.

    Attributes:
        address: the ``host:port`` that was asked.
        error: the broker's error, such as ``NOT_LEADER_OR_FOLLOWER``; None when it did not answer.
    """

    def __init__(self, address: str, message: str, error: str | None = None) -> None:
        super().__init__(f"{address}: {message}")
        self.address = address
        self.error = error
