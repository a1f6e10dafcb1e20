"""A page's server in this process, and requests to it as no browser would make them."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reducekit.ui.api import Api
from reducekit.ui.documents import Folders, Settings
from reducekit.ui.server import Server

PATIENCE = 90.0
"""Seconds after which what should happen at once has failed."""


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Serving:
    """A running server, and the folder that it has opened."""

    server: Server
    folder: Path

    @property
    def api(self) -> Api:
        return self.server.api

    def request(
        self,
        path: str,
        body: object = None,
        *,
        method: str = "POST",
        headers: Mapping[str, str | None] | None = None,
        raw: bytes | None = None,
    ) -> Reply:
        """Ask as the page does, but for what `headers` say; None leaves one out."""
        port = self.server.server_port
        sent: dict[str, str | None] = {
            "Host": f"127.0.0.1:{port}",
            "X-Reducekit-Token": self.server.token,
            "Content-Type": "application/json",
            **(headers or {}),
        }
        data = raw if raw is not None else json.dumps(body or {}).encode()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if method == "POST":
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data if method == "POST" else None)
            response = connection.getresponse()
            return Reply(response.status, dict(response.headers), response.read())
        finally:
            connection.close()

    def ask(self, name: str, /, **body: object) -> Any:
        """Return the answer to a request that must succeed."""
        reply = self.request(f"/api/{name}", body)
        assert reply.status == 200, reply.json
        return reply.json

    def refused(self, name: str, /, **body: object) -> str:
        """Return why a request is refused."""
        reply = self.request(f"/api/{name}", body)
        assert reply.status == 400, reply.body
        error: str = reply.json["error"]
        return error

    def finished(self, number: int) -> Any:
        """Wait for the end of a run, and return its state."""
        assert self.api.runs.wait_for_end(number, PATIENCE)
        return self.api.runs.get(number)

    def wait(self, holds: Any) -> None:
        """Wait until something holds."""
        until = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < until
            time.sleep(0.02)


@contextlib.contextmanager
def serving(folder: Path, opened: Path | None = None) -> Iterator[Serving]:
    """Serve a folder: a new one in `folder`, which has the settings, too, or an `opened` one."""
    if opened is None:
        opened = folder / "opened"
        opened.mkdir()
    api = Api(Folders([opened]), Settings(folder / "settings" / "ui.json"))
    server = Server(api)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Serving(server, opened)
    finally:
        server.stop()
        thread.join()
