"""A session in a real kernel of Jupyter: what comes out of a cell."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from reducekit.session.options import Options
from reducekit.session.session import Session

SECONDS = 60
LINES = "\n".join(f"line {n} <b>" for n in range(40))
REDUCE = f"""
import reducekit
reducekit.reduce({LINES!r}, lambda text: "7 <b>" in text, {{more}})
"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    manager = KernelManager(transport="ipc", ip=str(tmp_path_factory.mktemp("kernel") / "k"))
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=SECONDS)
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def outputs(kernel: Any, code: str) -> list[tuple[str, dict[str, str]]]:
    """Return the kinds and the data of what a cell shows."""
    found: list[tuple[str, dict[str, str]]] = []

    def take(message: Any) -> None:
        kind, content = message["msg_type"], message["content"]
        assert kind != "error", content["traceback"]
        if "data" in content:
            found.append((kind, content["data"]))

    kernel.execute_interactive(code, output_hook=take, timeout=SECONDS)
    return found


def test_a_cell_shows_the_progress_and_then_the_report(kernel: Any) -> None:
    shown, *updates, value = outputs(kernel, REDUCE.format(more=""))
    assert shown[0] == "display_data"
    assert updates
    assert {kind for kind, _ in updates} == {"update_display_data"}
    last = updates[-1][1]
    assert last["text/plain"].startswith("done: 6 bytes (")
    assert "<pre>7 &lt;b&gt;</pre>" in last["text/html"]
    assert value[0] == "execute_result"
    assert "→ 6 bytes</b>" in value[1]["text/html"]


def test_who_listens_shows_it_in_another_way(kernel: Any) -> None:
    assert [kind for kind, _ in outputs(kernel, REDUCE.format(more="listen=print"))] == [
        "execute_result"
    ]


def test_a_session_says_how_far_it_is() -> None:
    seen, go_on = threading.Event(), threading.Event()

    def interesting(text: bytes) -> bool:
        if text and b"line 0" not in text:
            seen.set()
            go_on.wait(SECONDS)
        return b"7 <b>" in text

    session = Session(Options(input=LINES.encode(), interesting=interesting))
    assert session._repr_html_() == "<p><b>not started</b></p>"
    thread = threading.Thread(target=session.run)
    thread.start()
    assert seen.wait(SECONDS)
    running = session._repr_html_()
    go_on.set()
    thread.join()
    assert " checks (" in running
    assert "7 &lt;b&gt;" in running
    assert session._repr_html_().startswith("<p><b>done: 6 bytes (")
    assert session._repr_html_() == session._repr_html_()  # its clock stands still
