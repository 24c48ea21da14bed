"""Supported Kafka releases: what each one is, where its jars come from and which Java runs them."""

from fault_injection.releases.brought import brought_release, newer_build
from fault_injection.releases.jars import NO_JARS, JarSet, jar_names_of_home, jars_of, schema_jar, spark_connector_jars
from fault_injection.releases.java import Java, find_java
from fault_injection.releases.pins import is_pinned
from fault_injection.releases.release import LogBinding, MetadataMode, Release, UsageError
from fault_injection.releases.table import RELEASES, find_release

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
