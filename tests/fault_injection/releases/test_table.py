"""Does the table name every supported release and refuse the rest in one clear sentence?"""

import pytest

from fault_injection.releases import RELEASES, LogBinding, MetadataMode, UsageError, find_release

ZOOKEEPER, KRAFT = MetadataMode.ZOOKEEPER, MetadataMode.KRAFT


def test_every_line_is_there_once_and_in_order() -> None:
    lines = [release.line for release in RELEASES]
    assert lines[:4] == ["0.10.2", "0.11", "1.0", "1.1"]
    assert lines[4:] == [f"{2 + i // 10}.{i % 10}" for i in range(25) if i != 9]
    assert [r.minor for r in RELEASES] == sorted({r.minor for r in RELEASES})


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("4.3", "4.3.1"),
        ("4.3.0", "4.3.0"),
        ("0.10.2", "0.10.2.2"),
        ("0.10.2.0", "0.10.2.0"),
        ("0.11", "0.11.0.3"),
        ("0.11.0", "0.11.0.3"),
        ("0.11.0.1", "0.11.0.1"),
        ("2.0.0", "2.0.0"),
        ("1.1.0", "1.1.0"),
        ("newest", "4.4.0"),
    ],
)
def test_a_release_is_found_by_line_by_patch_and_as_newest(name: str, version: str) -> None:
    assert find_release(name).version == version


@pytest.mark.parametrize("name", ["0.10.1", "0.9", "9.9", "4.3.1.1", "", "4", "4.3.x", "0.10.2.2.2", "2.9"])
def test_an_unknown_release_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match=r"is not a supported release.* 0\.10\.2, .* 4\.4\.$"):
        find_release(name)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("4.3.99", "of the line 4.3 it knows 4.3.0 to 4.3.1."),
        ("2.8.3", "of the line 2.8 it knows 2.8.0 to 2.8.2."),
        ("0.10.2.3", "of the line 0.10.2 it knows 0.10.2.0 to 0.10.2.2."),
        ("0.11.0.10", "of the line 0.11 it knows 0.11.0.0 to 0.11.0.3."),
    ],
)
def test_a_patch_that_was_never_published_is_refused_with_those_that_were(name: str, known: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_release(name)
    assert str(refused.value).startswith(f"Kafka {name!r} is not a release that this tester knows: {known}")


@pytest.mark.parametrize("name", ["four", "latest", "Newest"])
def test_a_word_is_answered_with_the_one_that_is_known(name: str) -> None:
    with pytest.raises(
        UsageError, match=rf"^Kafka '{name}' is not .* 4\.4\. The last of them is also called newest\.$"
    ):
        find_release(name)


@pytest.mark.parametrize(
    ("name", "modes"),
    [
        ("0.10.2", (ZOOKEEPER,)),
        ("3.2", (ZOOKEEPER,)),
        ("3.3", (ZOOKEEPER, KRAFT)),
        ("3.9", (ZOOKEEPER, KRAFT)),
        ("4.0", (KRAFT,)),
    ],
)
def test_metadata_modes_follow_the_release(name: str, modes: tuple[MetadataMode, ...]) -> None:
    release = find_release(name)
    assert release.metadata_modes == modes
    assert release.metadata_mode(None) is modes[-1]
    for absent in set(MetadataMode) - set(modes):
        with pytest.raises(UsageError, match=f"does not run in {absent.value} mode; it has"):
            release.metadata_mode(absent)


@pytest.mark.parametrize(
    ("name", "scala", "binding", "artifacts"),
    [
        ("0.10.2", "2.12", LogBinding.LOG4J1, {"jaxb-api"}),
        ("1.0", "2.12", LogBinding.LOG4J1, set()),
        ("1.1", "2.12", LogBinding.LOG4J1, {"slf4j-log4j12", "log4j"}),
        ("2.3", "2.12", LogBinding.LOG4J1, {"slf4j-log4j12", "log4j", "zookeeper", "zookeeper-jute"}),
        ("2.4", "2.13", LogBinding.LOG4J1, {"slf4j-log4j12", "log4j"}),
        ("3.9", "2.13", LogBinding.LOG4J1, {"slf4j-reload4j"}),
        ("4.0", "2.13", LogBinding.LOG4J2, {"log4j-slf4j-impl"}),
    ],
)
def test_each_line_gets_its_own_jars(name: str, scala: str, binding: LogBinding, artifacts: set[str]) -> None:
    release = find_release(name)
    assert release.coordinate.artifact == f"kafka_{scala}"
    assert release.log_binding is binding
    assert {jar.artifact for jar in release.extra_jars} == artifacts


def test_lines_compare_by_number() -> None:
    assert find_release("0.11").is_at_least(0, 11)
    assert not find_release("0.10.2").is_at_least(0, 11)
    assert find_release("4.0").is_at_least(3, 9)
    assert not find_release("2.8").is_at_least(3, 0)
