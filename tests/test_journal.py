"""The journal: what was written is there again, whatever kills, cuts, flips and full disks do."""

import os
import random
import resource
import select
import signal
import struct
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reducekit.delta import delta, patch
from reducekit.errors import UsageError
from reducekit.journal import (
    Contents,
    Head,
    Journal,
    Return,
    Step,
    digest,
    journal_path,
    load,
    open_journal,
)
from reducekit.run import Outcome

INPUT = b"".join(b"(assert (> x%d %d))\n" % (i, i * i) for i in range(40))


def head_of(text: bytes = INPUT, **changes: Any) -> Head:
    head = Head.of(
        text,
        version="1.2",
        frontend="smt2",
        strategy="adaptive",
        commands=["solver --opt '{}'"],
        criterion="exit status 3",
        settings={"width": "8"},
    )
    return head._replace(**changes)


def begin(path: Path, text: bytes = INPUT, *, resume: bool = False) -> Journal:
    return open_journal(path, head_of(text), text, resume=resume)


def key_of(number: int) -> bytes:
    return digest(b"%d" % number)


def write_some(path: Path, lines: int = 4) -> list[bytes]:
    """Write a small journal with a record of each kind; return the texts of the steps."""
    texts = [INPUT]
    with begin(path) as journal:
        journal.golden([[Outcome(3, None, b"o", b"e", None, 0.25)]] * 2)
        journal.verdict(digest(b""), False, 0.5)
        for number in range(lines):
            journal.verdict(key_of(number), number % 2 == 0, number / 8)
            kept = texts[-1].splitlines(keepends=True)
            del kept[number * 3]
            texts.append(b"".join(kept))
            journal.step(texts[-1], f"line {number}", "lines", seconds=number, checks=number)
        journal.rolled_back(texts[2])
        journal.note("elapsed", "1.5")
    return texts


def facts(found: Contents) -> list[tuple[object, ...]]:
    """Return what was loaded as a list to which each record adds something."""
    return [
        *((key, *value) for key, value in found.verdicts.items()),
        *((step.number, step.key, step.what, found.text(step.number)) for step in found.steps),
        *((back,) for back in found.returns),
        *found.notes.items(),
        *([(found.golden,)] if found.golden else []),
    ]


# ---- round trips ----

TEXTS = st.binary(max_size=300) | st.integers(0, 39).map(
    lambda n: b"".join(INPUT.splitlines(keepends=True)[n:])
)
RECORDS = st.one_of(
    st.tuples(
        st.just("verdict"),
        st.binary(min_size=16, max_size=16),
        st.booleans(),
        st.floats(0, allow_infinity=False),
    ),
    st.tuples(st.just("step"), TEXTS, st.text(max_size=20), st.text(max_size=5)),
    st.tuples(st.just("back"), st.integers(0, 100)),
    st.tuples(st.just("note"), st.sampled_from(["a", "b"]), st.text(max_size=9)),
    st.tuples(st.just("reopen")),
)


def test_the_last_verdict_says_whether_a_text_is_unresolved(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        for number, unresolved in ((1, True), (2, True), (2, False), (3, False), (3, True)):
            journal.verdict(key_of(number), False, 0.5, unresolved=unresolved)
    found = load(tmp_path / "j")
    assert found.unresolved == {key_of(1), key_of(3)}
    assert found.verdicts == {key_of(number): (False, 0.5) for number in (1, 2, 3)}


@settings(max_examples=100, deadline=None)
@given(records=st.lists(RECORDS, max_size=25))
def test_what_is_written_is_loaded(
    records: list[tuple[Any, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j"
    journal = begin(path)
    verdicts: dict[bytes, tuple[bool, float]] = {}
    doubtful: set[bytes] = set()
    notes: dict[str, str] = {}
    texts = [INPUT]
    said = [("", "")]
    best = INPUT
    backs = 0
    for count, (kind, *values) in enumerate(records):
        if kind == "verdict":
            journal.verdict(*values)
            verdicts[values[0]] = tuple(values[1:])
            doubtful.discard(values[0])
        elif kind == "step":
            best, *words = values
            number = journal.step(best, *words, seconds=count / 4, checks=count)
            assert number == len(texts)
            texts.append(best)
            said.append((words[0], words[1]))
        elif kind == "back":
            best = texts[values[0] % len(texts)]
            assert texts[journal.rolled_back(best)] == best
            doubtful = {key for key, (good, _) in verdicts.items() if good}
            backs += 1
        elif kind == "note":
            journal.note(*values)
            notes[values[0]] = values[1]
        else:
            journal.close()
            journal = begin(path, resume=True)
            assert journal.resumed
    journal.close()
    assert journal.trouble is None
    found = load(path)
    assert (found.cut, found.size) == (0, path.stat().st_size)
    assert found.head == head_of()
    assert found.verdicts == verdicts
    assert found.doubtful == doubtful
    assert found.notes == notes
    assert [(step.what, step.pass_name) for step in found.steps] == said
    assert [found.text(step.number) for step in found.steps] == texts
    assert [step.size for step in found.steps] == list(map(len, texts))
    assert len(found.returns) == backs
    assert found.text(found.current) == best


@settings(max_examples=150, deadline=None)
@given(
    size=st.sampled_from([0, 3, 200, 40_000, 150_000]),
    edits=st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from([0, 1, 40, 5000, 60_000]), st.binary()),
        max_size=12,
    ),
    seed=st.integers(0, 9),
)
def test_a_delta_is_undone_by_its_patch(
    size: int, edits: list[tuple[float, int, bytes]], seed: int
) -> None:
    chosen = random.Random(seed)
    old = bytes(chosen.choices(b"ab() 01\n", k=min(size, 9000))) * (1 + size // 9000)
    new = bytearray(old)
    for place, gone, fresh in edits:
        at = int(place * len(new))
        new[at : at + gone] = fresh
    for before, after in ((old, bytes(new)), (bytes(new), old)):
        assert patch(before, delta(before, after)) == after


def test_a_delta_of_earlier_versions_is_read() -> None:
    old = b"(assert (= x y))\n" * 100
    squeeze = zlib.compressobj(1, zlib.DEFLATED, -15, zdict=old[3:-4])
    body = squeeze.compress(struct.pack("<I", 0) + old[40:900]) + squeeze.flush()
    assert patch(old, struct.pack("<IIB", 3, 4, 1) + body) == old[:3] + old[40:900] + old[-4:]
    plain = struct.pack("<IIBIIII", 3, 4, 0, 1, 1, 10, 20)
    assert patch(old, plain + b"+") == old[:3] + b"+" + old[13:33] + old[-4:]


def test_many_places_in_a_short_text_cost_a_few_bytes_each() -> None:
    lines = [b"(assert (distinct x%d y%d))\n" % (i, i * i % 977) for i in range(1000)]
    old, new = b"".join(lines), b"".join(line for i, line in enumerate(lines) if i % 10)
    change = delta(old, new)
    assert patch(old, change) == new
    assert len(change) < 600


def test_a_step_takes_as_much_as_it_changes(tmp_path: Path) -> None:
    lines = [b"(assert (distinct x%d y%d))\n" % (i, i * i) for i in range(50_000)]
    text = b"".join(lines)
    with begin(tmp_path / "j", text) as journal:
        sizes = [(tmp_path / "j").stat().st_size]
        assert sizes[0] < len(text) / 3
        for kept in (
            lines[:20_000] + lines[20_001:],
            lines[:100] + lines[40_000:],
            [line for i, line in enumerate(lines) if i % 500],
            [line.replace(b"distinct", b"=") if i % 500 else line for i, line in enumerate(lines)],
            [line if i % 500 else line.replace(b"distinct", b"=") for i, line in enumerate(lines)],
        ):
            journal.step(text, "", "", seconds=0, checks=0)
            before = (tmp_path / "j").stat().st_size
            journal.step(b"".join(kept), "", "", seconds=0, checks=0)
            sizes.append((tmp_path / "j").stat().st_size - before)
    assert sizes[1] < 120
    assert sizes[2] < 120
    assert sizes[3] < 2000
    assert sizes[4] < sizes[0]
    assert sizes[5] < 3000


@pytest.mark.parametrize("change", [b"", b"abc", bytes(9), b"\0" * 8 + b"\1abc", b"\xff" * 40])
def test_a_wrong_patch_is_noticed(change: bytes) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        patch(b"some text", change)


def test_the_golden_runs(tmp_path: Path) -> None:
    first = [
        Outcome(None, 11, bytes(range(256)), b"\xff\n", None, 0.125),
        Outcome(None, 9, b"", b"", "time", 2.5),
    ]
    with begin(tmp_path / "j") as journal:
        journal.golden([first, first[:1]])
    golden = load(tmp_path / "j").golden
    assert golden is not None
    assert golden.runs == (tuple(first), tuple(first[:1]))
    assert golden.whole
    with begin(tmp_path / "j", resume=True) as journal:
        journal.golden([[first[0]._replace(stderr=b"x" * 100_000)]])
    golden = load(tmp_path / "j").golden
    assert golden is not None
    assert golden.runs[0][0].stderr == b"x" * 65536
    assert not golden.whole


def test_the_place(tmp_path: Path) -> None:
    assert journal_path(tmp_path / "out.smt2") == tmp_path / "out.smt2.journal"
    assert journal_path(Path(".")) == Path(".journal")
    longest = journal_path(tmp_path / ("ä" * 127))
    longest.touch()
    assert longest.name.endswith(".journal")


# ---- going on ----


def test_replaying_writes_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "j"
    texts = write_some(path)
    before = path.read_bytes()
    with begin(path, resume=True) as journal:
        assert journal.current == 2
        journal.replay()
        for number, text in enumerate(texts[1:], 1):
            assert journal.step(text, "again", "", seconds=9, checks=9) == number
        assert journal.rolled_back(texts[2]) == 2
        assert path.read_bytes() == before
        assert journal.step(b"new", "new", "", seconds=9, checks=9) == len(texts)
        assert journal.step(texts[3], "new", "", seconds=9, checks=9) == len(texts) + 1
    found = load(path)
    assert [found.text(number) for number in (5, 6)] == [b"new", texts[3]]
    assert (found.steps[5].base, found.steps[6].base, found.current) == (2, 5, 6)


def test_the_best_text_on_another_path(tmp_path: Path) -> None:
    """Only a caller that knows the order of texts can tell when this path gets below the best."""
    path = tmp_path / "j"
    texts = write_some(path)

    def best() -> bytes:
        found = load(path)
        return found.text(found.current)

    with begin(path, resume=True) as journal:
        journal.replay()
        assert best() == texts[2]
        for text in (b"another", b"path"):
            journal.step(text, "", "", seconds=0, checks=0)
            assert best() == texts[2]
        before = path.read_bytes()
        journal.best(texts[2])
        journal.best(b"no step")
        assert path.read_bytes() == before
        journal.best(b"path")
        assert best() == b"path"
        journal.step(b"lower", "", "", seconds=0, checks=0)
        assert best() == b"lower"
        journal.rolled_back(b"another")
        assert best() == b"another"
        journal.best(texts[2])
        journal.rolled_back(texts[0])
        assert best() == texts[2]
    with begin(path, resume=True) as journal:
        assert journal.current == load(path).current
        journal.step(b"on", "", "", seconds=0, checks=0)
        assert best() == b"on"
    with begin(tmp_path / "new") as journal:
        journal.step(b"first", "", "", seconds=0, checks=0)
        size = journal.path.stat().st_size
        journal.best(b"first")
        assert journal.path.stat().st_size == size


def test_replaying_may_take_another_way(tmp_path: Path) -> None:
    path = tmp_path / "j"
    texts = write_some(path)
    with begin(path, resume=True) as journal:
        journal.replay()
        journal.step(texts[1], "", "", seconds=0, checks=0)
        assert journal.step(b"another", "other", "", seconds=0, checks=0) == 5
        assert journal.step(texts[2], "", "", seconds=0, checks=0) == 6
    found = load(path)
    assert [step.base for step in found.steps] == [0, 0, 1, 2, 3, 1, 5]
    assert found.text(6) == texts[2]
    assert found.text(4) == texts[4]


def test_beginning_anew_replaces_a_journal(tmp_path: Path) -> None:
    write_some(tmp_path / "j")
    with begin(tmp_path / "j", b"other") as journal:
        assert not journal.resumed
    found = load(tmp_path / "j")
    assert (found.head, len(found.steps), found.verdicts) == (head_of(b"other"), 1, {})


@pytest.mark.parametrize("content", [b"", b"reduce"])
def test_resuming_nothing_begins(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "j").write_bytes(content)
    with begin(tmp_path / "j", resume=True) as journal:
        assert not journal.resumed
    assert load(tmp_path / "j").text(0) == INPUT


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"input_digest": "00ff"}, r"another input \(sha256 [0-9a-f]{12}..., 8\d\d bytes; .*00ff"),
        ({"commands": ("a", "b")}, r"another command: solver .*\(this one is: a and b\)"),
        ({"criterion": "no"}, r"another criterion: exit status 3 \(this one is: no\)"),
        ({"frontend": "btor"}, "another format: smt2"),
        ({"strategy": "hdd"}, "another strategy: adaptive"),
        ({"version": "2"}, r"another version of reducekit: 1\.2"),
        ({"settings": {"width": "9"}}, r"another width: 8 \(this one is: 9\)"),
        ({"settings": {}}, r"another width: 8 \(this one is: not given\)"),
        ({"strategy": "hdd", "version": "2"}, "another strategy: .*; and of another version"),
    ],
)
def test_a_journal_of_something_else_is_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    write_some(tmp_path / "j")
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(UsageError, match=f"the journal .*/j is of {said}"):
        open_journal(tmp_path / "j", head_of(**changes), INPUT, resume=True)
    assert (tmp_path / "j").read_bytes() == before


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize(
    "content", [b"x", b"reducekit", b"(check-sat)\n", b"reducekit journey 1\n"]
)
def test_no_other_file_is_touched(tmp_path: Path, content: bytes, resume: bool) -> None:
    path = tmp_path / "j"
    path.write_bytes(content)
    if b"reducekit journal 1\n".startswith(content):
        return begin(path, resume=resume).close()
    with pytest.raises(UsageError, match="is not a reducekit journal"):
        begin(path, resume=resume)
    with pytest.raises(UsageError, match="is not a reducekit journal"):
        load(path)
    assert path.read_bytes() == content
    return None


def test_a_journal_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(b"reducekit journal 22\n...")
    with pytest.raises(UsageError, match=r"another version of reducekit \(its format is '22'"):
        begin(tmp_path / "j", resume=True)
    begin(tmp_path / "j").close()
    assert load(tmp_path / "j").text(0) == INPUT


@pytest.mark.parametrize("resume", [True, False])
def test_what_cannot_be_a_journal(tmp_path: Path, resume: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none" / "j", "No such file"),
        (tmp_path / "pipe", "is not a regular file"),
        (Path("/dev/null"), "is not a regular file"),
        (tmp_path / ("x" * 300), "name too long"),
        (tmp_path / "a\0b", "null"),
    ):
        with pytest.raises(UsageError, match=said):
            begin(path, resume=resume)


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in (
        (tmp_path, "is not a regular file"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "pipe", "is not a regular file"),
        (tmp_path / ("x" * 300), "name too long"),
    ):
        with pytest.raises(UsageError, match=said):
            load(path)


def test_a_journal_in_use_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        for resume in (True, False):
            with pytest.raises(UsageError, match="in use by another reduction"):
                begin(tmp_path / "j", resume=resume)
        journal.note("still", "there")
        assert load(tmp_path / "j").notes == {"still": "there"}
    begin(tmp_path / "j", resume=True).close()


# ---- damage ----


@pytest.mark.slow
def test_cut_anywhere_a_journal_goes_on(tmp_path: Path) -> None:
    write_some(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    everything = facts(load(tmp_path / "whole"))
    path = tmp_path / "cut"
    counts = []
    for size in range(len(data)):
        path.write_bytes(data[:size])
        found = load(path)
        assert set(facts(found)) <= set(everything)
        assert found.size + found.cut == size
        counts.append(len(facts(found)))
        with begin(path, resume=True) as journal:
            assert journal.resumed == (found.head is not None)
            journal.verdict(key_of(1000), True, 1.0)
            journal.step(b"more", "", "", seconds=0, checks=0)
        after = load(path)
        assert after.cut == 0
        assert {*facts(found), (key_of(1000), True, 1.0)} <= set(facts(after))
        assert after.text(after.current) == b"more"
        assert after.text(0) == INPUT
    assert counts == sorted(counts)
    assert counts[-1] == len(everything) - 1


@pytest.mark.slow
def test_no_flipped_byte_makes_a_wrong_record(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write_some(path, lines=3)
    data = path.read_bytes()
    everything = set(facts(load(path)))
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        try:
            found = load(path)
        except UsageError:
            continue
        assert found.head in (head_of(), None)
        assert found.cut
        assert set(facts(found)) < everything


def test_a_damaged_head_is_not_taken_for_a_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write_some(path)
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    with pytest.raises(UsageError, match="is damaged: its head cannot be read"):
        begin(path, resume=True)
    assert path.read_bytes() == data


def test_zeros_behind_the_end_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write_some(path)
    data = path.read_bytes()
    path.write_bytes(data + bytes(5000))
    assert load(path).cut == 5000
    begin(path, resume=True).close()
    assert path.read_bytes() == data


def test_a_text_that_is_not_the_accepted_one_is_not_restored() -> None:
    found = Contents(steps=[Step(0, 0, digest(b"a"), 1, "", "", 0, 0, delta(b"", b"b"))])
    with pytest.raises(UsageError, match="step 0 cannot be restored"):
        found.text(0)


# ---- kills and interrupts ----

WRITER = """
    import os, sys
    from pathlib import Path
    from tests.test_journal import INPUT, begin, key_of

    with begin(Path(sys.argv[1]), resume=True) as journal:
        start = len(journal.found.verdicts)
        for number in range(start, 10**9):
            if number % 10 == 0:
                journal.step(INPUT[number % 700 :], f"{number}", "", seconds=0, checks=number)
            journal.verdict(key_of(number), number % 3 == 0, number / 8)
            os.write(1, b"%d\\n" % number)
"""


def start_python(code: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    root = Path(__file__).resolve().parent.parent
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=root,
        stdout=subprocess.PIPE,
    )


@pytest.mark.slow
def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    chosen = random.Random(5)
    path = tmp_path / "j"
    for _ in range(8):
        writer = start_python(WRITER, path)
        assert writer.stdout is not None
        output = bytearray()
        wanted = chosen.randrange(1, 3000)
        while output.count(b"\n") < wanted:
            output += os.read(writer.stdout.fileno(), chosen.randrange(1, 4096))
        assert select.select([writer.stdout], [], [], 60)[0]
        writer.kill()
        output += writer.stdout.read()
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        last = int(output.rpartition(b"\n")[0].rpartition(b"\n")[2])
        found = load(path)
        assert len(found.verdicts) in (last + 1, last + 2)
        for number in range(last + 1):
            assert found.verdicts[key_of(number)] == (number % 3 == 0, number / 8)
        # A step whose verdict was not written any more is there twice.
        steps = list(dict.fromkeys(int(step.what) for step in found.steps[1:]))
        assert steps == list(range(0, 10 * len(steps), 10))
        assert len(steps) > last // 10
        for step in found.steps[1 :: len(steps) // 20 + 1]:
            assert found.text(step.number) == INPUT[int(step.what) % 700 :]


@pytest.fixture
def interrupt_at() -> Iterator[Callable[[int], None]]:
    """Give a function that raises KeyboardInterrupt at the n-th line from now in the store."""
    before = sys.gettrace()

    def arrange(line: int) -> None:
        left = line

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.endswith("journal/store.py"):
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    sys.settrace(before)
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)

    yield arrange
    sys.settrace(before)


def test_an_interrupt_anywhere_spoils_nothing(
    tmp_path: Path, interrupt_at: Callable[[int], None]
) -> None:
    path = tmp_path / "j"
    line, interrupted = 0, True
    while interrupted:
        line += 1
        with begin(path) as journal:
            journal.step(b"first", "", "", seconds=0, checks=0)
            done = 0
            try:
                interrupt_at(line)
                journal.verdict(key_of(1), True, 1)
                done = 1
                journal.step(b"second", "", "", seconds=0, checks=0)
                done = 2
                journal.rolled_back(b"first")
                done = 3
                interrupted = False
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)
            journal.note("then", "more")
            journal.step(b"last", "", "", seconds=0, checks=0)
            assert journal.trouble is None
        found = load(path)
        assert found.cut == 0
        assert found.notes == {"then": "more"}
        assert found.text(found.current) == b"last"
        texts = [found.text(step.number) for step in found.steps]
        assert (key_of(1) in found.verdicts) >= (done >= 1)
        assert (b"second" in texts) >= (done >= 2)
        assert len(found.returns) >= (done >= 3)
    assert line > 20


# ---- no room, no file ----


def in_a_child(work: Callable[[], None]) -> None:
    """Run something in a forked child, whose limits are its own; its assertions count."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def allow_files_of(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))


def test_a_full_disk_is_remembered_and_made_up_for(tmp_path: Path) -> None:
    path = tmp_path / "j"

    def work() -> None:
        with begin(path) as journal:
            allow_files_of(path.stat().st_size + 100)
            for number in range(100):
                journal.verdict(key_of(number), True, number)
                assert (journal.trouble is not None) == (number >= 2)
            journal.step(b"text", "", "", seconds=0, checks=0)
            assert journal.trouble is not None
            assert journal.trouble.strerror == "File too large"
            found = load(path)
            assert (len(found.verdicts), len(found.steps), found.cut > 0) == (2, 1, True)
            allow_files_of(resource.RLIM_INFINITY)
            journal.note("room", "again")
            assert journal.trouble is None
            allow_files_of(path.stat().st_size + 5)
            journal.note("at the", "end")
            allow_files_of(resource.RLIM_INFINITY)

    in_a_child(work)
    found = load(path)
    assert (len(found.verdicts), found.text(1), found.cut) == (100, b"text", 0)
    assert found.notes == {"room": "again", "at the": "end"}


@pytest.mark.parametrize("room", [0, 5, 30, 500, 800])
def test_a_disk_that_stays_full(tmp_path: Path, room: int) -> None:
    path = tmp_path / "j"

    def work() -> None:
        allow_files_of(room)
        with begin(path) as journal:
            for number in range(10_000):  # more than is kept
                journal.verdict(key_of(number), True, number)
            assert journal.step(b"text", "", "", seconds=0, checks=0) == 1
            assert journal.rolled_back(INPUT) == 0
            assert journal.trouble is not None
            allow_files_of(resource.RLIM_INFINITY)
            journal.note("too", "late")

    in_a_child(work)
    assert path.stat().st_size == room
    assert load(path).notes == {}
    with begin(path, resume=True) as journal:
        journal.verdict(key_of(1), True, 1)
    assert load(path).cut == 0


def test_a_deleted_file_is_remembered(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        (tmp_path / "j").unlink()
        journal.verdict(key_of(1), True, 1)
        assert "deleted" in str(journal.trouble)
        journal.step(b"text", "", "", seconds=0, checks=0)
        journal.rolled_back(INPUT)
    assert not (tmp_path / "j").exists()


def test_a_file_cut_by_others_is_remembered(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal:
        os.truncate(tmp_path / "j", 30)
        journal.verdict(key_of(1), True, 1)
        assert "truncated it" in str(journal.trouble)
    assert (tmp_path / "j").stat().st_size == 30


def test_a_key_of_another_length_is_no_key(tmp_path: Path) -> None:
    with begin(tmp_path / "j") as journal, pytest.raises(ValueError, match="16 bytes, not 5"):
        journal.verdict(b"again", True, 1)


def test_a_return_has_its_place_among_the_steps(tmp_path: Path) -> None:
    texts = write_some(tmp_path / "j")
    with begin(tmp_path / "j", resume=True) as journal:
        journal.step(b"", "all", "lines", seconds=9, checks=9)
    found = load(tmp_path / "j")
    assert found.returns == [Return(len(texts) - 1, 2, len(texts))]
    smallest = list(found.from_the_smallest())
    assert smallest == [b"", *texts[:0:-1]]


def test_an_earlier_text_that_is_no_step_becomes_one(tmp_path: Path) -> None:
    texts = write_some(tmp_path / "j")
    with begin(tmp_path / "j", resume=True) as journal:
        assert journal.rolled_back(b"new") == len(texts)
    found = load(tmp_path / "j")
    assert found.text(found.current) == b"new"
    step = found.steps[found.current]
    assert (step.what, step.pass_name, step.checks, step.seconds) == ("", "", 0, 0.0)
    assert found.returns[-1] == Return(2, len(texts), len(texts) + 1)
