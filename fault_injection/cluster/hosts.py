"""At which addresses of this machine are clients elsewhere told to reach brokers, and is it seen from itself?"""

import socket
from dataclasses import dataclass
from ipaddress import ip_address

from fault_injection.releases import UsageError


@dataclass(frozen=True, slots=True)
class AdvertisedHost:
    """A host of this machine at which clients elsewhere reach brokers.

    Attributes:
        name: what clients are told: a name, or the address itself.
        address: the IPv4 address of this machine that CLIENT listeners are bound to, and no other.
    """

    name: str
    address: str

    @property
    def is_seen_here_alone(self) -> bool:
        """Return whether no other machine can reach it."""
        return ip_address(self.address).is_loopback


def advertised_host(text: str) -> AdvertisedHost:
    """Return a host of this machine at which clients elsewhere are to reach brokers.

    Args:
        text: a name or an IPv4 address; a name must be one that the others resolve, too.

    Raises:
        UsageError: it does not resolve, or to no address of this machine, or is every address at once; says which.
    """
    try:
        found = socket.getaddrinfo(text, None, socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--advertise {text or repr(text)}: {_unresolved(text, error)}") from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    own = [one for one in addresses if _is_own(one)]
    if not own:
        words = text if addresses == [text] else f"it resolves to {', '.join(addresses)}, which"
        raise UsageError(f"--advertise {text}: {words} is no address of this machine that brokers can listen on.")
    outward = [one for one in own if not ip_address(one).is_loopback]
    address = (outward or own)[0]
    return AdvertisedHost(address if text[:1].isdigit() and text not in own else text, address)


def _unresolved(text: str, error: Exception) -> str:
    """Say why a host does not resolve."""
    if ":" in text:
        return "a host alone is wanted, a name or an IPv4 address, without a port: brokers get free ones."
    return f"it does not resolve ({error.strerror if isinstance(error, OSError) else error})."


def _is_own(address: str) -> bool:
    """Return whether an address is one of this machine's, and one alone: it can be listened on, and be reached."""
    try:
        address_seen_at(address)
    except OSError:
        return False
    return not ip_address(address).is_unspecified


def address_seen_at(host: str) -> str:
    """Return the address that this machine's own connections to one of its hosts come from; NAT may have changed it.

    Raises:
        OSError: the host is none of this machine's.
    """
    with (
        socket.create_server((host, 0)) as server,
        socket.create_connection(server.getsockname()),
        server.accept()[0] as accepted,
    ):
        return str(accepted.getpeername()[0])
