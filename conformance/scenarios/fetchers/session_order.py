"""In which order does a leader serve the partitions of a fetch session, where an answer has room for one batch?

A partition that gave records moves to the end. Before 3.0 every partition in the answer moved, so also one that is
there for its new high watermark alone, which an answer carries one round after the follower's fetch has raised it.
A partition progresses at every release; the pace is even from 3.0 on.

Source: ``FetchSession.PartitionIterator``, read in 2.0 to 3.9.
"""

from __future__ import annotations


def served(partitions: int, records: int, *, moves_every_answered: bool) -> list[int]:
    """Return whose records come, answer by answer.

    Args:
        partitions: how many partitions there are; all of them begin with the same number of records.
        records: how many records each has.
        moves_every_answered: whether a partition moves that is in an answer without records.
    """
    order = list(range(partitions))
    given, committed, told = ([0] * partitions for _ in range(3))
    turns: list[int] = []
    while len(turns) < partitions * records:
        giver = next(one for one in order if given[one] < records)
        answered = [one for one in order if one == giver or (moves_every_answered and committed[one] != told[one])]
        order = [one for one in order if one not in answered] + answered
        told = [committed[one] if one in answered else told[one] for one in range(partitions)]
        committed = list(given)  # what this request has told the leader is committed after it was answered
        given[giver] += 1
        turns.append(giver)
    return turns
