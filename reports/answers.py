"""What does a report know about a question? What was asked, and both answers in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asked:
    """One question with its answers.

    Attributes:
        predicted: the predicted answer; empty if nobody predicted that this is answered.
        measured: the measured answer; empty if there is none.
        remark: why there is none, or why it does not count.
        agrees: whether measured is as predicted; None if the run never came that far.
    """

    what: str
    predicted: str
    measured: str
    remark: str
    agrees: bool | None

    @property
    def differs(self) -> bool:
        """Whether the answer speaks against the brokers."""
        return self.agrees is False
