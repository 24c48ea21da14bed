"""What do the words of a page mean? One sentence each, for who has not read how Kafka replicates."""

from __future__ import annotations

GLOSSARY = {
    "log end offset, LEO": "The offset that the next record of a replica's log will have: one more than its last.",
    "high watermark, HW": "The first offset that a replica does not know to be committed; consumers read up to it.",
    "ISR": (
        "The in-sync replicas, as the controller has them: a record is committed once all of them have it, and a clean "
        "election chooses among them."
    ),
    "ELR": (
        "Eligible leader replicas (KIP-966, from Kafka 4.0 on): they left the ISR when it fell below "
        "min.insync.replicas; as nothing is committed then, they miss no committed record, and may be elected cleanly."
    ),
    "leader epoch": (
        "The number of a leadership: it rises with every election, and records carry it from message format 2 "
        "(Kafka 0.11) on."
    ),
    "remote LEO (derived)": (
        "What the leader knows of a follower's log end offset: no broker tells it, so it is taken from the last fetch "
        "that was let through to the leader; none: this leader has seen no fetch of that follower yet."
    ),
    "held, released": "The tester kept a frame from its receiver, and later let it go on.",
    "discharged": "The connection of a held frame ended, as by a kill of its broker: the frame will never arrive.",
    "lost": "Committed, or acknowledged to its producer, and no longer in the topic.",
    "absent": "Neither committed nor acknowledged, and not in the topic.",
    "article 000 to 004": "The five articles on replication that the catalogue began with.",
}
"""Terms in the order in which a reader needs them; the names are those of tables, pictures and sources."""
