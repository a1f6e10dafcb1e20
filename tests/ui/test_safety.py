"""Attacks on the page's server: each must fail, and the page's own request must not."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.ui.documents import Folders
from reducekit.ui.server import Handler, is_own, new_token, reachable, refusal
from tests.ui.serving import Serving

EVIL = "http://evil.example"


def test_the_page_itself_is_answered(served: Serving) -> None:
    origin = f"http://127.0.0.1:{served.server.server_port}"
    reply = served.request(
        "/api/hello", headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    )
    assert reply.status == 200
    assert reply.json["folders"] == [str(served.folder)]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1.evil.example:{port}"},
        {"Host": None},
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-Reducekit-Token": None},
        {"X-Reducekit-Token": ""},
        {"X-Reducekit-Token": "x" * 32},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["hello", "run", "stream"])
def test_foreign_requests_are_refused(
    served: Serving, headers: dict[str, str | None], name: str
) -> None:
    port = served.server.server_port
    filled = {key: value and value.format(port=port) for key, value in headers.items()}
    reply = served.request(f"/api/{name}", headers=filled)
    assert reply.status == 403
    assert set(reply.json) == {"error"}


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": EVIL}], ids=str)
def test_foreign_pages_get_not_even_our_files(
    served: Serving, headers: dict[str, str | None]
) -> None:
    assert served.request("/", method="GET", headers=headers).status == 403


def test_the_files_of_the_page_need_no_token_and_are_locked_down(served: Serving) -> None:
    reply = served.request("/", method="GET", headers={"X-Reducekit-Token": None})
    assert reply.status == 200
    assert served.server.token.encode() not in reply.body
    policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert not [name for name in reply.headers if name.lower().startswith("access-control")]


def test_a_link_elsewhere_may_lead_to_the_page_but_not_fetch_it(served: Serving) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site"}
    led = served.request("/", method="GET", headers={**foreign, "Sec-Fetch-Dest": "document"})
    assert led.status == 200
    for kind in ("script", "iframe", "empty", "image"):
        headers = {**foreign, "Sec-Fetch-Dest": kind}
        assert served.request("/main.js", method="GET", headers=headers).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/../safety.py", "/..%2fsafety.py", "/static/../safety.py", "//etc/passwd", "/etc/passwd",
        "/%2e%2e/%2e%2e/pyproject.toml", "/main.js/../../safety.py", "/.", "/index.html%00.js",
    ],
)  # fmt: skip
def test_no_file_but_our_own_is_sent(served: Serving, path: str) -> None:
    assert served.request(path, method="GET").status == 404


@pytest.mark.parametrize("name", ["", "stop", "_run", "__init__", "runs", "folders/../hello", "x"])
def test_only_requests_are_methods(served: Serving, name: str) -> None:
    assert served.request(f"/api/{name}").status == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "HEAD"])
def test_other_methods_are_refused(served: Serving, method: str) -> None:
    assert served.request("/api/hello", method=method).status == 501


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b"\xff", b'"x"', b"{}" * 2, b'{"x": NaN, }'])
def test_a_body_that_is_no_request(served: Serving, raw: bytes) -> None:
    assert served.request("/api/open", raw=raw).status == 400


def test_an_endless_body_is_not_read(served: Serving) -> None:
    reply = served.request("/api/open", headers={"Content-Length": str(1 << 40)}, raw=b"")
    assert reply.status == 400


def test_the_server_listens_on_the_loopback_only(served: Serving) -> None:
    assert served.server.socket.getsockname()[0] == "127.0.0.1"
    with (
        socket.socket(socket.AF_INET6) as other,
        pytest.raises(OSError, match=r"refused|unreachable|unavailable|assign"),
    ):
        other.connect(("::1", served.server.server_port))


def test_tokens_cannot_be_guessed() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert all(len(new_token()) >= 32 for _ in range(10))


def test_a_token_with_other_letters_is_refused_and_not_a_crash() -> None:
    headers = {"Host": "localhost:1", "X-Reducekit-Token": "é", "Content-Type": "application/json"}
    assert "token" in (refusal(headers, "127.0.0.1", "secret", api=True) or "")


@pytest.mark.parametrize(
    ("host", "address", "answered"),
    [
        ("localhost:8080", "127.0.0.1", True),  # through ssh -L
        ("[::1]:8080", "127.0.0.1", True),
        ("192.0.2.7:8080", "127.0.0.1", False),
        ("192.0.2.7:8080", "0.0.0.0", True),
        ("[2001:db8::7]:8080", "::", True),
        ("192.0.2.7:8080", "192.0.2.7", True),
        ("192.0.2.8:8080", "192.0.2.7", False),
        (f"{socket.gethostname()}:8080", "0.0.0.0", True),
        ("evil.example:8080", "0.0.0.0", False),
        ("localhost.evil.example:8080", "127.0.0.1", False),
        ("localhost:", "127.0.0.1", False),
    ],
)
def test_whom_a_host_names(host: str, address: str, answered: bool) -> None:
    assert is_own(host, address) is answered


def test_a_tunnel_leads_to_the_page_and_no_other_page_does(served: Serving) -> None:
    for origin, status in (("http://localhost:8080", 200), ("http://localhost:8081", 403)):
        headers = {"Host": "localhost:8080", "Origin": origin}
        assert served.request("/api/hello", headers=headers).status == status


def test_an_address_is_printed_that_others_can_reach() -> None:
    found = reachable("0.0.0.0")
    assert "0.0.0.0" not in found
    assert found
    assert all(is_own(f"{each}:80", "0.0.0.0") for each in found)


def test_errors_carry_the_policy_and_nesting_is_no_crash(served: Serving) -> None:
    reply = served.request("/api/hello", method="PUT")
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    deep = b"[" * 200_000
    assert served.request("/api/hello", raw=deep).status == 400


def test_half_sent_requests_hold_no_thread(
    served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.3)
    port = served.server.server_address[1]
    before = threading.active_count()
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    for each in sockets:
        each.sendall(b"POST /api/hello HTTP/1.1\r\nContent-Length: 9\r\n")
    served.wait(lambda: threading.active_count() > before)
    assert served.ask("hello")
    served.wait(lambda: threading.active_count() <= before + 1)
    for each in sockets:
        each.close()


class TestFolders:
    """Paths that lead out of the opened folders."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        inside = tmp_path / "inside"
        inside.mkdir()
        (tmp_path / "secret").write_text("secret")
        (tmp_path / "inside-too").mkdir()
        (tmp_path / "inside-too" / "secret").write_text("secret")
        (inside / "link").symlink_to(tmp_path / "secret")
        (inside / "out").symlink_to(tmp_path)
        (inside / "good").write_text("good")
        (inside / "to-good").symlink_to(inside / "good")
        (inside / ".hidden").write_text("hidden")
        os.mkfifo(inside / "pipe")
        return inside

    @pytest.mark.parametrize(
        "name",
        [
            "../secret", "link", "out/secret", "/etc/passwd", "./../secret", "good/../../secret",
            "../inside-too/secret", "..", "/", "", "\0", "good\0", "~/x", "/proc/self/environ",
        ],
    )  # fmt: skip
    def test_reading(self, folder: Path, name: str) -> None:
        with pytest.raises(UsageError):
            Folders([folder]).read(name)

    @pytest.mark.parametrize("name", ["../new", "out/new", "link", "/tmp/reducekit-attack", "out"])
    def test_writing(self, folder: Path, name: str) -> None:
        with pytest.raises(UsageError):
            Folders([folder]).write(name, b"x", replace=True)
        assert not (folder.parent / "new").exists()
        assert (folder.parent / "secret").read_text() == "secret"

    def test_what_may_be_read_is(self, folder: Path) -> None:
        folders = Folders([folder])
        assert folders.read("good") == folders.read(folder / "to-good") == b"good"
        assert [each.name for each in folders.entries(".")] == ["good", "to-good"]

    def test_a_pipe_does_not_hang(self, folder: Path) -> None:
        with pytest.raises(UsageError, match="not a regular file"):
            Folders([folder]).read("pipe")

    def test_no_file_is_replaced_unasked(self, folder: Path) -> None:
        with pytest.raises(UsageError, match="exists already"):
            Folders([folder]).write("good", b"x", replace=False)
        assert (folder / "good").read_text() == "good"


def test_requests_cannot_leave_the_folder_either(served: Serving) -> None:
    (served.folder.parent / "secret").write_text("secret")
    (served.folder / "x.smt2").write_text("(exit)")
    number = served.ask("open", path="x.smt2")["number"]
    assert "not in a folder" in served.refused("open", path="../secret")
    assert "not in a folder" in served.refused("list", path="/")
    assert "not in a folder" in served.refused("save", document=number, path="../y")
    assert not (served.folder.parent / "y").exists()


@pytest.mark.parametrize("option", ["output", "input", "opener", "also_interesting", "in_place"])
def test_the_page_cannot_say_where_a_session_writes(served: Serving, option: str) -> None:
    (served.folder / "x.smt2").write_text("(exit)")
    number = served.ask("open", path="x.smt2")["number"]
    error = served.refused(
        "reduce", document=number, strategies=["adaptive"], options={option: "/tmp/x"}
    )
    assert error == f"the page cannot set the option '{option}'"


def test_a_name_from_elsewhere_is_only_a_name(served: Serving) -> None:
    found = served.ask("add", name="../../../etc/passwd\0.smt2", data="KGV4aXQp")
    assert found["name"] == "passwd.smt2"
    assert found["path"] is None
    number = found["number"]
    run = served.ask("reduce", document=number, strategies=["ddmin"], options={"oracle": "true"})
    assert Path(run["folder"]).parent.parent == served.folder
