"""`reducekit ui`: the page, served on this machine and to nobody else."""

from __future__ import annotations

import ipaddress
import os
import threading
import webbrowser
from contextlib import ExitStack
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reducekit.cli.command import Command
from reducekit.cli.context import ProcessContext
from reducekit.cli.options import PATH
from reducekit.cli.streams import say
from reducekit.errors import UsageError


@click.command("ui", cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE_OR_FOLDER]...")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: a free one.")
@click.option(
    "--address",
    default="127.0.0.1",
    show_default=True,
    metavar="IP",
    help="Where to listen. Whoever can reach it and knows the token can run commands as you.",
)
@click.option("--no-browser", is_flag=True, help="Print the address, but open no browser.")
@click.option(
    "--options",
    "settings",
    type=PATH,
    metavar="FILE",
    help="Where the page keeps its options; default: reducekit/ui.json in your settings.",
)
@click.pass_obj
def command(
    process: ProcessContext,
    /,
    files: tuple[Path, ...],
    port: int,
    address: str,
    no_browser: bool,
    settings: Path | None,
) -> int:
    """Open the page in a browser: look at files, generate, run, reduce and watch.

    It can open and save files in the folders of the FILES that are named (default: the present
    folder) and nowhere else. Interrupt it to close; runs end with the best file so far.
    """
    from reducekit.ui.api import Api
    from reducekit.ui.folders import Folders
    from reducekit.ui.server import Server
    from reducekit.ui.settings import Settings, default_path

    for each in files:
        if not os.path.exists(each):
            raise UsageError(f"there is no file {each}")
    roots = [each if each.is_dir() else each.resolve().parent for each in files] or [Path.cwd()]
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise UsageError(f"{address!r} is no IP address") from None
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
        print(server.url, flush=True)
        if not ipaddress.ip_address(address).is_loopback:
            say("reducekit: this address can be reached by others")
        if not no_browser:
            _open_browser(server.url, Path(stack.enter_context(TemporaryDirectory())))
        with process.interrupts.allowed():
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        stack.close()
        server.stop()
        thread.join()
    return 0


def _open_browser(url: str, folder: Path) -> None:
    """Open the page by a file that leads there.

    Command lines can be read by all users of a machine, and the token stands in the address; the
    folder is ours alone.
    """
    start = folder / "reducekit.html"
    start.write_text(
        f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(url)}">'
        f'<a href="{escape(url)}">reducekit</a>\n'
    )
    webbrowser.open(start.as_uri())
