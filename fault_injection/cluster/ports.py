"""Which ports may a cluster use, so that nobody takes one while its broker is down?

The kernel picks free ports. Each one stays bound, without listening, for as long as the reservation lives:
the kernel then gives it to nobody else, neither to another program nor to an outgoing connection, while a
broker, which binds with SO_REUSEADDR as Java does, can listen on it, die, and listen on it again. A
connection to a port that is only reserved is refused, as for any dead port.
"""

import socket


class PortReservation:
    """Ports of one host that are kept for one cluster."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self._host = host
        self._sockets: list[socket.socket] = []

    def port(self) -> int:
        """Reserve one more port."""
        reserved = socket.socket()
        reserved.bind((self._host, 0))
        # Only now: a socket that allows reuse before it is bound could be given a port that is in use.
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._sockets.append(reserved)
        return int(reserved.getsockname()[1])

    def close(self) -> None:
        """Give all ports back."""
        for reserved in self._sockets:
            reserved.close()
        self._sockets.clear()


def address_seen_at(host: str) -> str:
    """Give the address that this machine's own connections to one of its hosts come from; NAT may have changed it.

    Raises:
        OSError: the host is none of this machine's.
    """
    with (
        socket.create_server((host, 0)) as server,
        socket.create_connection(server.getsockname()),
        server.accept()[0] as accepted,
    ):
        return str(accepted.getpeername()[0])
