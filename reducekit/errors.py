"""The errors a user can cause, each with the exit code that the command line gives it.

Exit codes: 0 done, 1 the golden run does not fail (or is flaky), 2 usage,
3 the input does not parse, 4 internal, 5 stopped early by a limit or a request with the best
result saved, 130 the same by a signal.
"""

from __future__ import annotations


class ReducekitError(Exception):
    """Base of all errors that are answers to a user, never bugs of ours."""

    exit_code = 4


class NotInterestingError(ReducekitError):
    """The golden run does not fail, or not every time."""

    exit_code = 1


class UsageError(ReducekitError):
    """A command, file or option that cannot be used."""

    exit_code = 2


class StoppedError(ReducekitError):
    """A session was stopped before there was a result."""

    exit_code = 130


class OtherFormatError(ReducekitError):
    """An input that is of another format than the one it was given as."""

    exit_code = 3

    def __init__(self, name: str, found: str, title: str) -> None:
        self.name = name
        self.found = found
        """The format that it is of."""
        super().__init__(f"{name} looks like {title}: use the format {found!r}")


class ParseError(ReducekitError):
    """An input that is not of its format.

    `line` and `column` count from 1, columns in bytes; `offset` counts bytes from 0.
    """

    exit_code = 3

    def __init__(self, message: str, text: bytes, offset: int) -> None:
        self.message = message
        self.offset = offset
        self.line = text.count(b"\n", 0, offset) + 1
        self.column = offset - (text.rfind(b"\n", 0, offset) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {message}")
