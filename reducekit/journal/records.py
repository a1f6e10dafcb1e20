"""The contents of a journal as plain data, and their encoding in the file.

A file is a first line and records. A record is a checksum, its length and kind, and its contents.
The checksum covers all of it and its offset, so that nothing left over from elsewhere is mistaken
for a record. Loading ends at the first torn or damaged record.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from reducekit.errors import UsageError
from reducekit.oracle.command import Files, FileState
from reducekit.run import Outcome

KEY = 16  # length of a key in bytes
_NAME = b"reducekit journal "
MAGIC = _NAME + b"1\n"
OUTPUT = 1 << 16  # number of bytes kept of each stream of a golden run
_LONGEST_HEAD = 1 << 24  # bytes; a longer head means damage, not a truncated file

HEAD, VERDICT, STEP, RETURN, GOLDEN, NOTE, PASS, EARLIER, SEEN, BEST = b"HVSRGNPEKB"
_CHECKED = struct.Struct("<I")
_FRAME = struct.Struct("<IIB")  # checksum, length, kind
_REST = struct.Struct("<IB")
_VERDICT = struct.Struct("<16sBd")  # as long as with ?, which older journals have
_FAILS, _UNRESOLVED = 1, 2  # 0: it passes
_STEP = struct.Struct("<16s16sQQdI")  # base, key, bytes, checks, seconds, length of the words


def digest(text: bytes) -> bytes:
    """Return the 128-bit key of a text."""
    return hashlib.sha256(text).digest()[:KEY]


class Head(NamedTuple):
    """The identity of a journal: everything that determines what the reduction does.

    `commands` are shell lines, `criterion` describes the preserved failure, `settings` holds all
    other parameters by name.
    """

    version: str
    input_digest: str  # the first 128 bits of its SHA-256, in hexadecimal digits
    input_size: int
    frontend: str
    strategy: str
    commands: tuple[str, ...]
    criterion: str
    settings: Mapping[str, str]
    files: Files | None = None
    """The contents of the commands' files when the reduction began; None if unknown.

    A change is no difference between two reductions: after a test has changed, the steps of the
    earlier reduction are still worth trying, though its verdicts cannot be trusted.
    """

    @property
    def given(self) -> list[tuple[str, str]]:
        """The settings that were given, sorted by name."""
        return [each for each in sorted(self.settings.items()) if each[1] not in ("None", "False")]

    @classmethod
    def of(cls, text: bytes, *, commands: Sequence[str], **more: Any) -> Head:
        """Return the head for an input text; `more` are the other fields."""
        key = digest(text).hex()
        return cls(input_digest=key, input_size=len(text), commands=tuple(commands), **more)

    def differences(self, wanted: Head) -> list[str]:
        """Describe how this head differs from the wanted one; empty if it does not."""
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


class Step(NamedTuple):
    """An accepted text. Number 0 is the input.

    `base` is the number of the step it was made from (0 for the input itself), and `delta` turns
    that step's text into this one. `seconds` and `checks` are since the reduction began.
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


class Return(NamedTuple):
    """The best text did not fail every time: the reduction went back to an earlier step."""

    given_up: int
    step: int
    after: int  # the number of steps that precede this in the journal, including the input


class PassEnd(NamedTuple):
    """The end of a pass. `checks` and `seconds` are since the reduction began."""

    name: str
    round: int
    checks: int
    seconds: float


class GoldenRuns(NamedTuple):
    """The outcomes of each golden run, one for each command that was run."""

    runs: tuple[tuple[Outcome, ...], ...]
    whole: bool  # whether the outputs are complete; otherwise only their first 64 KiB are kept


@dataclass(slots=True)
class Contents:
    """Everything that could be read from a journal.

    `head` is None if the file ends before the end of its head.
    """

    head: Head | None = None
    verdicts: dict[bytes, tuple[bool, float]] = field(default_factory=dict)
    """By key: whether it is interesting, and the oracle's seconds. The last record counts."""
    unresolved: set[bytes] = field(default_factory=set)
    """The keys of texts that could be judged neither way; they count as not interesting."""
    unconfirmed: list[bytes] = field(default_factory=list)
    """The keys found not to be interesting since the failure was last seen."""
    doubtful: set[bytes] = field(default_factory=set)
    """The keys found to be interesting before the last return, and not since."""
    steps: list[Step] = field(default_factory=list)  # as accepted; a step's number is its index
    returns: list[Return] = field(default_factory=list)
    passes: list[PassEnd] = field(default_factory=list)
    """In the order in which they ended; journals of early versions have none."""
    earlier: Contents | None = None
    """The steps, and nothing else, of a reduction by the same command before its test changed."""
    golden: GoldenRuns | None = None
    notes: dict[str, str] = field(default_factory=dict)
    current: int = 0
    """The number of the step that holds the best text.

    A resumed search may take another path than the first, and stop above its result. So the best
    text changes where a step starts from it or a return gives it up (see `best_after`), and where
    a record of its own says so.
    """
    numbers: dict[bytes, int] = field(default_factory=dict)  # of the last step with this key
    size: int = 0  # the file's length up to the end of the last good record, in bytes
    cut: int = 0  # the bytes after that: a torn record, or more if the file is damaged

    def text(self, number: int) -> bytes:
        """Return the text of a step; each step that leads to it costs a copy of the text.

        Raises UsageError if the result is not the accepted text.
        """
        from reducekit.delta import patch

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

    def all_steps(self) -> Contents:
        """Return these steps and those from before the test changed; nothing else."""
        if self.earlier is None:
            return Contents(steps=self.steps, numbers=self.numbers)
        found = Contents(steps=list(self.earlier.steps), numbers=dict(self.earlier.numbers))
        for step in self.steps[1:]:
            base, number = found.numbers[self.steps[step.base].key], len(found.steps)
            found.steps.append(step._replace(number=number, base=base))
            found.numbers[step.key] = number
        return found

    def from_the_smallest(self) -> Iterator[bytes]:
        """Yield the texts of the steps, without duplicates, smallest first; not the input's."""
        seen = {self.steps[0].key}
        for step in sorted(self.steps, key=lambda step: (step.size, -step.number)):
            if step.key not in seen:
                seen.add(step.key)
                with suppress(UsageError):  # the journal is damaged
                    yield self.text(step.number)

    def walk(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield each step after the input: its number, the text it was made from, its own text.

        Each costs one copy of its text, except after a return. Raises UsageError.
        """
        from reducekit.delta import patch

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
    """Return the record to be written at that offset."""
    rest = _REST.pack(len(payload), kind) + payload
    return _CHECKED.pack(zlib.crc32(rest, at & 0xFFFFFFFF)) + rest


# What a record of each kind contains. Steps are named by keys, which stay valid if other records
# are lost.
#
#   HEAD     a Head, as JSON          GOLDEN   the golden runs, as compressed JSON
#   VERDICT  see `verdict_payload`    NOTE     name and value, as JSON
#   STEP     see `step_payload`       PASS     the fields of a PassEnd, as JSON
#   EARLIER  a step, too              SEEN     one byte: whether the failure was seen again
#   RETURN   the keys of the steps    BEST     the key of the best text
#            given up and returned to


def json_payload(value: object) -> bytes:
    """Return the contents of a record that is plain data."""
    return json.dumps(value).encode()


def verdict_payload(key: bytes, interesting: bool, seconds: float, *, unresolved: bool) -> bytes:
    """Return the contents of the record of a verdict."""
    return _VERDICT.pack(key, _UNRESOLVED if unresolved else interesting, seconds)


def step_payload(
    base: bytes, key: bytes, size: int, words: tuple[str, str], progress: tuple[int, float]
) -> bytes:
    """Return the contents of the record of a step, except for the delta.

    `words` are the change and its pass, `progress` the checks and seconds.
    """
    said = json_payload(words)
    return _STEP.pack(base, key, size, *progress, len(said)) + said


def earlier_payloads(earlier: Contents) -> Iterator[bytes]:
    """Yield the contents of the records of an earlier reduction's steps."""
    for step in earlier.steps[1:]:
        base, progress = earlier.steps[step.base].key, (step.checks, step.seconds)
        words = (step.what, step.pass_name)
        yield step_payload(base, step.key, step.size, words, progress) + step.delta


def golden_payload(runs: Sequence[Sequence[Outcome]]) -> bytes:
    """Return the contents of the record of the golden runs."""

    def row(outcome: Outcome) -> dict[str, Any]:
        out, err = (each[:OUTPUT].decode("latin-1") for each in (outcome.stdout, outcome.stderr))
        return {**outcome._asdict(), "stdout": out, "stderr": err}

    whole = all(max(len(each.stdout), len(each.stderr)) <= OUTPUT for run in runs for each in run)
    rows = [[row(outcome) for outcome in run] for run in runs]
    return zlib.compress(json_payload({"whole": whole, "runs": rows}), 1)


def best_after(best: bytes, left: bytes, reached: bytes) -> bytes:
    """Return the key of the best text after a step or return from `left` to `reached`, keys too."""
    return reached if best == left else best


def known(data: bytes, path: Path) -> bool:
    """Return whether this version reads journals that begin with `data`.

    Raises UsageError if it is not a journal. Empty data may still become one.
    """
    if data.startswith(MAGIC) or MAGIC.startswith(data):
        return True
    if data.startswith(_NAME):
        return False
    raise UsageError(f"{path} is not a reducekit journal")


def parse(data: bytes, path: Path) -> Contents:
    """Decode the bytes of a journal; `path` is its name in messages.

    Raises UsageError if it is not a journal, or its head is damaged.
    """
    if not known(data, path):
        written = data[len(_NAME) : len(_NAME) + 20].partition(b"\n")[0].decode(errors="replace")
        raise UsageError(
            f"the journal {path} was written by another version of reducekit (its format is "
            f"{written!r}, this version reads {MAGIC[len(_NAME) : -1].decode()!r})"
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
            key, said, seconds = _VERDICT.unpack_from(data, start)
            interesting = said == _FAILS
            verdicts[key] = (interesting, seconds)
            found.unresolved.discard(key)
            if said == _UNRESOLVED:
                found.unresolved.add(key)
            if interesting:
                found.unconfirmed.clear()
            else:
                found.unconfirmed.append(key)
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
    """Add the contents of a record; kinds that a later version may write are ignored."""
    if kind == STEP:
        step = _add_step(found, payload)
        _go_on(found, step.base, step.number)
    elif kind == EARLIER:
        if found.earlier is None:  # both begin with the same input
            found.earlier = Contents(steps=found.steps[:1], numbers={found.steps[0].key: 0})
        found.earlier.current = _add_step(found.earlier, payload).number
    elif kind == RETURN:
        given_up, number = (found.numbers[key] for key in (payload[:KEY], payload[KEY:]))
        _go_on(found, given_up, number)
        found.returns.append(Return(given_up, number, len(found.steps)))
        found.doubtful = {key for key, (good, _) in found.verdicts.items() if good}
    elif kind == BEST:
        found.current = found.numbers[payload]
    elif kind == SEEN:
        if not payload[0]:
            for key in found.unconfirmed:
                found.verdicts.pop(key, None)
        found.unconfirmed.clear()
    elif kind == PASS:
        name, number, checks, seconds = json.loads(payload)
        found.passes.append(PassEnd(str(name), int(number), int(checks), float(seconds)))
    elif kind == NOTE:
        name, value = json.loads(payload)
        found.notes[name] = value
    elif kind == HEAD:
        said = json.loads(payload)
        files = said.get("files")
        if files is not None:
            files = {path: FileState(*state) for path, state in files.items()}
        found.head = Head(**{**said, "commands": tuple(said["commands"]), "files": files})
    elif kind == GOLDEN:
        said = json.loads(zlib.decompress(payload))
        runs = tuple(tuple(_outcome(**fields) for fields in run) for run in said["runs"])
        found.golden = GoldenRuns(runs, said["whole"])


def _outcome(stdout: str, stderr: str, **rest: Any) -> Outcome:
    return Outcome(stdout=stdout.encode("latin-1"), stderr=stderr.encode("latin-1"), **rest)


def _add_step(found: Contents, payload: bytes) -> Step:
    base, key, size, checks, seconds, length = _STEP.unpack_from(payload)
    change = _STEP.size + length
    what, pass_name = json.loads(payload[_STEP.size : change])
    number = len(found.steps)
    before = found.numbers[base] if number else 0
    step = Step(number, before, key, size, what, pass_name, seconds, checks, payload[change:])
    found.steps.append(step)
    found.numbers[key] = number
    return step


def _go_on(found: Contents, left: int, reached: int) -> None:
    keys = (found.steps[number].key for number in (found.current, left, reached))
    found.current = found.numbers[best_after(*keys)]
