"""A command line with a placeholder for the candidate's path, run without a shell by default.

And the files that a test consists of: programs, scripts and libraries that its commands name.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from reducekit.errors import UsageError
from reducekit.runtime import own_python

PLACE = "{}"  # the placeholder for the candidate's path, anywhere in any argument
OPTIONS = "{options}"  # the placeholder for the options that the candidate has in its comments
_OPTION = re.compile(rb"^(?:[c;#] ?|// ?)?option[ \t]+([^\n\0]*[^\s\0])", re.MULTILINE)
Vary: TypeAlias = Callable[[bytes, int], bytes]  # makes a text's variant with a number


Words: TypeAlias = str | Sequence[str]  # a command: a line, quoted as for a shell, or its words


class Command(NamedTuple):
    """A program and its arguments.

    `words[0]` is the absolute path of an executable file. The candidate's path replaces every `{}`
    in the arguments; if there is none, it is appended. With `stdin`, the candidate is passed on
    standard input instead (and any `{}` is still replaced). `{options}` is replaced by the options
    of the candidate, each a word: those of its lines `c option WORD` (also `; option WORD`).
    """

    words: tuple[str, ...]
    stdin: bool = False
    line: str | None = None  # the shell line, if a shell runs this; then `words` invoke the shell
    in_folder: str | None = None  # run in the candidate's folder, where it has this name
    several: bool = False
    """Candidates are folders of several files, and `in_folder` is the path of the first."""
    variant: int = 0  # run on this variant of the candidate; 0: on the candidate itself
    vary: Vary | None = None  # what makes the variant, which depends on the format
    patience: float = 0.0
    """Seconds that a run may take longer than the limit, and that do not count as its time."""

    @classmethod
    def of(cls, line: str | Sequence[str], *, stdin: bool = False, shell: bool = False) -> Command:
        """Make a command from a line, quoted as for a shell, or from its words.

        The program is looked up in PATH; a name with a slash is relative to the current directory.
        With `shell`, /bin/sh runs the line. Raises UsageError if the line is empty or needs a
        shell, or if the program cannot be run.
        """
        if shell:
            return _of_shell(line if isinstance(line, str) else shlex.join(line), stdin=stdin)
        if isinstance(line, str):
            try:
                words = shlex.split(line)
            except ValueError as error:
                raise UsageError(f"cannot parse the command {line!r}: {error}") from None
            _refuse_shell_syntax(line, words)
        else:
            words = list(line)
        if not words or not words[0]:
            raise UsageError("the command is empty")
        if any("\0" in word for word in words):
            raise UsageError("the command contains a NUL character")
        return cls((_find(words[0]), *words[1:]), stdin)

    def text(self, candidate: bytes) -> bytes:
        """Return what its file holds for a candidate."""
        return candidate if self.vary is None else self.vary(candidate, self.variant)

    @property
    def takes_options(self) -> bool:
        """Whether the candidate has options for this."""
        return any(OPTIONS in word for word in self.words)

    def with_options_of(self, candidate: bytes) -> Command:
        """Return the command with the options of a candidate in their place."""
        if not self.takes_options:
            return self
        options = options_of(candidate)
        line = self.line and self.line.replace(OPTIONS, shlex.join(options))
        words: list[str] = []
        for word in self.words:
            # Elsewhere than in a word of its own, it is in the line of a shell.
            several = word == OPTIONS
            words += options if several else [word.replace(OPTIONS, shlex.join(options))]
        return self._replace(words=tuple(words), line=line)

    def on_files(self, first: str, paths: Collection[str]) -> Command:
        """Return the command for folders with files at these paths.

        The first one is its argument, unless it names one itself or is a line of a shell. Files
        elsewhere that it names get their absolute paths.
        """
        words = self.words
        if self.line is not None:
            words = (*words[:2], self.line.replace(PLACE, '"$1"'), *words[3:])
        elif not any(PLACE in each or os.path.normpath(each) in paths for each in words):
            words = (*words, PLACE)
        return self._replace(
            words=tuple(
                os.path.abspath(each)
                if os.path.isfile(each) and os.path.normpath(each) not in paths
                else each
                for each in words
            ),
            in_folder=first,
            several=True,
        )

    def argv(self, path: str) -> list[str]:
        """Return the arguments for a candidate at `path`, the program first."""
        program, *rest = self.words
        if self.several:
            path = self.in_folder or "."
        elif not self.stdin and not any(PLACE in word for word in rest):
            rest.append(PLACE)
        return [program, *(word.replace(PLACE, path) for word in rest)]

    def shell_line(self, path: str, candidate: bytes | None = None) -> str:
        """Return the shell line that runs this on `path`: to show, and to try by hand.

        `candidate` is the text at `path`, if it is known: of another the options are not shown.
        """
        if candidate is not None:
            return self.with_options_of(candidate).shell_line(path)
        if path.startswith("-"):  # no program would take it for a file
            path = f"./{path}"
        if self.variant:
            root, suffix = os.path.splitext(path)
            other = f"{root}.v{self.variant}{suffix}"
            made = shlex.join(["reducekit", "variant", path, str(self.variant), "-o", other])
            return f"{made} && {self._replace(variant=0).shell_line(other)}"
        if self.in_folder is not None:
            name = shlex.quote(self.in_folder)
            if self.several:
                line = shlex.join(self.argv(path)) if self.line is None else self.line
                return f"cd {shlex.quote(path)} && {line.replace(PLACE, name)}"
            here = self._replace(in_folder=None).shell_line(self.in_folder)
            return f"d=$(mktemp -d) && cp {shlex.quote(path)} $d/{name} && cd $d && {here}"
        if self.line is not None:
            line = _with_place(self.line, stdin=self.stdin).replace(PLACE, shlex.quote(path))
        else:
            line = shlex.join(self.argv(path))
        return f"{line} < {shlex.quote(path)}" if self.stdin else line


FILE = "{file}"  # the placeholder for a file that a test of models writes for the program


def checking_model(module: str, command: Command, checker: Command | None = None) -> Command:
    """Return the command of a test that runs `module` on a command's model; 0 means a wrong model.

    `checker` is the program that is asked about models, if one is given. Raises UsageError for
    commands that read standard input.
    """
    words = own_python("-m", module)
    for each in (command, checker):
        if each is not None:
            if each.stdin:
                raise UsageError("`wrong_model` passes the file as an argument: omit `stdin`")
            words += ["--"] if each is checker else []
            words += [word.replace(PLACE, FILE) for word in each.words]
    return Command(tuple(words))


def tested_words(words: Sequence[str]) -> Sequence[str]:
    """Return the words of the program under test, those before it of a test of models left out."""
    ours = own_python("-m", "MODULE")
    is_test = list(words[1:3]) == ours[1:3] and words[3].endswith("model_check")
    return words[len(ours) :] if is_test else words


def options_of(candidate: bytes) -> list[str]:
    """Return the options that a text has in its comments, such as `c option --restart=false`."""
    return [word.decode("utf-8", "surrogateescape") for word in _OPTION.findall(candidate)]


_OPERATORS = "();<>|&"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z_0-9]*=")


def _refuse_shell_syntax(line: str, words: Sequence[str]) -> None:
    tokens = shlex.shlex(line, posix=False, punctuation_chars=True)
    tokens.whitespace_split = True
    tokens.commenters = ""
    try:
        found = next((token for token in tokens if not token.strip(_OPERATORS)), None)
    except ValueError:
        return  # a quote within a word, which only the other splitter accepts
    if found is None and words:
        first = words[0]
        if _ASSIGNMENT.match(first) or "$" in first:
            found = first
    if found is None:
        return
    raise UsageError(f"{found!r} in the command needs a shell: add `shell`")


def _of_shell(line: str, *, stdin: bool) -> Command:
    """Return the command that makes a shell run a line; the candidate's path is its $1."""
    if not line.strip():
        raise UsageError("the command is empty")
    script = _with_place(line, stdin=stdin).replace(PLACE, '"$1"')
    return Command(("/bin/sh", "-c", script, "sh", PLACE), stdin, line)


def _with_place(line: str, *, stdin: bool) -> str:
    return line if stdin or PLACE in line else f"{line} {PLACE}"


def _find(program: str) -> str:
    if "/" not in program:
        found = shutil.which(program)
        if found is not None:
            return os.path.abspath(found)
        hint = f"; did you mean ./{program}?" if os.path.isfile(program) else ""
        raise UsageError(f"the program {program!r} is not in PATH{hint}")
    path = os.path.abspath(os.path.expanduser(program))
    if not os.path.exists(path):
        raise UsageError(f"the program {program!r} does not exist")
    if os.path.isdir(path):
        raise UsageError(f"the program {program!r} is a directory")
    if not os.access(path, os.X_OK):
        raise UsageError(f"the program {program!r} is not executable (chmod +x {program})")
    return path


def why_not_run(path: str, error: OSError) -> str:
    """Explain why the existing program at `path` could not be started."""
    reason = error.strerror or str(error)
    try:
        with open(path, "rb") as file:
            first = file.readline(256)
    except OSError:
        return f"cannot run {path}: {reason}"
    if first.startswith(b"#!"):
        interpreter = os.fsdecode((first[2:].split() or [b""])[0])
        if not os.path.exists(interpreter):
            return f"cannot run {path}: its interpreter {interpreter!r} does not exist"
    elif not first.startswith(b"\x7fELF"):
        return f"cannot run {path}: {reason}; if it is a script, it may lack the line '#!/bin/sh'"
    return f"cannot run {path}: {reason}"


# A verdict belongs to a text *and* a test. Verdicts of an earlier run may be reused only if the
# test is unchanged, so a journal records the contents of its files.
#
# A file counts if a word of a command names it: the program, an argument (also after `=`), or a
# program in PATH that another one starts (`timeout 10 z3`). The words of shell lines and scripts
# are searched in the same way, recursively. Not found are files that no word names: a path put
# together from variables, the modules of a Python script, the shared libraries of a program.


_SCRIPT = 1 << 16  # number of bytes of a script that are searched for names
_HASHED = 1 << 30  # size in bytes above which only size and time are compared
_WORD = re.compile(r"[\w./~+@%:,-]+")
_LINES_OF_A_SHELL = re.compile(rb"#!.*\b(?:sh|bash|dash|zsh|ksh)\b")


class FileState(NamedTuple):
    """The state of a file."""

    size: int
    time: int  # when it was last modified, in nanoseconds
    digest: str  # digest of its content, in hexadecimal digits; empty for a very large file

    def same_content(self, other: FileState) -> bool:
        """Return whether two files have the same content, as far as is known."""
        if self.digest and other.digest:
            return (self.size, self.digest) == (other.size, other.digest)
        return self == other


Files = Mapping[str, FileState]  # the files of a test by path


def files_of(
    commands: Iterable[Command],
    more: Iterable[str | os.PathLike[str]] = (),
    *,
    without: Collection[str] = (),
    known: Files | None = None,
) -> dict[str, FileState]:
    """Return the files that some commands name, and `more`.

    `without` are absolute paths that are not part of the test, such as the input. A `known` file
    whose size and time are unchanged is not read.
    """
    found: dict[str, FileState] = {}
    todo = [os.path.abspath(path) for path in more]
    for command in commands:
        if command.line is not None:
            todo += _named(_WORD.findall(command.line), programs=True)
        else:
            todo += _named(command.words, programs=True)
    while todo:
        path = todo.pop()
        if path in found or path in without:
            continue
        state = _state(path, (known or {}).get(path))
        if state is not None:
            found[path] = state
            words, shell = _words_of_script(path, state)
            # In other languages, most words that match the name of a program mean something else.
            todo += _named(
                words if shell else (each for each in words if "/" in each), programs=shell
            )
    return found


def changed_files(before: Files, now: Files) -> list[str]:
    """Return the sorted paths of the files that were changed, removed or added."""
    return sorted(
        path
        for path in {*before, *now}
        if path not in before or path not in now or not before[path].same_content(now[path])
    )


def _named(words: Iterable[str], *, programs: bool) -> list[str]:
    """Return the paths that words name; with `programs`, also those of programs in PATH."""
    found = []
    for word in dict.fromkeys(words):
        for name in dict.fromkeys((word, word.rpartition("=")[2])):
            path = os.path.expanduser(name)
            if name and "\0" not in name and os.path.isfile(path):
                found.append(os.path.abspath(path))
            elif programs and name == word and name and not set("/\0") & set(name):
                program = shutil.which(name)
                if program is not None:
                    found.append(os.path.abspath(program))
    return found


@functools.lru_cache(maxsize=256)
def _words_of_script(path: str, state: FileState) -> tuple[tuple[str, ...], bool]:
    """Return the words of a script, and whether a shell runs it; no words for other files."""
    try:
        with open(path, "rb") as file:
            text = file.read(_SCRIPT)
    except OSError:
        return (), False
    if not text.startswith(b"#!"):
        return (), False
    first, _, rest = text.partition(b"\n")
    words = _WORD.findall(rest.decode("utf-8", "surrogateescape"))
    return tuple(dict.fromkeys(words)), _LINES_OF_A_SHELL.match(first) is not None


def _state(path: str, known: FileState | None) -> FileState | None:
    """Return the state of a file; None if it is not a regular file, or cannot be read."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return None
        if known is not None and known[:2] == (found.st_size, found.st_mtime_ns):
            return known
        digest = ""
        if found.st_size <= _HASHED:
            digest = _digest(path, found.st_size, found.st_mtime_ns, found.st_ino)
    except OSError:
        return None
    return FileState(found.st_size, found.st_mtime_ns, digest)


@functools.lru_cache(maxsize=256)
def _digest(path: str, size: int, time: int, node: int) -> str:
    """Return the digest of a file; cached, as a hunt asks for its solver's once for each bug."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
