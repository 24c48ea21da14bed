"""Which brokers cannot reach which others at the moment?

A cut is a pair of source and destination; None on one side means every other node. A cut link resets: its
port accepts, since the sender is known only from its first frame, and then the connection is aborted with
nothing passed on. A broker always reaches itself.
"""

Cut = tuple[int | None, int | None]


class Cuts:
    """The links that are cut now."""

    def __init__(self) -> None:
        self._cuts: set[Cut] = set()

    def cut(self, source: int | None, destination: int | None) -> None:
        """Let nothing through from a source to a destination any more."""
        self._cuts.add((source, destination))

    def heal(self, source: int | None, destination: int | None) -> None:
        """Take one cut back; does nothing if it was not made."""
        self._cuts.discard((source, destination))

    def is_cut(self, source: int | None, destination: int) -> bool:
        """Whether requests from a source may not reach a destination; a source may be unknown."""
        if source == destination:
            return False
        return any(
            cut_source in (None, source) and cut_destination in (None, destination)
            for cut_source, cut_destination in self._cuts
        )
