"""`reducekit ui`: the page, served on this machine only."""

from __future__ import annotations

import getpass
import ipaddress
import os
import threading
import time
import webbrowser
from contextlib import ExitStack
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reducekit.cli.command import PATH, Command, adding, file, flag, number
from reducekit.cli.process import ProcessContext, say
from reducekit.errors import UsageError
from reducekit.option import Option


@click.command("ui", cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE_OR_FOLDER]...")
@adding(
    (
        number("port", "Port (default: a free one).", 0, least=0, most=65535, metavar=""),
        Option(
            "address",
            "Address to listen on. Anyone who can reach it and has the token can run "
            "commands as you.",
            default="127.0.0.1",
            metavar="IP",
        ),
        flag("no_browser", "Print the address without opening a browser."),
        file(
            "settings",
            "File for the page's options (default: reducekit/ui.json in your "
            "configuration folder).",
            spelled="options",
        ),
    )
)
@click.pass_obj
def ui(
    process: ProcessContext,
    /,
    files: tuple[Path, ...],
    port: int,
    address: str,
    no_browser: bool,
    settings: Path | None,
) -> int:
    """Open the page in a browser: view files, generate, run, reduce and watch.

    It can open and save files only in the folders of FILES (default: the current folder). Press
    Ctrl-C to close it; runs end with the best file so far.
    """
    from reducekit.ui.api import Api
    from reducekit.ui.documents import Folders, Settings, default_path
    from reducekit.ui.server import Server

    for each in files:
        if not os.path.exists(each):
            raise UsageError(f"there is no file {each}")
    roots = [each if each.is_dir() else each.resolve().parent for each in files] or [Path.cwd()]
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(f"{address!r} is not an IP address") from None
    api = Api(Folders(roots), Settings(settings or default_path()))
    for each in files:
        if not each.is_dir():
            api.open(str(each.resolve()))
    try:
        server = Server(api, address, port)
    except OSError as error:
        raise UsageError(f"{address}, port {port}: {error.strerror}") from None
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stack = ExitStack()
    try:
        print("\n".join(server.urls), flush=True)
        say(f"reducekit: files in {', '.join(map(str, api.folders.roots))}; Ctrl-C ends the page")
        if "SSH_CONNECTION" in os.environ:
            here = os.environ["SSH_CONNECTION"].split()[2:3] or ["HOST"]
            tunnel = f"ssh -L {server.server_port}:127.0.0.1:{server.server_port}"
            tunnel += f" {getpass.getuser()}@{here[0]}, then open the address above"
            say(f"reducekit: from your own machine: {tunnel}")
        if not ipaddress.ip_address(address).is_loopback:
            say("reducekit: warning: other machines can reach this address")
        if not no_browser:
            _open_browser(server.url, Path(stack.enter_context(TemporaryDirectory())))
        with process.interrupts.allowed():
            while True:
                time.sleep(1)  # in slices: a signal that comes just before a wait does not end it
    except KeyboardInterrupt:
        pass
    finally:
        stack.close()
        server.stop()
        thread.join()
    return 0


def _open_browser(url: str, folder: Path) -> None:
    """Open the page by a file in a private folder that redirects to it.

    All users of a machine can read command lines, and the address contains the token.
    """
    start = folder / "reducekit.html"
    start.write_text(
        f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(url)}">'
        f'<a href="{escape(url)}">reducekit</a>\n'
    )
    webbrowser.open(start.as_uri())
