"""Is it told why no broker answers: a port that is closed at once, a failed TLS handshake by what it comes from?"""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import time
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from conformance.clients.client_settings import ClientSettings
from conformance.clients.connecting import UnreadableClusterError, connected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE_S = 2.0


def _signed(folder: Path, name: str, alternative: str, days: str = "2") -> None:
    """Write a certificate that signs itself, and its key."""
    new = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", days, "-subj", f"/CN={name}")
    files = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-addext", f"subjectAltName={alternative}")
    subprocess.run(["openssl", *new, *files], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    _signed(folder, "here", "IP:127.0.0.1")
    _signed(folder, "elsewhere", "DNS:elsewhere")
    return folder


def _as_tls(certificate: Path, *, is_asked: bool = False, newest: ssl.TLSVersion | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    if is_asked:
        context.verify_mode = ssl.CERT_REQUIRED
    if newest is not None:
        context.maximum_version = newest
    return context


@contextlib.contextmanager
def _listening(context: ssl.SSLContext | None) -> Iterator[str]:
    """Listen, with TLS or as a server that speaks none and says so in its own words."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=_answer, args=(listener, context), daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def _answer(listener: socket.socket, context: ssl.SSLContext | None) -> None:
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                if context is None:
                    connection.recv(64)
                    connection.sendall(b"220 no TLS is spoken here\r\n")
                else:
                    with context.wrap_socket(connection, server_side=True) as secured:
                        secured.recv(1)


CASES: dict[str, tuple[Callable[[Path], ssl.SSLContext | None], str, str]] = {
    "nobody trusts it": (lambda folder: _as_tls(folder / "here.pem"), "elsewhere.pem", "has nobody who signed"),
    "another host": (lambda folder: _as_tls(folder / "elsewhere.pem"), "elsewhere.pem", "is for another host"),
    "no TLS": (lambda _: None, "here.pem", "is TLS spoken at this port"),
    "a certificate is asked for": (
        lambda folder: _as_tls(folder / "here.pem", is_asked=True, newest=ssl.TLSVersion.TLSv1_2),
        "here.pem",
        "it wants a certificate of yours",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_failed_handshake_is_told_by_what_it_comes_from(case: str, certificates: Path) -> None:
    context, trusted, told = CASES[case]
    client = ClientSettings("SSL", ca_file=str(certificates / trusted))
    with (
        _listening(context(certificates)) as server,
        pytest.raises(UnreadableClusterError, match=told) as refused,
        connected([server], client, PATIENCE_S),
    ):
        pass
    assert sum(other in str(refused.value) for _, _, other in CASES.values()) == 1


def test_a_closed_port_is_told_at_once() -> None:
    began = time.monotonic()
    closed = ["127.0.0.1:1", "[::1]:1"]
    with pytest.raises(UnreadableClusterError, match="Connection refused"), connected(closed, ClientSettings(), 60):
        pass
    assert time.monotonic() - began < 5


def test_a_name_that_nobody_knows_is_told_beside_a_closed_port() -> None:
    asked = ["127.0.0.1:1", "no-such-host.invalid:9092"]
    with (
        pytest.raises(UnreadableClusterError, match=r"127\.0\.0\.1:1: Connection refused; no-such-host\.invalid"),
        connected(asked, ClientSettings(), 60),
    ):
        pass
