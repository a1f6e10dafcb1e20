"""Who may ask the page's server for what: pure checks on a request's head, and the headers sent.

The server runs commands, so it answers only to the page that it started. Three locks: it listens
on the loopback only; the `Host` must be one of its own names, which a page that rebinds its own
name to 127.0.0.1 cannot fake, and an `Origin`, where the browser sends one, must be the same;
and each request but those for the page's own files carries the token of the start URL in a
header. The token stands in the URL's fragment, which browsers send to nobody.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from typing import Protocol

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
        "trusted-types layout",
    )
)
"""Only our own files; no inline script or style; no string becomes markup, save the one policy
that names our layout worker."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TOKEN = "X-Reducekit-Token"


def new_token() -> str:
    """Return a token that cannot be guessed."""
    return secrets.token_urlsafe(24)


def hosts(address: str, port: int) -> frozenset[str]:
    """Return what the `Host` header may be for a server that listens there."""
    names = {address, "localhost", "127.0.0.1", "[::1]"}
    return frozenset(f"{name}:{port}" for name in names)


class Headers(Protocol):
    """The head of a request: names in any case."""

    def get(self, name: str, default: str, /) -> str:
        """Return a value by its name."""


def refusal(headers: Headers, allowed: frozenset[str], token: str, *, api: bool) -> str | None:
    """Say why a request is refused; None if it is not. `api`: it asks for more than our files."""
    host = headers.get("Host", "")
    if host not in allowed:
        return "this server has another name"
    origin = headers.get("Origin", "")
    if origin and origin not in {f"http://{each}" for each in allowed}:
        return "the request comes from another page"
    # Only the way to the page itself may begin elsewhere: in a file, or a link in a terminal.
    to_page = not api and headers.get("Sec-Fetch-Dest", "") == "document"
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none") and not to_page:
        return "the request comes from another page"
    if not api:
        return None
    if not hmac.compare_digest(headers.get(TOKEN, "").encode(), token.encode()):
        return "the token is missing: open the address that `reducekit ui` has printed"
    if headers.get("Content-Type", "").partition(";")[0] != "application/json":
        return "a request is JSON"
    return None
