"""Which files a session reads and writes: the input, its format, the output, a backup."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from reducekit import registry
from reducekit.errors import OtherFormatError, ParseError, UsageError
from reducekit.frontend import Frontend
from reducekit.journal import digest
from reducekit.session.options import Options
from reducekit.session.place.earlier import earlier_run
from reducekit.session.place.output import backup_path, original_path, read_input, reduced_path
from reducekit.session.place.unpack import SUFFIXES, plain_path, unpacked

UNWRITTEN = Path("-")
"""The output of a session whose result is only in its report."""
HEAD = 1 << 16  # bytes of a text that tell its format


def _refuse_special(source: Path) -> None:
    with contextlib.suppress(FileNotFoundError):  # reduced in place, and deleted since
        if not stat.S_ISREG(source.stat().st_mode):
            raise UsageError(
                f"the input {source} is not a regular file: name the output with `output`"
            )


def _refuse_same(output: Path, source: Path) -> None:
    with contextlib.suppress(OSError):
        if output.samefile(source):
            raise UsageError(f"the output {output} is the input: `in_place` replaces it")


def _refuse_compressed(named: Path | None) -> None:
    if named is not None and named.suffix in SUFFIXES:
        raise UsageError(
            f"the result is plain text, and {named} is the name of a compressed file: "
            f"name another with `output`, without {named.suffix}"
        )


def output_path(options: Options) -> Path | None:
    """Return the path of the result; None if none is written. Raises UsageError.

    That is so for a text without `output`, and for the output `-`, which is the caller's to write.
    """
    source, output = options.input, options.output
    if options.in_place and output is not None:
        raise UsageError("`in_place` and `output` are mutually exclusive: give one")
    if output == UNWRITTEN:
        return None
    if isinstance(source, bytes):
        if options.in_place:
            raise UsageError("`in_place` needs a file as the input")
        return output
    if options.in_place or output is None:
        _refuse_special(source)
    _refuse_compressed(source if options.in_place else output)
    if options.in_place:
        return source
    if output is None:
        return reduced_path(source)
    _refuse_same(output, source)
    return output


def read(options: Options) -> tuple[bytes, Path | None]:
    """Return the text to reduce, and the path of the backup if the input is to be replaced.

    Raises UsageError if there is no such file, or if its backup already exists.
    """
    source = options.input
    if isinstance(source, bytes):
        return source, None
    backup = None
    if options.in_place and not os.path.isdir(source):
        original = original_path(source)
        if _began_with(original, source, options):
            source = original
        else:
            backup = backup_path(source)
    return read_text(source), backup


def read_text(path: Path) -> bytes:
    """Return the text of a file that may be compressed. Raises UsageError."""
    return unpacked(read_input(path), str(path))


def format_of(path: Path, text: bytes) -> str:
    """Return the name of the format of a file, by its suffix, otherwise by its text.

    Raises UsageError if no registered format recognises it.
    """
    found = registry.guess_format(str(plain_path(path)), text[:HEAD])
    if found is None:
        known = ", ".join(registry.names(registry.FRONTENDS))
        raise UsageError(f"cannot tell the format of {path}: give `format` ({known})")
    return found


def _began_with(original: Path, source: Path, options: Options) -> bool:
    """Return whether a file was being reduced in place, with this backup."""
    if options.restart or not os.path.isfile(original):
        return False
    if options.resume:
        return True
    found = earlier_run(source)
    if found is None or found.head is None:
        return False
    return found.head.input_digest == digest(unpacked(read_input(original), str(original))).hex()


def name_of(options: Options) -> str:
    """Return the name of the input in messages."""
    if options.name:
        return options.name
    return "input" if isinstance(options.input, bytes) else str(options.input)


@contextlib.contextmanager
def naming(name: str | Path) -> Iterator[None]:
    """Add the name of the file to the place of a parse error."""
    try:
        yield
    except ParseError as error:
        error.args = (f"{name}, {error}",)
        raise


def refuse_other_format(frontend: Frontend, text: bytes, name: str) -> None:
    """Raise OtherFormatError for a text that another format recognises and this one does not.

    Formats that have no way to recognise a text accept any.
    """
    own = type(frontend)
    if own.recognises.__func__ is Frontend.recognises.__func__:  # type: ignore[attr-defined]
        return
    head = text[:HEAD]
    if own.recognises(head):
        return
    classes = map(registry.frontend_class, registry.names(registry.FRONTENDS))
    others = [each for each in classes if each is not own and each.recognises(head)]
    if len(others) == 1:
        raise OtherFormatError(name, others[0].name, others[0].title or others[0].name)


def refuse_blank(text: bytes) -> None:
    """Raise ParseError if a text is blank."""
    if not text.strip():
        raise ParseError("the input is empty", text, 0)
