"""Parses and reduces damaged traces: any file must give a result or a user error.

`python -m benchmarks.trace_mutants [--count N] [--first SEED]` prints each seed whose mutant
raises anything but an error for the user, and ends with 1 if there is one. A seed always makes
the same mutant; `--show SEED` prints it.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from binascii import crc32
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from random import Random

import reducekit
from reducekit.errors import NotInterestingError, ParseError, UsageError
from reducekit.frontends.trace import Traces
from reducekit.frontends.trace.formats import print_trace
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.view import TraceView
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.passes.schedule import careful_schedule
from reducekit.search.problem import Search
from reducekit.strategies.adaptive import adaptive

_CHECKS = 10
_REDUCED, _PAPER, _PLAYED = 4, 5, 50
"""One of this many mutants is reduced by a session, by the passes of lglddtrace, and those that
play all that is near a short trace."""

BOOLECTOR = b"""\
new
return 0x1
set_opt 0x1 1 model-gen 1
bitvec_sort 0x1 8
return s1@0x1
var 0x1 s1@0x1 x
return n2@0x1
var 0x1 s1@0x1 y
return n3@0x1
add 0x1 n2@0x1 n3@0x1
return n4@0x1
eq 0x1 n4@0x1 n2@0x1
return n5@0x1
assert 0x1 n5@0x1
sat 0x1
return 10
release 0x1 n2@0x1
release_sort 0x1 s1@0x1
delete 0x1
"""
MURXLA = b"""\
27 set-murxla-options
27 new
27 set-logic QF_BV
27 set-option incremental "true value"
27 mk-sort SORT_BV 8
return s1
27 mk-const s1 "_x"
return t1
27 mk-term OP_BV_ADD SORT_BV 2 t1 t1
return t2 s1
27 assert-formula t2
27 check-sat
27 delete
"""
_TOKENS = (
    b"", b"0", b"1", b"-1", b"x", b"-", b"return", b"return 1", b"init", b"option", b"set", b"add",
    b"sat", b"solve", b"release", b"#", b'"', b"\0", b"\xff", b"\r", b"\n", b"\t", b"9" * 12,
    b"-2147483648", b"2147483647", b"007", b"0x1", b"n2@0x1", b"e" * 90, b"deref", b"melt",
)  # fmt: skip


@cache
def _traces(model: str) -> Sequence[bytes]:
    """Return small traces of a model, with options and without."""
    api = load_model(model)
    return [
        print_trace(Generator(api, options=bool(seed % 2), variables=3).generate(seed).calls, form)
        for form in api.formats
        for seed in range(8)
    ]


def mutant(seed: int) -> bytes:
    """Return a damaged trace: lines, words and bytes dropped, doubled, swapped and replaced."""
    dice = Random(seed)
    models = ("lingeling", "cadical", "mobical", "ipasir", "picosat", "minisat")
    name = dice.choice((*models, "boolector", "murxla"))
    fixed = {"boolector": BOOLECTOR, "murxla": MURXLA}
    text = fixed[name] if name in fixed else dice.choice(_traces(name))
    lines = text.splitlines(keepends=True)
    if dice.random() < 0.8:  # the beginning, which most calls need, and a part of the rest
        at = dice.randrange(len(lines))
        lines = lines[: dice.randint(0, 3)] + lines[at : at + dice.randint(1, 30)]
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(lines) + 1)
        match dice.randrange(7):
            case 0:
                del lines[at : at + dice.choice((1, 1, 5))]
            case 1:
                lines.insert(at, dice.choice(lines or [b"init\n"]))
            case 2:
                dice.shuffle(lines)
            case 3:
                lines.insert(at, b"return %d\n" % dice.choice((0, 1, 10, 20, -1)))
            case 4 if at < len(lines):
                words = lines[at].split()
                words[dice.randrange(len(words) + 1) :][:1] = [dice.choice(_TOKENS)]
                lines[at] = b" ".join([*words[: dice.randint(0, 4)], b"\n"])
            case 5 if at < len(lines):
                words = lines[at].split()
                if words:
                    words[dice.randrange(len(words))] = dice.choice(_TOKENS)
                lines[at] = b" ".join(words) + b"\n"
            case _:
                text = b"".join(lines)
                cut = dice.randrange(len(text) + 1)
                text = text[:cut] + dice.choice(_TOKENS) + text[cut + dice.randrange(3) :]
                lines = text.splitlines(keepends=True)
    return b"".join(lines)


def problem(seed: int) -> str | None:
    """Return the traceback of a mutant that is not answered as it should be."""
    text = mutant(seed)
    try:
        exercise(text, seed)
    except (ParseError, UsageError, NotInterestingError):
        return None
    except Exception:  # whatever else there is, that is what is looked for
        return traceback.format_exc()
    return None


def exercise(text: bytes, seed: int) -> None:
    """Read, check, show and reduce a trace, with a test that holds by chance."""
    view = Traces().parse(text)
    _answered(lambda: Traces().check(text))
    _answered(lambda: [*Traces().inspect(text, None, None).lines()])
    if not seed % _PLAYED and len(view.calls) < 20:
        view = TraceView(view.trace, view.model, first_failing=_some_fail)
    schedules = [Traces().schedule("own"), careful_schedule("all")]
    if not seed % _PAPER:
        schedules.append(Traces().schedule("classic"))
    for each in (p for some in schedules for p in (*some.prepare, *some.rounds, *some.closing)):
        found = each.problem(view)
        search: Search | None = None if found is None else adaptive.start(found)
        for number in range(3):
            change = None if search is None else search.propose()
            if search is None or change is None:
                break
            view.document.render(dict(change.edits))
            search = search.after(number % 2 == 1)
    if not seed % _REDUCED:
        reducekit.reduce(
            text,
            lambda each: each == text or (bool(each) and crc32(each) % 3 == 0),
            format=Traces(),
            max_checks=_CHECKS,
        )


def _some_fail(traces: Sequence[Sequence[Call]]) -> int | None:
    return 0 if traces and len(traces[0]) % 2 else None


def _answered(action: Callable[[], object]) -> None:
    """Do something that may refuse the text."""
    with suppress(ParseError, UsageError):
        action()


def main() -> None:
    """Damage traces."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--show", type=int, metavar="SEED")
    options = parser.parse_args()
    if options.show is not None:
        sys.stdout.buffer.write(mutant(options.show))
        return
    failed = 0
    for number in range(options.count):
        found = problem(options.first + number)
        if found is not None:
            failed += 1
            print(f"seed {options.first + number}: {found}", flush=True)
        if number % 1000 == 999:
            print(f"{number + 1:,} mutants, {failed} failed", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
