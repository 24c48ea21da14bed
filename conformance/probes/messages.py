"""Which of kafka-python's message classes do the probes use?

They are imported in one place because kafka-python reads its schemas, while it is imported, by a function of
the standard library that Python 3.11 calls deprecated; who turns warnings into errors must not fail on that.
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.errors import CorruptRecordError
    from kafka.protocol.admin import (
        AlterPartitionReassignmentsRequest,
        AlterPartitionReassignmentsResponse,
        DescribeTopicPartitionsRequest,
        DescribeTopicPartitionsResponse,
    )
    from kafka.protocol.consumer import FetchRequest, FetchResponse, ListOffsetsRequest, ListOffsetsResponse
    from kafka.protocol.metadata import (
        ApiVersionsRequest,
        ApiVersionsResponse,
        MetadataRequest,
        MetadataResponse,
    )
    from kafka.protocol.producer import ProduceRequest, ProduceResponse
    from kafka.record import MemoryRecords, MemoryRecordsBuilder

__all__ = [
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "CorruptRecordError",
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponse",
    "FetchRequest",
    "FetchResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "MemoryRecords",
    "MemoryRecordsBuilder",
    "MetadataRequest",
    "MetadataResponse",
    "ProduceRequest",
    "ProduceResponse",
]
