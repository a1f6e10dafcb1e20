"""The web server of the page: its own files, requests as JSON, and one stream of updates.

It is the standard library's server: one user with a few requests per second needs no more, and
nothing has to be installed. The stream is a response that does not end: lines of JSON, one for each
update of the runs.

The server runs commands, so it answers only to the page that it opened. It has three safeguards: it
listens on the loopback interface only; the `Host` must be one of its own names or addresses, which
a page that rebinds its name to 127.0.0.1 cannot fake, and an `Origin`, if the browser sends one,
must match. The port does not count: through `ssh -L` it is that of the tunnel. And each request
except those for the page's own files carries the token of the start URL in a header. The token is
in the URL's fragment, which browsers do not send.
"""

from __future__ import annotations

import fcntl
import hmac
import ipaddress
import json
import secrets
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Protocol

from reducekit.errors import ReducekitError
from reducekit.ui.api import Api
from reducekit.ui.catalogue import worded
from reducekit.ui.documents import summary

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types workers",
    )
)
"""Only our own files; no inline script or style; no string becomes a script's address, except by
the policy that names our workers."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TOKEN = "X-Reducekit-Token"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_BODY = 400 << 20  # bytes: fits a file of 256 MB in base64
_BEAT = 5.0
"""Seconds after which the stream sends a sign of life."""
_REQUESTS = frozenset(
    name for name, found in vars(Api).items() if callable(found) and not name.startswith("_")
) - {"stop"}


def new_token() -> str:
    """Return an unguessable token."""
    return secrets.token_urlsafe(24)


def is_own(host: str, address: str) -> bool:
    """Return whether a `Host` header names a server that listens on this address.

    A page on the network can point its own name at us, but not an address, and not `localhost`.
    """
    name, colon, port = host.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit():
        return False
    if name in ("localhost", address, f"[{address}]"):
        return True
    ours = ipaddress.ip_address(address)
    try:
        found = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return not ours.is_loopback and name in (socket.gethostname(), socket.getfqdn())
    return found.is_loopback or ours.is_unspecified


def reachable(address: str) -> list[str]:
    """Return the addresses at which a server on this address can be reached from elsewhere."""
    if not ipaddress.ip_address(address).is_unspecified:
        return [address]
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                request = 0x8915  # SIOCGIFADDR
                answer = fcntl.ioctl(probe, request, struct.pack("256s", name.encode()))
            except OSError:
                continue  # this interface has no address
            found.append(socket.inet_ntoa(answer[20:24]))
    return sorted(found, key=lambda each: ipaddress.ip_address(each).is_loopback) or ["127.0.0.1"]


class Headers(Protocol):
    """The headers of a request; names are case-insensitive."""

    def get(self, name: str, default: str, /) -> str:
        """Return a value by its name."""


def refusal(headers: Headers, address: str, token: str, *, api: bool) -> str | None:
    """Return why a request is refused, None if it is not. `api`: it is not for a static file."""
    host = headers.get("Host", "")
    if not is_own(host, address):
        return "the Host header does not name this server"
    origin = headers.get("Origin", "")
    if origin and origin != f"http://{host}":
        return "the request comes from another page"
    # Only navigation to the page itself may start elsewhere: a file, or a link in a terminal.
    to_page = not api and headers.get("Sec-Fetch-Dest", "") == "document"
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none") and not to_page:
        return "the request comes from another page"
    if not api:
        return None
    if not hmac.compare_digest(headers.get(TOKEN, "").encode(), token.encode()):
        return "the token is missing: open the address that `reducekit ui` has printed"
    if headers.get("Content-Type", "").partition(";")[0] != "application/json":
        return "the request body must be JSON"
    return None


def assets() -> dict[str, tuple[str, bytes]]:
    """Return the page's files, with their types, by URL path: there are no others."""
    found = {}
    for entry in files("reducekit.ui").joinpath("static").iterdir():
        kind = _TYPES.get(entry.name[entry.name.rfind(".") :])
        if kind is not None:
            path = "/" if entry.name == "index.html" else f"/{entry.name}"
            found[path] = (kind, entry.read_bytes())
    return found


class Server(ThreadingHTTPServer):
    """Serves the page. `url` is its start address, with the token in the fragment."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256
    """The default of 5 makes a page wait for seconds when many clients connect at once."""

    def __init__(self, api: Api, address: str = "127.0.0.1", port: int = 0) -> None:
        if ":" in address:
            self.address_family = socket.AF_INET6
        super().__init__((address, port), Handler)
        self.api = api
        self.address = address
        self.token = new_token()
        self.assets = assets()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """The page's start address."""
        return self.urls[0]

    @property
    def urls(self) -> list[str]:
        """The page's start address at each address of this machine that it listens on."""
        names = [f"[{each}]" if ":" in each else each for each in reachable(self.address)]
        return [f"http://{name}:{self.server_port}/#{self.token}" for name in names]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that disconnect; anything else is a bug."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """End all runs, streams and requests."""
        self.closing.set()
        self.api.stop()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 30
    """Seconds that a connection may be silent within a request: half-sent ones hold a thread."""
    server_version = "reducekit"
    sys_version = ""

    def do_GET(self) -> None:
        """Send one of the page's files."""
        if self._refused(api=False):
            return
        found = self.server.assets.get(self.path.partition("?")[0])
        if found is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"not found\n")
        else:
            self._send(HTTPStatus.OK, *found)

    def do_POST(self) -> None:
        """Answer a request."""
        if self._refused(api=True):
            return
        name = self.path.removeprefix("/api/")
        if name == "stream" and self.path != name:
            self._read()
            self._stream()
        elif name in _REQUESTS and self.path != name:
            self._answer(getattr(self.server.api, name))
        else:
            self._say(HTTPStatus.NOT_FOUND, {"error": f"unknown request {name!r}"})

    def _answer(self, method: Callable[..., Mapping[str, Any]]) -> None:
        try:
            body = json.loads(self._read() or b"{}")
            if not isinstance(body, dict):
                raise ValueError("the request body must be a JSON object")
        except (ValueError, RecursionError) as error:
            self._say(HTTPStatus.BAD_REQUEST, {"error": f"invalid request: {error}"})
            return
        try:
            found = method(**body)
        except ReducekitError as error:
            self._say(HTTPStatus.BAD_REQUEST, {"error": worded(error)})
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            # Usually a request with wrong arguments.
            self._say(HTTPStatus.BAD_REQUEST, {"error": f"{type(error).__name__}: {error}"})
        else:
            self._say(HTTPStatus.OK, found)

    def _stream(self) -> None:
        """Send updates until the page or the server is closed."""
        self.send_response(HTTPStatus.OK)
        self._head("application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        known: dict[int, tuple[int, int, int]] = {}
        runs, documents = self.server.api.runs, self.server.api.documents
        seen = -1

        def more() -> bool:
            return documents.version != seen

        while (news := runs.news(known, _BEAT, more)) is not None:
            found: dict[str, Any] = {"runs": news}
            if more():
                seen = documents.version
                found["last"] = documents.last
                found["documents"] = [summary(each) for each in documents.all()]
            line = json.dumps(found).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            # Nobody can see more than ten updates a second.
            if self.server.closing.wait(0.1):
                break
        self.wfile.write(b"0\r\n\r\n")

    def _refused(self, *, api: bool) -> bool:
        """Refuse a request that does not come from our page; return whether it was refused."""
        server = self.server
        reason = refusal(self.headers, server.address, server.token, api=api)
        if reason is None:
            return False
        self.close_connection = True
        self._say(HTTPStatus.FORBIDDEN, {"error": reason})
        return True

    def _read(self) -> bytes:
        """Read the body of a request."""
        size = int(self.headers.get("Content-Length") or 0)
        if not 0 <= size <= _BODY:
            self.close_connection = True
            raise ValueError("it is too long")
        return self.rfile.read(size)

    def _say(self, status: HTTPStatus, found: Mapping[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(found).encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self._head(kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _head(self, kind: str) -> None:
        self.send_header("Content-Type", kind)
        for name, value in HEADERS.items():
            self.send_header(name, value)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a malformed request as all others are: with the headers, without markup."""
        self.close_connection = True
        self._say(HTTPStatus(code), {"error": message or HTTPStatus(code).phrase})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: the terminal belongs to the user."""
