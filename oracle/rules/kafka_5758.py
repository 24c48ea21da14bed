"""Which high watermark does an immediate fetch response carry? The one before its own update.

In 1.0.0, 1.0.1 and 1.1.0 it was the one after: newer than the records in the same answer.

Source: KAFKA-5758, reverted by KAFKA-7104 (1.0.2, 1.1.1, 2.0.0); ReplicaManager.fetchMessages.

Mutant: answers-the-new-high-watermark, which the story kafka-5758-on-1.1.1 notices.
"""

from __future__ import annotations

from oracle.rules.rule import Rule

AFTER_UPDATE = Rule(
    name="immediate-response-carries-new-high-watermark",
    source="KAFKA-5758, KAFKA-7104",
    says="An immediate fetch response carries the high watermark that this fetch has raised.",
)
