"""`reducekit replay`: replays a trace once, and ends as the program under test ended."""

from __future__ import annotations

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import click

from reducekit import quantities, registry
from reducekit.cli.command import PATH, Command, adding, click_option, number
from reducekit.cli.process import ProcessContext, print_bytes, read_text, say
from reducekit.errors import UsageError
from reducekit.offers import Playing, PlayRequest
from reducekit.option import Option
from reducekit.run import Limits


def _playing() -> Playing:
    def nobody(request: PlayRequest) -> Any:
        raise UsageError("no installed format supports replaying")

    classes = map(registry.frontend_class, registry.names(registry.FRONTENDS))
    found = (each.playing() for each in classes)
    return next(filter(None, found), None) or Playing(nobody)


_PLAYING = _playing()


@click.command("replay", cls=Command, epilog=_PLAYING.epilog)
@click.argument("file", type=PATH)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@adding(
    (
        Option("cmd", "A trace interpreter to run instead of a library.", metavar="CMD"),
        *(click_option(each, "Format") for each in _PLAYING.options),
        Option("timeout", "", default=60, read=quantities.seconds, metavar="S"),
        Option("cpu", "", default=10, read=quantities.seconds, metavar="S"),
        number("memory", "", 4096, least=1, metavar="MIB"),
    )
)
@click.pass_obj
def replay(
    process: ProcessContext,
    /,
    file: Path,
    words: tuple[str, ...],
    cmd: str | None,
    timeout: float,
    cpu: float,
    memory: int,
    **values: Any,
) -> int:
    """Replay the API trace FILE against a library, and exit as the library did.

    Without --cmd, a Lingeling trace is replayed against the Lingeling in python-sat, in a separate
    process.
    """
    if cmd is not None and words:
        raise UsageError("two commands given: one with --cmd, one at the end")
    limits = Limits(wall=timeout, cpu=cpu, memory=memory << 20, output=1 << 20)
    with process.interrupts.allowed():
        text = read_text(file)
    request = PlayRequest(file, text, cmd or words or None, values, limits, process.interrupts)
    end = _PLAYING.play(request)
    for note in end.notes:
        say(f"replay: note: {note}")
    for line in end.lines:
        print(line)
    print_bytes([end.stdout])
    print_bytes([end.stderr], sys.stderr)
    say(f"replay: {end.summary}")
    if end.signal is not None:
        _die_by(end.signal)
    return end.status if end.status is not None else 128 + (end.signal or 0)


def _die_by(number: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
