"""Access control of the page's server: pure checks of request headers, and the headers to send.

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
import secrets
import socket
import struct
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
                answer = fcntl.ioctl(
                    probe, 0x8915, struct.pack("256s", name.encode())
                )  # SIOCGIFADDR
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
