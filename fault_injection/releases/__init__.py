"""Supported Kafka releases: what each one is, where its jars come from and which Java runs them."""

from fault_injection.releases.errors import UsageError
from fault_injection.releases.jars import JarSet, jars_of, schema_jar, spark_connector_jars
from fault_injection.releases.java import Java, find_java
from fault_injection.releases.release import LogBinding, MetadataMode, Release
from fault_injection.releases.table import RELEASES, find_release

__all__ = [
    "RELEASES",
    "JarSet",
    "Java",
    "LogBinding",
    "MetadataMode",
    "Release",
    "UsageError",
    "find_java",
    "find_release",
    "jars_of",
    "schema_jar",
    "spark_connector_jars",
]
