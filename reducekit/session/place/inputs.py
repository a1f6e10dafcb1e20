"""Which files a session reads and writes: the input, its format, and the paths of the others."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from reducekit import registry
from reducekit.errors import OtherFormatError, ParseError, ReducekitError, UsageError
from reducekit.format import Format
from reducekit.journal import Contents, digest, journal_path, load
from reducekit.session.options import Options

UNWRITTEN = Path("-")  # the output of a session whose result is only in its report
HEAD = 1 << 16  # bytes of a text that tell its format
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zip")
_LARGEST = 2**31 - 1  # bytes: offsets are 32 bits wide
_MOST_FILES = 10_000  # files of a folder: somebody who names `..` or `/` does not want all of them
_PIECE = 1 << 16
"""Bytes unpacked at a time. What follows the end of a frame is copied, and frames may be short."""


class UnpackError(ReducekitError):
    """A compressed file that is damaged."""

    exit_code = 3


def _zstd(packed: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            "the input is compressed with zstd: pip install zstandard, or unpack it first"
        ) from None
    method, view, at, parts = zstandard.ZstdDecompressor(), memoryview(packed), 0, []
    try:
        while at < len(packed):
            frame = method.decompressobj()
            while not frame.eof:
                piece = view[at : at + _PIECE]
                if not piece:
                    raise EOFError
                parts.append(frame.decompress(piece))
                at += len(piece) - len(frame.unused_data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    return b"".join(parts)


def _zip(packed: bytes) -> bytes:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            if len(files) != 1:
                raise UsageError(f"the archive holds {len(files)} files: unpack the one to reduce")
            return archive.read(files[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # encrypted, too
        raise ValueError(str(error)) from None


_METHODS: Mapping[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"BZh": ("bzip2", bz2.decompress),
    b"\xfd7zXZ\x00": ("xz", lzma.decompress),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstd),
    b"PK\x03\x04": ("zip", _zip),
}
"""By the first bytes of a file, whatever its name: the method, and what unpacks it."""


def unpacked(data: bytes, name: str) -> bytes:
    """Return the text of a file that may be compressed; `name` is its name in messages.

    Raises UnpackError if it is damaged.
    """
    for magic, (method, unpack) in _METHODS.items():
        if data.startswith(magic):
            try:
                return unpack(data)
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
                # bz2 and lzma have no class of their own for a file that is cut off.
                cut = isinstance(error, EOFError) or "ended before" in str(error)
                how = f"cut off after {len(data):,} bytes: expected more"
                raise UnpackError(
                    f"{name}: the {method} archive is {how if cut else f'damaged: {error}'}"
                ) from None
    return data


def plain_path(path: Path) -> Path:
    """Return the path without the suffix of a compressed file."""
    return path.with_suffix("") if path.suffix in SUFFIXES else path


def read_input(path: Path) -> bytes:
    """Return the bytes of an input file. Raises UsageError if it cannot be read."""
    try:
        found = path.stat()
        if stat.S_ISCHR(found.st_mode) or stat.S_ISBLK(found.st_mode):
            raise UsageError(f"the input {path} is a device: name a file")
        if found.st_size > _LARGEST:
            raise UsageError(f"the input {path} is larger than 2 GiB")
        return path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"the input {path} does not exist") from None
    except IsADirectoryError:
        raise UsageError(f"the input {path} is a directory: name a file") from None
    except OSError as error:
        raise UsageError(f"the input {path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise UsageError(f"the input {str(path)!r} cannot be read: {error}") from None


def read_text(path: Path) -> bytes:
    """Return the text of a file that may be compressed. Raises UsageError."""
    return unpacked(read_input(path), str(path))


def read_files(*paths: Path) -> bytes:
    """Return the files of a folder, or several files and folders, as one text. Raises UsageError.

    Links to files are read. What is neither a file nor a folder is left out, such as a socket, and
    a link to a folder, which might contain itself.
    """
    root, found = paths[0] if len(paths) == 1 else Path(), dict[str, bytes]()
    for path in paths:
        files = [path]
        if path.is_dir():
            walk = os.walk(path, onerror=_refuse_folder)
            paths_in = (Path(folder, name) for folder, _, names in walk for name in names)
            files = [*islice(filter(Path.is_file, paths_in), _MOST_FILES + 1)]
            if len(files) > _MOST_FILES:
                raise UsageError(
                    f"the folder {path} has more than {_MOST_FILES:,} files: copy those that matter"
                )
        for each in files:
            name = os.path.relpath(each, root)
            if name.startswith("../"):
                raise UsageError(f"the input {each} is not below the current folder")
            found[name] = read_input(each)
    from reducekit.packed import pack

    text = pack(found)
    if len(text) > _LARGEST:
        raise UsageError("the files are larger than 2 GiB together")
    return text


def _refuse_folder(error: OSError) -> None:
    raise UsageError(f"the folder {error.filename} cannot be read: {error.strerror}")


def read(options: Options) -> tuple[bytes, Path | None]:
    """Return the text to reduce, and the path of the backup if the input is to be replaced.

    Raises UsageError if there is no such file, or if its backup already exists.
    """
    source = options.input
    if isinstance(source, bytes):
        return source, None
    if options.several:
        return read_files(source, *options.more_inputs), None
    if not options.in_place or os.path.isdir(source):
        return read_text(source), None
    backup = source.with_name(source.name + ".orig")
    if _began_with(backup, source, options):
        return read_text(backup), None
    if os.path.lexists(backup):
        raise UsageError(f"the backup {backup} exists already: move it away first")
    return read_text(source), backup


def _began_with(backup: Path, source: Path, options: Options) -> bool:
    if options.restart or not os.path.isfile(backup):
        return False
    if options.resume:
        return True
    found = earlier_run(source)
    if found is None or found.head is None:
        return False
    return found.head.input_digest == digest(read_text(backup)).hex()


def earlier_run(output: Path) -> Contents | None:
    """Return the journal of the run that wrote this output; None without a readable one."""
    with contextlib.suppress(UsageError):
        found = load(journal_path(output))
        if found.head is not None and found.steps:
            return found
    return None


def reduced_path(path: Path) -> Path:
    """Return the default output path for an input file, or a folder."""
    plain = plain_path(path if path.name.strip(".") else Path(os.path.abspath(path)))
    # Not with_name(), which refuses paths without a name, such as "." and "/".
    return plain.parent / f"{plain.stem}.reduced{plain.suffix}"


def output_path(options: Options) -> Path | None:
    """Return the path of the result; None if none is written. Raises UsageError.

    None for a text without `output`, and for the output `-`, which the caller writes.
    """
    source, output = options.input, options.output
    if options.in_place and output is not None:
        raise UsageError("`in_place` and `output` are mutually exclusive: give one")
    if options.several:
        return _output_folder(options)
    if output == UNWRITTEN:
        return None
    if isinstance(source, bytes):
        if options.in_place:
            raise UsageError("`in_place` needs a file as the input")
        return output
    if options.in_place or output is None:
        with contextlib.suppress(FileNotFoundError):  # reduced in place, and deleted since
            if not stat.S_ISREG(source.stat().st_mode):
                raise UsageError(
                    f"the input {source} is not a regular file: name the output with `output`"
                )
    named = source if options.in_place else output
    if named is not None and named.suffix in SUFFIXES:
        raise UsageError(
            f"the result is plain text, and {named} is the name of a compressed file: "
            f"name another with `output`, without {named.suffix}"
        )
    if options.in_place:
        return source
    if output is None:
        return reduced_path(source)
    with contextlib.suppress(OSError):
        if output.samefile(source):
            raise UsageError(f"the output {output} is the input: `in_place` replaces it")
    return output


def _output_folder(options: Options) -> Path:
    for name in ("in_place", "stdin", "also_interesting", "propose", "prefer"):
        if getattr(options, name):
            raise UsageError(f"`{name}` is for a single file: omit it")
    first, output = options.input, options.output
    if isinstance(first, bytes) or output == UNWRITTEN:
        raise UsageError("several files are read and written by name, not with -")
    output = output or reduced_path(first if first.is_dir() else first.with_suffix(""))
    for each in (first, *options.more_inputs):
        if os.path.abspath(output).startswith(os.path.join(os.path.abspath(each), "")):
            raise UsageError(f"the output {output} is in the input {each}: name another with -o")
    return output


def format_of(path: Path, text: bytes) -> str:
    """Return the name of the format of a file, packed or not, by its suffix or else its text."""
    return registry.guess_format(str(plain_path(path)), text[:HEAD])


@contextlib.contextmanager
def naming(name: str | Path) -> Iterator[None]:
    """Add the name of the file to the place of a parse error."""
    try:
        yield
    except ParseError as error:
        error.args = (f"{name}, {error}",)
        raise


def refuse_other_format(frontend: Format, text: bytes, name: str) -> None:
    """Raise OtherFormatError for a text that another format recognises and this one does not.

    Formats that have no way to recognise a text accept any.
    """
    own = type(frontend)
    if own.recognises.__func__ is Format.recognises.__func__:  # type: ignore[attr-defined]
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
