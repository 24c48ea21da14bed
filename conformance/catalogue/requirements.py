"""Which behaviours must a release show? Every requirement by its id, one sentence each, in the order of the table.

The ids are those that scenarios cite as sources. Scenarios prove them one by one; three are held against every
replica and every frame of every run (``CHECKED_IN_EVERY_RUN``).
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.vocabulary import AREAS

_SENTENCES = {
    "HW-01": "The log end offset is the offset that the next record gets, and no high watermark lies beyond it.",
    "HW-02": "A consumer is given records below the high watermark only, those of the replica that it reads from.",
    "HW-03": "One record moves leader, follower and remote log end offset and both high watermarks in nine fixed rows.",
    "HW-04": "A follower's own log end offset moves with its append, the leader's copy with its next fetch.",
    "HW-05": "The leader's log end offset moves with its append, before any follower has the record.",
    "HW-06": "A follower learns that a record is committed one fetch round after the one that brought it.",
    "HW-07": "The leader looks at its high watermark when it appends, is fetched from, is elected, or loses a replica.",
    "HW-08": "The leader's high watermark is the lowest end offset of its ISR, and of what else the release counts in.",
    "HW-09": "A leader's high watermark never falls within its leader epoch.",
    "HW-10": "Leader, follower and remote log end offset, leader and follower high watermark never rise in this order.",
    "HW-11": "A fetch that finds a record is answered at once; one that finds none waits for an append or its limit.",
    "HW-12": "Whether an answer carries the high watermark that its own request raised is a matter of the release.",
    "HW-13": "A restarted replica begins with the high watermark of its checkpoint file, or 0, and learns the rest.",
    "HW-14": "A new leader's high watermark is given to nobody before it has reached the start of its leader epoch.",
    "TR-01": "A follower that restarts keeps an acknowledged record of which it has not heard that it is committed.",
    "TR-02": "A follower of a new leader keeps an acknowledged record, although only clean elections follow.",
    "TR-03": "Two replicas that die with different logs end with equal logs, whoever comes back first.",
    "TR-04": "Up to 0.10.2 a new follower cuts its log to its own high watermark, from 0.11 on as its leader tells.",
    "TR-05": "A record that only the dead leader had is cut from its log when it follows its successor.",
    "TR-06": "From 0.11 on the cut lies where the leader's epoch ends, at most at the follower's end.",
    "TR-07": "A log without epochs is cut to the high watermark from 0.11 on, too, as every log was before.",
    "TR-08": "After an unclean election, from 0.11 on, epochs cut the deposed leader's suffix, and nothing else.",
    "TR-09": "A cut removes records and their index entries alike, and a restart brings none of them back.",
    "LE-01": "Every change of leader raises the leader epoch, which is noted with the first offset written in it.",
    "LE-02": "The epoch checkpoint file of each replica holds exactly the epochs of its log with their start offsets.",
    "LE-03": "A leader tells where an epoch ends: at the start of the next one, at its log's end, or undefined.",
    "LE-04": "A follower asks about its last epoch before its first fetch, or names it in the fetch.",
    "LE-05": "A leader or follower of an older epoch has no rights: its commits fail and its fetches are fenced.",
    "LE-06": "A follower whose question about an epoch is never answered has cut nothing when it is elected.",
    "LE-07": "A follower that meets a new epoch in a batch notes it, and writes it to disk.",
    "LE-08": "A replica moved to another log directory keeps each epoch it has records of, and up to 4.4.0 no other.",
    "IS-01": "A silent follower leaves the ISR after 1 to 1.5 times replica.lag.time.max.ms.",
    "IS-02": "A follower joins the ISR once its end reaches the high watermark and what else the release asks.",
    "IS-03": "A follower counts as caught up at the time of the fetch whose end it has reached, not at its last fetch.",
    "IS-04": "A silent follower at the leader's end stays in the ISR from 2.1 on, and leaves it before.",
    "IS-05": "A smaller ISR raises the high watermark and completes the produces that waited for it.",
    "IS-06": "A change of the ISR reaches the other brokers and the clients by the way of the release.",
    "IS-07": "The last member stays in the ISR when it dies, and the partition has no leader.",
    "IS-08": "However far behind it is, a follower is judged by time alone.",
    "AC-01": "acks other than 0, 1 and -1 are refused, and nothing is written.",
    "AC-02": "acks=0 is answered never, acks=1 after the leader's append, acks=-1 when the record is committed.",
    "AC-03": "A waiting acks=-1 ends when the record is committed, or at its timeout with the record in the log.",
    "AC-04": "With too few in-sync replicas acks=-1 is refused and writes nothing, acks 1 and 0 are accepted.",
    "AC-05": "When the ISR gets too small after the append, the answer is an error, or waits, as the release has it.",
    "AC-06": "Whether an acks=1 record is visible while too few replicas are in sync is a matter of the release.",
    "AC-07": "A broker that does not lead refuses a produce and writes nothing.",
    "EL-01": "Without unclean elections only an ISR member leads; while none lives nobody does, and nothing is lost.",
    "EL-02": "With unclean elections a replica outside the ISR leads, and exactly what it never had is lost.",
    "EL-03": "acks, min.insync.replicas, unclean elections and the number of replicas decide what a crash can lose.",
    "EL-04": "The first live member of the ISR in the order of assignment is elected.",
    "EL-05": "Unclean elections are allowed unless forbidden up to 0.10.2, and forbidden unless allowed from 0.11 on.",
    "EL-06": "Whether the last replica of the ISR may lead again after it forgot records is a matter of the release.",
    "RM-01": "LeaderAndIsr of an older controller is refused; the current one's makes a broker leader or follower.",
    "RM-02": "Who becomes leader stops fetching the partition, who becomes follower starts.",
    "RM-03": "StopReplica of an older controller is refused; the current one's ends the fetching and may delete files.",
    "RM-04": "UpdateMetadata reaches every broker, and one that is kept from it answers with what it knew.",
    "RM-05": "A fetch keeps to its longest wait, its fewest and its most bytes; an offset outside the log is an error.",
    "RM-06": "ListOffsets gives the earliest, the latest and the offset of a time, as the isolation level has it.",
    "FE-01": "A broker keeps num.replica.fetchers connections to each broker that it follows with every fetcher.",
    "FE-02": "A partition belongs to the one fetcher that the release's spread names.",
    "FE-03": "With room for little in an answer every partition still gets its turn.",
    "FE-04": "An answer to an offset or an epoch that no longer holds is thrown away.",
    "FE-05": "The lag that a follower reports is the leader's high watermark minus the follower's own offset.",
    "RC-01": "Every produced record is read back and held against a prediction that was frozen before.",
    "RC-02": "Lost, foreign, refused yet present, repeated, reordered, moved and changed records are told apart.",
    "RC-03": "A doctored topic, a doctored ledger and another release's rules are each noticed.",
    "TX-01": "Of the producers with a transactional id only the one with the newest epoch writes and ends.",
    "TX-02": "A leader appends each batch of a producer once, in the order of their sequence numbers.",
    "TX-03": "Consumers of committed records are given all of a transaction, in every partition, or nothing.",
    "TX-04": "Consumers of committed records read up to the first transaction that is open.",
    "TX-05": "Whether a late EndTxn ends the next transaction is a matter of transaction.version.",
    "TX-06": "Whether a late batch opens a transaction, or joins one, is a matter of release and transaction.version.",
    "TX-07": "Whether a marker that is written twice ends the next transaction is a matter of the release.",
    "TX-08": "A group's offset that is committed in a transaction counts once that has committed.",
    "TX-09": "A coordinator that takes over goes on with what is open, and ends what was decided.",
    "TX-10": "A transaction that lasts longer than its time-out is aborted, and its producer is fenced.",
    "TX-11": "A leader that was a follower knows of producers what its log says.",
    "TX-12": "What an unclean election does to a transaction whose marker it loses, nobody mends.",
}

CHECKED_IN_EVERY_RUN = ("HW-01", "HW-09", "HW-10")
"""What is held against all observations of every run, beside the scenarios that cite it."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One documented behaviour.

    Attributes:
        id: what scenarios cite, such as ``HW-01``.
        sentence: what must be so.
    """

    id: str
    sentence: str

    @property
    def area(self) -> str:
        """Return the title of its area."""
        return AREAS[self.id.partition("-")[0]]


REQUIREMENTS: tuple[Requirement, ...] = tuple(Requirement(*pair) for pair in _SENTENCES.items())
"""Every requirement, in the order of the table."""
