"""Where do the message classes come from that kafka-python does not ship?

The requests between controller and brokers are defined by JSON schemas inside every kafka-clients jar.
``load_schemas`` reads them straight from the jar and lets kafka-python build its message classes from
them; nothing is unpacked or vendored. The 3.9 jars know all of them: 4.x declares that the ZooKeeper-era
requests have no valid version. AlterIsr (2.7 to 3.1) is version 0 of AlterPartition.

Sources: kafka-clients ``common/message/*.json``.
"""

import importlib.util
import sys
import types
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

with warnings.catch_warnings():
    # kafka-python reads its own schemas through a deprecated function of importlib.resources.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.protocol.api_key import ApiKey
    from kafka.protocol.api_message import ApiMessage
    from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
    from kafka.protocol.consumer.offsets import OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse
    from kafka.protocol.producer import ProduceRequest, ProduceResponse
    from kafka.protocol.producer.transaction import (
        AddOffsetsToTxnRequest,
        AddOffsetsToTxnResponse,
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnResponse,
        EndTxnRequest,
        EndTxnResponse,
        InitProducerIdRequest,
        InitProducerIdResponse,
        TxnOffsetCommitRequest,
        TxnOffsetCommitResponse,
        WriteTxnMarkersRequest,
        WriteTxnMarkersResponse,
    )

MESSAGE_FOLDER = "common/message/"
PACKAGE = "_kafka_message_schemas"
CONTROLLER_APIS = (
    "LeaderAndIsr",
    "StopReplica",
    "UpdateMetadata",
    "ControlledShutdown",
    "AlterPartition",
    "BrokerRegistration",
    "BrokerHeartbeat",
)


_ONLY_TAGGED_FIELDS_NEW: Mapping[tuple[int, int], int] = {(63, 2): 1}
"""Versions that the 3.9 jars do not have and that only add tagged fields: BrokerHeartbeat v2 of Kafka 4.3."""


class SchemasUnreadableError(Exception):
    """The jar cannot be read or does not define the messages that are needed."""


@dataclass(frozen=True, slots=True)
class Message:
    """kafka-python's classes for one api: what decodes its requests and its responses."""

    request: Any
    response: Any

    def known_version(self, version: int) -> int | None:
        """Return the version to read and write a version as; None if it is newer than the schemas."""
        if version <= int(self.request.max_version):
            return version
        return _ONLY_TAGGED_FIELDS_NEW.get((int(self.request.API_KEY), version))


Messages = Mapping[int, Message]

SHIPPED: Messages = {
    ProduceRequest.API_KEY: Message(ProduceRequest, ProduceResponse),
    FetchRequest.API_KEY: Message(FetchRequest, FetchResponse),
    OffsetForLeaderEpochRequest.API_KEY: Message(OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse),
    InitProducerIdRequest.API_KEY: Message(InitProducerIdRequest, InitProducerIdResponse),
    AddPartitionsToTxnRequest.API_KEY: Message(AddPartitionsToTxnRequest, AddPartitionsToTxnResponse),
    AddOffsetsToTxnRequest.API_KEY: Message(AddOffsetsToTxnRequest, AddOffsetsToTxnResponse),
    EndTxnRequest.API_KEY: Message(EndTxnRequest, EndTxnResponse),
    WriteTxnMarkersRequest.API_KEY: Message(WriteTxnMarkersRequest, WriteTxnMarkersResponse),
    TxnOffsetCommitRequest.API_KEY: Message(TxnOffsetCommitRequest, TxnOffsetCommitResponse),
}


def api_name(api_key: int) -> str:
    """Return Kafka's name of an api, or its number when it has none here."""
    try:
        return str(ApiKey(api_key).name)
    except ValueError:
        return str(api_key)


class _JarReader:
    """Offers a folder of a jar the way ``importlib.resources`` asks for a package's files."""

    def __init__(self, folder: zipfile.Path) -> None:
        self._folder = folder

    def create_module(self, _spec: ModuleSpec) -> types.ModuleType | None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run: the package only has files."""

    def get_resource_reader(self, _name: str) -> "_JarReader":
        return self

    def files(self) -> zipfile.Path:
        return self._folder


def load_schemas(jar: Path) -> Messages:
    """Build the message classes of the controller's requests from a kafka-clients jar, 3.9 for all of them.

    Args:
        jar: a kafka-clients jar, or any zip file with ``common/message/*.json``.

    Returns:
        The messages by api key, those that kafka-python ships included.

    Raises:
        SchemasUnreadableError: the jar cannot be read or misses a message.
    """
    try:
        with zipfile.ZipFile(jar) as archive:
            loaded = _classes(zipfile.Path(archive, MESSAGE_FOLDER))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError, TypeError) as error:
        raise SchemasUnreadableError(f"{jar}: {error}") from error
    return {**SHIPPED, **loaded}


def _classes(folder: zipfile.Path) -> dict[int, Message]:
    loader: Any = _JarReader(folder)  # as much of a loader as importlib.resources asks for
    package = importlib.util.module_from_spec(ModuleSpec(PACKAGE, loader, is_package=True))
    sys.modules[PACKAGE] = package
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pairs = [
                Message(_new(f"{api}Request", package), _new(f"{api}Response", package)) for api in CONTROLLER_APIS
            ]
    finally:
        del sys.modules[PACKAGE]
    return {int(pair.request.API_KEY): pair for pair in pairs}


def _new(name: str, package: types.ModuleType) -> Any:  # noqa: ANN401 - kafka-python is untyped
    return types.new_class(name, (ApiMessage,), {"load_json": package})
