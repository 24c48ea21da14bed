"""Where can a source be read? Kafka's proposals and issues have addresses; the five articles have numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

PROPOSALS = "https://cwiki.apache.org/confluence/display/KAFKA/"
ISSUES = "https://issues.apache.org/jira/browse/"
_ALL_PROPOSALS = "Kafka+Improvement+Proposals"
_PAGES = {
    "KIP-98": "KIP-98+-+Exactly+Once+Delivery+and+Transactional+Messaging",
    "KIP-101": "KIP-101+-+Alter+Replication+Protocol+to+use+Leader+Epoch+rather+than+High+Watermark+for+Truncation",
    "KIP-207": (
        "KIP-207%3A+Offsets+returned+by+ListOffsetsResponse+should+be+monotonically+increasing"
        "+even+during+a+partition+leader+change"
    ),
    "KIP-227": "KIP-227%3A+Introduce+Incremental+FetchRequests+to+Increase+Partition+Scalability",
    "KIP-279": "KIP-279%3A+Fix+log+divergence+between+leader+and+follower+after+fast+leader+fail+over",
    "KIP-320": "KIP-320%3A+Allow+fetchers+to+detect+and+handle+log+truncation",
    "KIP-392": "KIP-392%3A+Allow+consumers+to+fetch+from+closest+replica",
    "KIP-497": "KIP-497%3A+Add+inter-broker+API+to+alter+ISR",
    "KIP-595": "KIP-595%3A+A+Raft+Protocol+for+the+Metadata+Quorum",
    "KIP-966": "KIP-966%3A+Eligible+Leader+Replicas",
}
"""Proposals' pages, which are named after their titles; of any other the list of all proposals is linked."""


class SourceLink(NamedTuple):
    """A source as a page shows it; without an address it is no link."""

    words: str
    address: str = ""


def source_link(source: str) -> SourceLink:
    """Return the words and the address of what a scenario cites: a proposal, an issue, an article or a requirement."""
    if re.fullmatch(r"KIP-\d+", source):
        return SourceLink(source, PROPOSALS + _PAGES.get(source, _ALL_PROPOSALS))
    if re.fullmatch(r"KAFKA-\d+", source):
        return SourceLink(source, ISSUES + source)
    return SourceLink(f"article {source}" if re.fullmatch(r"\d{3}", source) else source)
