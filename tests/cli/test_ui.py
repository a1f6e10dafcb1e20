"""`reducekit ui`: it starts, says where, opens files, and ends cleanly."""

import re
import signal
import subprocess
import urllib.request
from collections.abc import Callable

import pytest

from tests.cli.tool import PATIENCE, Tool, interrupt_past_a_wait


def started(tool: Tool, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = tool.start("ui", "--options", "kept.json", *arguments)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.parametrize(
    "interrupt",
    [
        lambda process: process.send_signal(signal.SIGINT),
        lambda process: process.send_signal(signal.SIGTERM),
        interrupt_past_a_wait,
    ],
)
def test_it_serves_until_it_is_interrupted(
    tool: Tool, interrupt: Callable[[subprocess.Popen[str]], None]
) -> None:
    tool.write("in.smt2", "(check-sat)\n")
    process, url = started(tool, "in.smt2", "--no-browser")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#[\w-]{32}", url)
    with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
        assert b"<title>reducekit</title>" in reply.read()
    interrupt(process)
    done = tool.end(process)
    assert done.code == 0
    assert done.err == f"reducekit: files in {tool.folder}; Ctrl-C ends the page\n"


def test_from_another_machine_it_is_reached_by_the_printed_address(tool: Tool) -> None:
    tool.environment["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.7 22"
    process, url = started(tool, "--no-browser", "--address", "0.0.0.0")
    port = url.rpartition(":")[2].partition("/")[0]
    for name in (url, f"http://localhost:{port}/"):
        with urllib.request.urlopen(name, timeout=PATIENCE) as reply:
            assert b"<title>reducekit</title>" in reply.read()
    process.send_signal(signal.SIGINT)
    assert "0.0.0.0" not in url
    assert f"ssh -L {port}:127.0.0.1:{port} " in tool.end(process).err


def test_the_browser_is_started_without_the_token_in_its_command_line(tool: Tool) -> None:
    browser = tool.folder / "browser.sh"
    browser.write_text(
        '#!/bin/sh\ncd "$(dirname "$0")"\necho "$@" > arguments\ncat "${1#file://}" > page\n'
    )
    browser.chmod(0o755)
    tool.environment["BROWSER"] = str(browser)
    process, url = started(tool)
    page = tool.folder / "page"
    process_ended = False
    for _ in range(600):
        if page.exists() and page.read_text():
            break
        try:
            process.wait(0.1)
            process_ended = True
            break
        except subprocess.TimeoutExpired:
            continue
    assert not process_ended
    token = url.partition("#")[2]
    assert token not in (tool.folder / "arguments").read_text()
    assert token in page.read_text()
    process.send_signal(signal.SIGINT)
    assert tool.end(process).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.smt2"], "there is no file nowhere.smt2"),
        (["--address", "localhost"], "is not an IP address"),
        (["--address", "203.0.113.7"], "203.0.113.7, port 0:"),
    ],
)
def test_what_cannot_be_served(tool: Tool, arguments: list[str], words: str) -> None:
    done = tool("ui", "--no-browser", *arguments)
    assert done.code == 2
    assert words in done.err
