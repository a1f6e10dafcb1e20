"""Tests seeds on a cluster's worker: the process that a Dask task starts (`chunk`).

It is a hunt without reductions, so each format tests with its own code. The order arrives on stdin,
results go to stdout; stdin ends when the client is gone.
"""

from __future__ import annotations

import os
import pickle
import select
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import replace

from reducekit.errors import ReducekitError
from reducekit.executors.cluster.checking import in_place
from reducekit.executors.executor import NoSignals
from reducekit.hunt.campaign import prepare
from reducekit.hunt.chunk import Order, Tested
from reducekit.hunt.events import Control, InputResult
from reducekit.hunt.inputs import Input
from reducekit.oracle.command import Command


def tested(order: Order, folder: str, control: Control) -> Tested:
    """Test the seeds; `folder` has the shipped files."""
    begin = time.monotonic()
    here = [in_place(each, folder) for each in order.commands]
    lines = [each.words for each in here]
    reference = lines.pop() if order.options.reference is not None else None
    options = replace(order.options, programs=lines, reference=reference)
    # What is found is told in the words of the client: by them a bug is known again.
    words = {each.words: theirs for each, theirs in zip(here, order.known, strict=True)}
    try:
        with ExitStack() as stack:
            campaign = prepare(options, NoSignals(), stack)
            results = campaign.results(campaign.numbers, control)
            found = [_brief(each, words) for each in results if each is not None]
    except ReducekitError as error:
        return Tested(failed=str(error))
    return Tested(tuple(found), time.monotonic() - begin)


def _brief(result: InputResult, words: dict[tuple[str, ...], Command]) -> InputResult:
    """Return a result for transport: without the input, unless that shows a bug."""
    if not result.findings:
        return replace(result, input=Input(b"", "", number=result.input.number))
    findings = tuple(
        replace(each, commands=tuple(words.get(c.words, c) for c in each.commands))
        for each in result.findings
    )
    return replace(result, findings=findings)


def _left() -> float | None:
    """Return no time left if the client is gone, which ends stdin."""
    return 0.0 if select.select([0], [], [], 0)[0] else None


def main() -> None:
    """Test what the order asks for; the only argument is the folder of the shipped files."""
    given: Order = pickle.load(sys.stdin.buffer)
    with suppress(OSError):
        os.chdir(given.directory)
    results = pickle.dumps(tested(given, sys.argv[1], Control(lambda: False, _left)))
    with suppress(BrokenPipeError):
        sys.stdout.buffer.write(results)
