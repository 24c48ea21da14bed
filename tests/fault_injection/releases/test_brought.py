"""Is the release of a Kafka that a user brings told by its jars, and one that cannot be judged refused?"""

import pytest

from fault_injection.releases import UsageError, brought_release, find_release, newer_build

DISTRIBUTION_OF_OLD = [
    "kafka-clients-0.10.2.2.jar",
    "kafka_2.12-0.10.2.2.jar",
    "kafka_2.12-0.10.2.2-sources.jar",
    "kafka_2.12-0.10.2.2-test-sources.jar",
    "kafka_2.12-0.10.2.2-javadoc.jar",
    "kafka-streams-examples-0.10.2.2.jar",
    "zookeeper-3.4.9.jar",
]


@pytest.mark.parametrize(
    ("jars", "requested", "version"),
    [
        (["kafka_2.13-3.9.2.jar", "kafka-clients-3.9.2.jar"], "newest", "3.9.2"),
        (["kafka_2.13-3.9.1.jar"], "newest", "3.9.1"),
        (["kafka_2.13-3.9.1.jar"], "3.9", "3.9.1"),
        (["kafka_2.13-3.9.1.jar"], "3.9.1", "3.9.1"),
        (DISTRIBUTION_OF_OLD, "newest", "0.10.2.2"),
        (["kafka_2.11-2.0.0-cp1.jar"], "newest", "2.0.0"),
        (["kafka_2.13-4.3.0-SNAPSHOT.jar"], "newest", "4.3.0"),
        (["kafka_2.13-7.9.1-ccs.jar"], "newest", "3.9.2"),
        (["kafka_2.13-7.9.1-ccs.jar"], "3.9.1", "3.9.1"),
        (["kafka_2.13-8.3.0-ce.jar"], "4.3", "4.3.1"),
        (["kafka_2.12-5.3.0-ccs.jar"], "newest", "2.3.1"),
    ],
)
def test_the_jar_of_the_broker_tells(jars: list[str], requested: str, version: str) -> None:
    assert brought_release(jars, "--kafka-home kafka", requested).version == version


@pytest.mark.parametrize(
    ("jar", "build"),
    [
        ("kafka_2.13-3.9.2.jar", "3.9.2"),
        ("kafka_2.13-4.3.0-SNAPSHOT.jar", "4.3.0-SNAPSHOT"),
        ("kafka_2.13-7.9.1-ccs.jar", "7.9.1-ccs"),
    ],
)
def test_the_jar_s_own_version_is_kept(jar: str, build: str) -> None:
    assert brought_release([jar], "--kafka-home kafka").build == build


def test_a_build_newer_than_every_release_is_taken_as_the_one_that_is_named() -> None:
    taken = newer_build(["kafka_2.13-9.9.0-SNAPSHOT.jar"], "--kafka-home kafka", find_release("4.3.1"))
    assert (taken.version, taken.build) == ("4.3.1", "9.9.0-SNAPSHOT")
    with pytest.raises(UsageError, match=r"holds Kafka 3\.9\.2, and the rules of 3\.9 are known"):
        newer_build(["kafka_2.13-3.9.2.jar"], "--kafka-home kafka", find_release("4.3.1"))


@pytest.mark.parametrize(
    ("jars", "requested", "sentence"),
    [
        (["kafka_2.13-3.9.1.jar"], "3.9.2", "holds Kafka 3.9.1, but --kafka 3.9.2 was asked for."),
        (["kafka_2.13-3.9.2.jar"], "4.3", "holds Kafka 3.9.2, but --kafka 4.3 was asked for."),
        (["kafka_2.13-7.9.1-ccs.jar"], "4.3.1", "holds Kafka 3.9, but --kafka 4.3.1 was asked for."),
        (["kafka-clients-3.9.2.jar"], "newest", "holds no Kafka broker: there is no kafka_<Scala>-<version>.jar."),
        (["kafka_2.12-3.9.2-test.jar"], "newest", "holds no Kafka broker: there is no kafka_<Scala>-<version>.jar."),
        ([], "newest", "holds no Kafka broker: there is no kafka_<Scala>-<version>.jar."),
        (["kafka_2.13-3.9.2.jar", "kafka_2.12-2.0.1.jar"], "newest", "holds more than one Kafka: 2.0.1, 3.9.2."),
        (["kafka_2.13-9.9.0.jar"], "newest", "holds a Kafka that cannot be judged: Kafka '9.9.0' is not a supported"),
        (["kafka_2.13-9.1.0-ccs.jar"], "newest", "holds a Kafka that cannot be judged: Kafka '9.1.0-ccs' is not a"),
    ],
)
def test_a_kafka_that_cannot_be_judged_is_refused(jars: list[str], requested: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        brought_release(jars, "--kafka-home kafka", requested)

    assert str(refused.value).startswith(f"--kafka-home kafka {sentence}")
