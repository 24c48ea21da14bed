"""Supported Kafka releases: what each one is, where its jars come from and which Java runs them."""

from fault_injection.releases.jars import (
    NO_JARS,
    JarSet,
    is_pinned,
    jar_names_of_home,
    jars_of,
    schema_jar,
    spark_connector_jars,
)
from fault_injection.releases.release import Java, LogBinding, MetadataMode, Release, UsageError, find_java
from fault_injection.releases.table import RELEASES, brought_release, find_release, newer_build

__all__ = [
    "NO_JARS",
    "RELEASES",
    "JarSet",
    "Java",
    "LogBinding",
    "MetadataMode",
    "Release",
    "UsageError",
    "brought_release",
    "find_java",
    "find_release",
    "is_pinned",
    "jar_names_of_home",
    "jars_of",
    "newer_build",
    "schema_jar",
    "spark_connector_jars",
]
