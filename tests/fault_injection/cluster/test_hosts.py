"""Which hosts can brokers be advertised at, and what is said of the others?"""

import socket

import pytest

from fault_injection.cluster.hosts import AdvertisedHost, address_seen_at, advertised_host
from fault_injection.releases import UsageError


@pytest.mark.parametrize(
    ("text", "name"), [("127.0.0.2", "127.0.0.2"), ("127.2", "127.0.0.2"), ("localhost", "localhost")]
)
def test_a_host_of_this_machine_is_bound_by_its_address_and_told_by_its_name(text: str, name: str) -> None:
    host = advertised_host(text)
    assert host == AdvertisedHost(name, socket.gethostbyname(text))
    assert host.is_seen_here_alone


def test_an_address_that_others_reach_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 0)) for one in ("127.0.1.1", "198.51.100.1", "10.1.2.3")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    monkeypatch.setattr("fault_injection.cluster.hosts.address_seen_at", _seen_at)
    assert advertised_host("here") == AdvertisedHost("here", "10.1.2.3")
    assert not advertised_host("here").is_seen_here_alone


def _seen_at(address: str) -> str:
    if address.startswith("198."):
        raise OSError("it is another machine's")
    return address


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("198.51.100.1", "--advertise 198.51.100.1: 198.51.100.1 is no address of this machine"),
        ("0.0.0.0", "is no address of this machine"),
        ("255.255.255.255", "is no address of this machine"),
        ("224.0.0.1", "is no address of this machine"),
        ("there.invalid", "--advertise there.invalid: it does not resolve ("),
        ("", "--advertise '': it does not resolve ("),
        ("a" * 70, "it does not resolve ("),
        ("here:9092", "a host alone is wanted"),
        ("::1", "a host alone is wanted"),
    ],
)
def test_what_brokers_cannot_listen_on_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        advertised_host(text)
    assert says in str(refused.value)


def test_a_name_of_another_machine_is_told_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("198.51.100.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: found)
    with pytest.raises(UsageError, match=r"there: it resolves to 198\.51\.100\.1, which is no address of this machine"):
        advertised_host("there")


def test_on_loopback_this_machine_is_seen_as_itself() -> None:
    assert address_seen_at("127.0.0.1") == "127.0.0.1"


def test_the_address_of_another_machine_is_none_of_ours() -> None:
    with pytest.raises(OSError, match=r"assign|unreachable"):
        address_seen_at("198.51.100.1")
