"""The web server of the page: its own files, requests as JSON, and one stream of updates.

It is the standard library's server: one user with a few requests per second needs no more, and
nothing has to be installed. The stream is a response that does not end: lines of JSON, one for each
update of the runs.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from reducekit.errors import ReducekitError
from reducekit.ui import safety
from reducekit.ui.api import Api
from reducekit.ui.documents import summary
from reducekit.ui.wording import worded

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


def assets() -> dict[str, tuple[str, bytes]]:
    """Return the page's files, with their types, by URL path: there are no others."""
    folder = files("reducekit.ui").joinpath("static")
    found = {}
    for entry in folder.iterdir():
        name = entry.name
        kind = _TYPES.get(name[name.rfind(".") :])
        if kind is not None:
            found["/" if name == "index.html" else f"/{name}"] = (kind, entry.read_bytes())
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
        self.token = safety.new_token()
        self.assets = assets()
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        """The page's start address."""
        return self.urls[0]

    @property
    def urls(self) -> list[str]:
        """The page's start address at each address of this machine that it listens on."""
        names = [f"[{each}]" if ":" in each else each for each in safety.reachable(self.address)]
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
        reason = safety.refusal(self.headers, server.address, server.token, api=api)
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
        for name, value in safety.HEADERS.items():
            self.send_header(name, value)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a malformed request as all others are: with the headers, without markup."""
        self.close_connection = True
        self._say(HTTPStatus(code), {"error": message or HTTPStatus(code).phrase})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing: the terminal belongs to the user."""
