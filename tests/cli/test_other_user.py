"""Another user of the machine reads and calls nothing of a cluster, a page or a hunt.

That user is `nobody`: a process with uid 65534, which tries all ports that we listen on, as Dask
and as HTTP, and all files that there are in our folders.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tool import PATIENCE, Tool
from tests.clusters import below

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")

NOBODY = """
import asyncio, contextlib, json, os, sys, urllib.error, urllib.request
from distributed import Security, rpc

asked = json.load(sys.stdin)
securities = {"no keys": Security(), "other keys": Security.temporary()}
arguments = {name: each.get_connection_args("client") for name, each in securities.items()}
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
found = []

async def call(address, keys):
    async with rpc(address, timeout=3, connection_args=keys) as there:
        await asyncio.wait_for(there.identity(), 3)

PATHS = ["/health", "/metrics", "/status", "/json/identity.json", "/info/main/workers.html"]
for port in asked["ports"]:
    for scheme in ("tcp", "tls"):
        for name, keys in arguments.items():
            with contextlib.suppress(Exception):
                asyncio.run(call(f"{scheme}://127.0.0.1:{port}", keys))
                found.append(f"{scheme} {port} with {name}")
    requests = [(path, None) for path in PATHS]
    requests += [(f"/api/{name}", b"{}") for name in asked["requests"]]
    for path, body in requests:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", body, timeout=3).close()
            found.append(f"http {port}{path}")
for path in asked["paths"]:
    with contextlib.suppress(OSError):
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").close()
        found.append(path)
    if os.access(path, os.W_OK):
        found.append(f"{path}, to write")
print(json.dumps(found))
"""


@pytest.fixture
def open_tool() -> Iterator[Tool]:
    """A tool in a folder that everybody may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="other-user-"))
    folder.chmod(0o755)
    try:
        yield Tool(folder)
    finally:
        shutil.rmtree(folder)


def reached(tool: Tool, process: subprocess.Popen[str], *, known: set[Path]) -> list[str]:
    """Return what another user can read or call; files that are `known` are open to all."""
    paths = [each for each in tool.folder.rglob("*") if each not in known]
    assert paths
    ports = [port for address, port in listening(process.pid) if on_loopback(address)]
    asked = {
        "ports": ports,
        "paths": [str(each) for each in paths if each != tool.temporary],
        "requests": ["open", "entries", "stream", "reduce"],
    }
    done = subprocess.run(
        [sys.executable, "-c", NOBODY],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    found: list[str] = json.loads(done.stdout)
    return found


def on_loopback(address: str) -> bool:
    return address in ("0100007F", "00000000000000000000000001000000")


def listening(pid: int) -> set[tuple[str, int]]:
    """Return the addresses, as the kernel writes them, and ports of a process and those below."""
    sockets = set()
    for each in (pid, *below(pid)):
        with suppress(OSError):
            for entry in Path(f"/proc/{each}/fd").iterdir():
                with suppress(OSError):
                    sockets.add(os.readlink(entry))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                address, port = fields[1].split(":")
                found.add((address, int(port, 16)))
    return found


def wait_for(process: subprocess.Popen[Any], condition: Any) -> None:
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < give_up
        time.sleep(0.05)


@pytest.mark.slow
def test_a_local_cluster(open_tool: Tool) -> None:
    tool = open_tool
    ran = tool.folder / "ran"
    script = tool.script("oracle", f'touch "{tool.folder}/ran"; exec sleep 60')
    known = {tool.write("in.txt", "text\n"), script, ran}
    words = ("text", "in.txt", "--oracle", script, "--ship", script, "--timeout", "90")
    process = tool.start(*words, "--cluster", "local:2", "--no-journal", start_new_session=True)
    try:
        wait_for(process, ran.exists)
        found = listening(process.pid)
        assert len(found) >= 8  # of the scheduler, the workers and their nannies, and for HTTP
        assert [each for each in found if not on_loopback(each[0])] == []
        assert reached(tool, process, known=known) == []
    finally:
        process.send_signal(signal.SIGINT)
        tool.end(process)
    assert list(tool.temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_hunt_on_a_local_cluster(open_tool: Tool) -> None:
    tool = open_tool
    script = tool.script("program", "kill -ABRT $$")
    words = ("hunt", "btor", "--cmd", script, "--no-reduce", "--out", "bugs")
    process = tool.start(*words, "--cluster", "local:1", start_new_session=True)
    try:
        wait_for(process, lambda: list(tool.folder.glob("bugs/*.btor")))
        assert [each for each in listening(process.pid) if not on_loopback(each[0])] == []
        # The folder itself is known to be there, and not what is in it.
        assert reached(tool, process, known={script}) == []
    finally:
        process.send_signal(signal.SIGINT)
        tool.end(process)


@pytest.mark.slow
def test_the_page(open_tool: Tool) -> None:
    tool = open_tool
    script = tool.script("oracle", "exec sleep 60")
    text = tool.write("in.smt2", "(assert false)\n")
    words = ("ui", "in.smt2", "--no-browser", "--options", "settings/ui.json")
    process = tool.start(*words, start_new_session=True)
    try:
        assert process.stdout is not None
        url, _, token = process.stdout.readline().strip().partition("/#")

        def ask(name: str, body: object) -> Any:
            headers = {"X-Reducekit-Token": token, "Content-Type": "application/json"}
            data = json.dumps(body).encode()
            request = urllib.request.Request(f"{url}/api/{name}", data, headers)
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)

        opened = ask("open", {"path": str(text)})
        options = {"command": str(script), "timeout": 90.0}
        ask("reduce", {"document": opened["number"], "strategies": ["ddmin"], "options": options})
        ask("keep", {"values": {"oracle": "secret"}})
        wait_for(process, lambda: list(tool.folder.glob("reducekit-runs/*/input*")))
        assert [each for each in listening(process.pid) if not on_loopback(each[0])] == []
        assert reached(tool, process, known={text, script}) == []
    finally:
        process.send_signal(signal.SIGINT)
        tool.end(process)
