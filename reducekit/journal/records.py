"""What a journal holds, as plain data, and how it stands in the file.

A file is a first line and records. A record is a checksum, its length and kind,
and what it holds. The checksum covers all of it and where it stands, so that
nothing left over from elsewhere is taken for a record. Loading ends at the first
record that is torn or wrong.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from reducekit.delta import patch
from reducekit.errors import UsageError
from reducekit.oracle.outcome import Outcome

KEY = 16
"""Bytes of a key."""
_NAME = b"reducekit journal "
MAGIC = _NAME + b"1\n"
OUTPUT = 1 << 16
"""Bytes kept of each stream of a golden run."""
_LONGEST_HEAD = 1 << 24  # bytes; a longer one is damage, not a file cut short

HEAD, VERDICT, STEP, RETURN, GOLDEN, NOTE, PASS = b"HVSRGNP"
_CHECKED = struct.Struct("<I")
_FRAME = struct.Struct("<IIB")  # checksum, length, kind
_REST = struct.Struct("<IB")
_VERDICT = struct.Struct("<16s?d")
_WHOLE_VERDICT = struct.Struct("<IB16s?d")
_STEP = struct.Struct("<16s16sQQdI")  # base, key, bytes, checks, seconds, length of the words
_RETURN = struct.Struct("<16s16s")  # given up, gone back to


def digest(text: bytes) -> bytes:
    """Return 128 bits that stand for a text."""
    return hashlib.sha256(text).digest()[:KEY]


@dataclass(frozen=True, slots=True)
class Head:
    """Whose journal it is: all that decides what the reduction does.

    `commands` are shell lines, `criterion` says in words what is kept alive,
    `settings` is whatever else decides, by name.
    """

    version: str
    input_digest: str
    """The first 128 bits of its SHA-256, in hexadecimal digits."""
    input_size: int
    frontend: str
    strategy: str
    commands: tuple[str, ...]
    criterion: str
    settings: Mapping[str, str]

    @classmethod
    def of(
        cls,
        text: bytes,
        *,
        version: str,
        frontend: str,
        strategy: str,
        commands: Sequence[str],
        criterion: str,
        settings: Mapping[str, str],
    ) -> Head:
        """Make the head for an input text."""
        return cls(
            version,
            digest(text).hex(),
            len(text),
            frontend,
            strategy,
            tuple(commands),
            criterion,
            dict(settings),
        )

    def differences(self, wanted: Head) -> list[str]:
        """Say in words how this head is not the one that is wanted; nothing if it is."""
        found = []
        if (self.input_digest, self.input_size) != (wanted.input_digest, wanted.input_size):
            found.append(
                f"another input (sha256 {self.input_digest[:12]}..., {self.input_size:,} bytes; "
                f"this one is {wanted.input_digest[:12]}..., {wanted.input_size:,} bytes)"
            )
        for name, old, new in (
            ("command", " and ".join(self.commands), " and ".join(wanted.commands)),
            ("criterion", self.criterion, wanted.criterion),
            ("format", self.frontend, wanted.frontend),
            ("strategy", self.strategy, wanted.strategy),
            ("version of reducekit", self.version, wanted.version),
        ):
            if old != new:
                found.append(f"another {name}: {old} (this one is: {new})")
        for name in sorted({*self.settings, *wanted.settings}):
            old, new = (each.settings.get(name, "not given") for each in (self, wanted))
            if old != new:
                found.append(f"another {name}: {old} (this one is: {new})")
        return found


@dataclass(frozen=True, slots=True)
class Step:
    """An accepted text. Number 0 is the input.

    `base` is the number of the step it was made from (0 for the input itself),
    and `delta` what makes its text out of that one's. `seconds` and `checks`
    are since the reduction began.
    """

    number: int
    base: int
    key: bytes
    size: int
    what: str
    pass_name: str
    seconds: float
    checks: int
    delta: bytes


@dataclass(frozen=True, slots=True)
class Return:
    """The best text did not fail every time: back from one step to an earlier one."""

    given_up: int
    step: int
    after: int
    """How many steps stand before this in the journal, the input among them."""


@dataclass(frozen=True, slots=True)
class PassEnd:
    """A pass has ended. `checks` and `seconds` are since the reduction began."""

    name: str
    round: int
    checks: int
    seconds: float


@dataclass(frozen=True, slots=True)
class GoldenRuns:
    """The outcomes of each golden run, one for each command that was run."""

    runs: tuple[tuple[Outcome, ...], ...]
    whole: bool
    """Whether the outputs are complete; else their first 64 KiB are here."""


@dataclass(slots=True)
class Contents:
    """All that could be read from a journal.

    `head` is None if the file ends before the end of its head.
    """

    head: Head | None = None
    verdicts: dict[bytes, tuple[bool, float]] = field(default_factory=dict)
    """By key: whether interesting, and the oracle's seconds. What was said last counts."""
    doubtful: set[bytes] = field(default_factory=set)
    """The keys that were said to be interesting before the last return, and not since."""
    steps: list[Step] = field(default_factory=list)
    """In the order in which they were accepted; a step's number is its place."""
    returns: list[Return] = field(default_factory=list)
    passes: list[PassEnd] = field(default_factory=list)
    """In the order in which they ended; a journal of an early version has none."""
    golden: GoldenRuns | None = None
    notes: dict[str, str] = field(default_factory=dict)
    current: int = 0
    """The number of the step that holds the best text."""
    numbers: dict[bytes, int] = field(default_factory=dict)
    """The number of the last step with this key."""
    size: int = 0
    """Bytes of the file up to the end of the last good record."""
    cut: int = 0
    """Bytes after that: a record that was torn, or more if the file is damaged."""

    def text(self, number: int) -> bytes:
        """Return the text of a step; each step on the way to it costs a copy of the text.

        Raises UsageError if that is not the text that was accepted.
        """
        way = []
        while number:
            way.append(self.steps[number])
            number = way[-1].base
        text = b""
        try:
            for step in (self.steps[0], *reversed(way)):
                text = patch(text, step.delta)
        except ValueError:
            text = b""
        if digest(text) != step.key:
            raise UsageError(f"step {step.number} cannot be restored: the journal is damaged")
        return text

    def walk(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield each step after the input: its number, the text it was made from, its own.

        Each costs one copy of its text, but for those that follow a return. Raises UsageError.
        """
        last, text = 0, self.text(0)
        for step in self.steps[1:]:
            old = text if step.base == last else self.text(step.base)
            try:
                text = patch(old, step.delta)
            except ValueError:
                raise UsageError(
                    f"step {step.number} cannot be restored: the journal is damaged"
                ) from None
            last = step.number
            yield step.number, old, text


def frame(kind: int, payload: bytes, at: int) -> bytes:
    """Return the record that stands at that offset."""
    rest = _REST.pack(len(payload), kind) + payload
    return _CHECKED.pack(zlib.crc32(rest, at & 0xFFFFFFFF)) + rest


def frame_verdict(key: bytes, interesting: bool, seconds: float, at: int) -> bytes:
    """Return the record of a verdict that stands at that offset."""
    rest = _WHOLE_VERDICT.pack(_VERDICT.size, VERDICT, key, interesting, seconds)
    return _CHECKED.pack(zlib.crc32(rest, at & 0xFFFFFFFF)) + rest


def head_payload(head: Head) -> bytes:
    """Return what the record of a head holds."""
    return json.dumps(asdict(head)).encode()


def step_payload(
    base: bytes, key: bytes, size: int, words: tuple[str, str], progress: tuple[int, float]
) -> bytes:
    """Return what the record of a step holds, but for the change.

    Steps are named by keys, which stay right whatever becomes of a record. The
    words are what was done and by which pass, the progress checks and seconds.
    """
    said = json.dumps(words).encode()
    return _STEP.pack(base, key, size, *progress, len(said)) + said


def return_payload(given_up: bytes, step: bytes) -> bytes:
    """Return what the record of a return holds, both by their keys."""
    return _RETURN.pack(given_up, step)


def note_payload(name: str, value: str) -> bytes:
    """Return what the record of a note holds."""
    return json.dumps([name, value]).encode()


def pass_payload(ended: PassEnd) -> bytes:
    """Return what the record of the end of a pass holds."""
    return json.dumps([ended.name, ended.round, ended.checks, ended.seconds]).encode()


def golden_payload(runs: Sequence[Sequence[Outcome]]) -> bytes:
    """Return what the record of the golden runs holds."""
    whole = all(
        max(len(outcome.stdout), len(outcome.stderr)) <= OUTPUT for run in runs for outcome in run
    )
    rows = [
        [
            {
                "status": outcome.status,
                "signal": outcome.signal,
                "stdout": outcome.stdout[:OUTPUT].decode("latin-1"),
                "stderr": outcome.stderr[:OUTPUT].decode("latin-1"),
                "limit": outcome.limit,
                "seconds": outcome.seconds,
            }
            for outcome in run
        ]
        for run in runs
    ]
    return zlib.compress(json.dumps({"whole": whole, "runs": rows}).encode(), 1)


def known(data: bytes, path: Path) -> bool:
    """Say whether a journal begins as `data` does and is of our format.

    Raises UsageError if it is no journal. No byte at all may become one.
    """
    if data.startswith(MAGIC) or MAGIC.startswith(data):
        return True
    if data.startswith(_NAME):
        return False
    raise UsageError(f"the file {path} is no journal of a reduction")


def parse(data: bytes, path: Path) -> Contents:
    """Return what is in the bytes of a journal; `path` is its name in messages.

    Raises UsageError if it is no journal, or its head is damaged.
    """
    if not known(data, path):
        written = data[len(_NAME) : len(_NAME) + 20].partition(b"\n")[0].decode(errors="replace")
        raise UsageError(
            f"the journal {path} was written by another version of reducekit (its format is "
            f"{written!r}, ours is {MAGIC[len(_NAME) : -1].decode()!r})"
        )
    found = Contents()
    if len(data) <= len(MAGIC):
        found.cut = len(data)
        return found
    at, view, verdicts = len(MAGIC), memoryview(data), found.verdicts
    while at + _FRAME.size <= len(data):
        checked, length, kind = _FRAME.unpack_from(data, at)
        start = at + _FRAME.size
        end = start + length
        if end > len(data):
            torn_head = found.head is None and length <= _LONGEST_HEAD
            break
        torn_head = False
        if zlib.crc32(view[at + _CHECKED.size : end], at & 0xFFFFFFFF) != checked:
            break
        if kind == VERDICT:
            key, interesting, seconds = _VERDICT.unpack_from(data, start)
            verdicts[key] = (interesting, seconds)
            found.doubtful.discard(key)
        else:
            try:
                _take(found, kind, data[start:end])
            except (ValueError, TypeError, KeyError, IndexError, struct.error, zlib.error):
                break
        at = end
    else:
        torn_head = found.head is None
    if found.head is None:
        if not torn_head:
            raise UsageError(f"the journal {path} is damaged: its head cannot be read")
        at = 0
    found.size, found.cut = at, len(data) - at
    return found


def _take(found: Contents, kind: int, payload: bytes) -> None:
    """Take in a record; one of an unknown kind says nothing to us."""
    if kind == HEAD:
        fields = json.loads(payload)
        found.head = Head(**{**fields, "commands": tuple(fields["commands"])})
    elif kind == STEP:
        step = _read_step(payload, found)
        found.steps.append(step)
        found.current = found.numbers[step.key] = step.number
    elif kind == RETURN:
        given_up, found.current = (found.numbers[key] for key in _RETURN.unpack(payload))
        found.returns.append(Return(given_up, found.current, len(found.steps)))
        found.doubtful = {key for key, (good, _) in found.verdicts.items() if good}
    elif kind == GOLDEN:
        said = json.loads(zlib.decompress(payload))
        runs = tuple(tuple(_read_outcome(**fields) for fields in run) for run in said["runs"])
        found.golden = GoldenRuns(runs, said["whole"])
    elif kind == PASS:
        name, number, checks, seconds = json.loads(payload)
        found.passes.append(PassEnd(str(name), int(number), int(checks), float(seconds)))
    elif kind == NOTE:
        name, value = json.loads(payload)
        found.notes[name] = value


def _read_step(payload: bytes, found: Contents) -> Step:
    base, key, size, checks, seconds, length = _STEP.unpack_from(payload)
    change = _STEP.size + length
    what, pass_name = json.loads(payload[_STEP.size : change])
    number = len(found.steps)
    before = found.numbers[base] if number else 0
    return Step(number, before, key, size, what, pass_name, seconds, checks, payload[change:])


def _read_outcome(stdout: str, stderr: str, **rest: object) -> Outcome:
    return Outcome(stdout=stdout.encode("latin-1"), stderr=stderr.encode("latin-1"), **rest)  # type: ignore[arg-type]
