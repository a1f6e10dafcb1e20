"""Runs the parsers and a short reduction on folders of files, and reports what breaks.

`python -m benchmarks.corpus FOLDER [FOLDER ...] --rows ROWS.tsv --out TABLE.md`

Each SMT-LIB and BTOR file is parsed and printed back; its pretty-printed or canonical text has to
parse; 40 checks reduce it while it contains one of its words, drawn by the file's name; and a
second run reduces the result. If the first run has finished, the second should change nothing:
otherwise the outcome is `again`. Rows are appended to ROWS.tsv, and files that have a row there are
skipped, so an interrupted run continues.
"""

import argparse
import contextlib
import csv
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import FrameType

import reducekit
from benchmarks import publish, row_of
from reducekit import registry
from reducekit.errors import ParseError, ReducekitError
from reducekit.frontends.btor import Btor
from reducekit.frontends.btor.model.reader import read
from reducekit.frontends.btor.model.writer import canonical
from reducekit.frontends.smt2 import Smt2
from reducekit.session.report import Report

FORMATS = {".smt2": "smt2", ".btor": "btor", ".btor2": "btor"}
_KEPT = ("btor", "isolate", "smt2", "text")
"""Formats whose candidates keep the layout of the input; the others are reprinted."""
_CHECKS = 40
_SLOW = 60.0
_SHOWN = 20


class SlowError(BaseException):
    """An input took too long. Nothing on the way may take it for an error of its own."""


@contextlib.contextmanager
def cpu_limit(seconds: float = _SLOW) -> Iterator[None]:
    """Raise SlowError in the body after that much CPU time of this process."""
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a file."""

    folder: str
    file: str
    format: str
    outcome: str
    """`ok`, or what is wrong."""
    ended: bool = False
    """Whether the first run finished."""
    bytes: int = 0
    left: int = 0
    seconds: float = 0.0
    """CPU time."""
    detail: str = ""


class WrongError(Exception):
    """A promise that was broken."""


def examine(text: bytes, format_name: str, name: str) -> tuple[str, bool, int, str]:
    """Return the outcome of a file, whether its reduction ended, its size and the details."""
    try:
        parse(text, format_name)
    except ParseError as error:
        return "refused", False, len(text), str(error).splitlines()[0]
    words = sorted(set(text.split()))
    if not words:
        return "refused", False, len(text), "empty"
    word = random.Random(name).choice(words)
    first = reduced(text, format_name, word)
    if len(first.text) > len(text):
        raise WrongError(f"larger: {len(text)} -> {len(first.text)} bytes")
    if word not in first.text:
        raise WrongError(f"the result lacks {word!r}")
    second = reduced(first.text, format_name, word)
    if not first.early and second.text != first.text:
        detail = f"{first.text[-100:]!r} -> {second.text[-100:]!r}"
        return "again", True, len(second.text), detail
    return "ok", not first.early, len(second.text), ""


def parse(text: bytes, format_name: str) -> None:
    """Parse a text and its other spellings. Raises ParseError if it is not of the format."""
    frontend = registry.frontend(format_name)
    view = frontend.parse(text)
    if format_name in _KEPT and view.document.render({}) != text:
        raise WrongError("not printed back")
    others: list[Callable[[], bytes]] = []
    if isinstance(frontend, Smt2):
        others.append(lambda: frontend.pretty(text))
    elif isinstance(frontend, Btor):
        others.append(lambda: canonical(read(text, any_ending=True)))
    for make in others:
        other = make()
        try:
            frontend.parse(other)
        except ParseError as error:
            raise WrongError(f"another spelling does not parse: {error}") from None


def reduced(text: bytes, format_name: str, word: bytes) -> Report[bytes]:
    """Reduce a text in a few checks to what holds a word."""
    return reducekit.reduce(text, lambda each: word in each, format=format_name, max_checks=_CHECKS)


def examine_file(folder: Path, path: Path) -> Row:
    """Return the row of a file."""
    file, format_name = str(path.relative_to(folder)), FORMATS[path.suffix]
    text, begin = path.read_bytes(), time.process_time()
    ended, left, detail = False, len(text), ""
    try:
        with cpu_limit():
            outcome, ended, left, detail = examine(text, format_name, file)
    except SlowError:
        outcome = "slow"
    except WrongError as error:
        outcome, detail = "wrong", str(error)
    except ReducekitError as error:
        outcome, detail = "wrong", f"not accepted: {str(error).splitlines()[0]}"
    except Exception as error:  # what this benchmark looks for
        outcome, detail = "exception", place_of(error)
    seconds = round(time.process_time() - begin, 2)
    return Row(folder.name, file, format_name, outcome, ended, len(text), left, seconds, detail)


def place_of(error: Exception) -> str:
    """Return an exception in one line, with where it was raised."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} {Path(last.filename).name}:{last.lineno} {error}"[:300]


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise SlowError


def files(folders: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the files of each folder that have a known suffix, in order."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in FORMATS and path.is_file():
                yield folder, path


def load(path: Path) -> list[Row]:
    """Return the rows of an earlier run."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8", errors="surrogateescape") as file:
        return [row_of(Row, each) for each in csv.DictReader(file, delimiter="\t")]


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown: counts for each folder and format, then what is not `ok`."""
    lines = [
        "| folder | format | files | MB | ok | reduced to the end | smaller again | refused "
        "| exceptions | wrong | slow | CPU s |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    groups = sorted({(each.folder, each.format) for each in rows})
    for group in [*groups, ("all", "")]:
        some = [each for each in rows if group[0] == "all" or group == (each.folder, each.format)]
        count = Counter(each.outcome for each in some)
        lines.append(
            f"| {group[0]} | {group[1]} | {len(some):,} | {sum(e.bytes for e in some) / 1e6:.1f} "
            f"| {count['ok']:,} | {sum(each.ended for each in some):,} | {count['again']:,} "
            f"| {count['refused']:,} "
            f"| {count['exception']:,} | {count['wrong']:,} | {count['slow']:,} "
            f"| {sum(each.seconds for each in some):,.0f} |"
        )
    for outcome, title in (
        ("exception", "Exceptions"),
        ("wrong", "Broken promises"),
        ("again", "A second run takes more away"),
        ("slow", f"More than {_SLOW:g} s of CPU time"),
        ("refused", "Refused"),
    ):
        those = [each for each in rows if each.outcome == outcome]
        if those:
            lines += ["", f"{title} ({len(those):,}):", ""]
            lines += [f"- {each.folder}/{each.file}: {each.detail}" for each in those[:_SHOWN]]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rows", type=Path, required=True, help="TSV file, appended to")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    rows = load(given.rows)
    known = {(each.folder, each.file) for each in rows}
    with given.rows.open("a", newline="", encoding="utf-8", errors="surrogateescape") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        if not rows:
            writer.writerow([each.name for each in fields(Row)])
        for folder, path in files(given.folders):
            if (folder.name, str(path.relative_to(folder))) not in known:
                row = examine_file(folder, path)
                rows.append(row)
                writer.writerow(astuple(row))
                file.flush()
    text = table(rows)
    publish(text, given.out)


if __name__ == "__main__":
    main()
