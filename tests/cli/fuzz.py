"""Types mutated command lines on mutated inputs: `python -m tests.cli.fuzz [COUNT [FIRST]]`.

Whatever is typed, there is an answer: no traceback, no hang, an exit code that is documented. Each
case has a number, which is its seed. They run within this process, one after the other.
"""

import contextlib
import faulthandler
import gzip
import io
import random
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from reducekit.cli import process, replay
from reducekit.cli.group import invoke
from reducekit.cli.process import Interrupts, ProcessContext

LONGEST = 60
"""Seconds after which a case is a hang."""
CODES = {0, 1, 2, 3, 5, 86, 87, 88}
"""What may come out: 86 to 88 and what a signal ends are those of `replay`."""

INPUTS: dict[str, bytes] = {
    "in.smt2": b"""(set-logic QF_LIA)
(declare-fun a () Int)
(declare-const b Int)
(define-fun f ((x Int)) Int (+ x 1))
(push 1)
(assert (! (let ((c (* 2 a))) (and (> c b) (= (f c) (ite (> a 0) 1 (- 2))))) :named n))
(check-sat)
(get-value (a b))
(pop 1)
""",
    "in.btor": b"""1 var 8 a
2 array 8 3
3 constd 3 5
4 read 8 2 3
5 add 8 1 4
6 slice 1 5 7 7
7 root 1 6
""",
    "in.btor2": b"""1 sort bitvec 8
2 sort bitvec 1
3 state 1 s
4 input 1 i
5 zero 1
6 init 1 3 5
7 add 1 3 4
8 next 1 3 7
9 redor 2 3
10 bad 9
""",
    "lgl.trace": b"""init
option verbose 0
add 1
add -2
add 0
assume 2
sat
return 10
deref 1
return 1
release
""",
    "mobical.trace": b"""init
set elim 0
add 1
add 0
add -1
add 2
add 0
solve 10
val 1 1
reset
""",
    "own.ipasir": b"init\nadd 1\nadd 0\nsolve\nrelease\n",
    "words.trace": b"new\nreturn 0x1\nset_opt 0x1 1 model-gen 1\nbitvec_sort 0x1 8\n"
    b"return s1@0x1\nvar 0x1 s1@0x1 x\nreturn n2@0x1\nrelease 0x1 n2@0x1\n"
    b"release_sort 0x1 s1@0x1\ndelete 0x1\n",
    "in.cnf": b"p cnf 2 2\n1 -2 0\n2 0\n",
    "notes.txt": b"a (b [c] d)\n\n  e, f\n",
}
LINES = (
    "smt2 in.smt2 --oracle ./test.sh",
    "smt2 in.smt2 --cmd ./crash.sh --also-passes true --json",
    "smt2 in.smt2 out.smt2 ./crash.sh",
    "smt2 in.smt2 --cmd ./say.sh --reference true --timeout 2",
    "smt2 in.smt2 --cmd ./say.sh --match-out sat --exit-code 0 --pretty --lenient",
    "smt2 in.smt2 --oracle ./test.sh --strategy ddmin --jobs 2 --width 3 --fast",
    "smt2 in.smt2 --oracle ./test.sh --in-place --report page.html",
    "smt2 in.smt2 --oracle ./test.sh --also-interesting others --until 20 --repeat 1-of-2",
    "in.smt2 --oracle ./test.sh --only commands --without rename --effort quick",
    "- --oracle ./test.sh -o out",
    "smt2 in.smt2 --check",
    "btor in.btor --oracle ./test.sh --dialect btor1 --no-simplify",
    "btor in.btor2 --cmd ./crash.sh --shell --workdir . --resume",
    "btor in.btor -hddplus -exe ./crash.sh -timeout 2",
    "btor in.btor2 --check --json",
    "trace lgl.trace --cmd ./crash.sh --options named",
    "trace mobical.trace --oracle ./test.sh --model mobical",
    "trace own.ipasir --check",
    "trace words.trace --check --model boolector",
    "text notes.txt --oracle ./test.sh --patience 0",
    "convert in.btor out.btor2",
    "convert in.smt2 out.btor --from smt2",
    "convert in.cnf out.trace",
    "convert mobical.trace out.ipasir",
    "show in.btor -o graph.svg",
    "show lgl.trace",
    "show lingeling -o chart.svg",
    "generate btor --seed 3 --nodes 5 --vary",
    "generate btor --count 2 --dir made -cnf -vars=3",
    "generate trace --model mobical --variables 5 -o made.trace",
    "replay lgl.trace --results",
    "replay mobical.trace --timeout 2",
    "history in.reduced.smt2",
    "history in.reduced.smt2 --diff 1",
    "history in.reduced.smt2 --restore 1 -o back.smt2",
    "report in.reduced.smt2 --issue",
    "passes smt2 --strategy ddmin",
    "hunt btor --cmd ./crash.sh --count 2 --no-reduce --timeout 2",
    "hunt trace --count 2 --variables 5 --timeout 2 --json",
    "compare in.smt2 --oracle ./test.sh --strategies ddmin,hdd --max-checks 9",
    "man",
    "completion bash",
    "--version",
    "smt2 --help",
)
SETTINGS = {
    "reducekit.toml": b'max-time = "9s"\njobs = 2\n[smt2]\noracle = "./test.sh"\nonly = "graph"\n',
    "pyproject.toml": b"[tool.reducekit]\npatience = 9\n[tool.reducekit.generate]\nseed = 3\n",
}
SCRIPTS = {
    "test.sh": 'grep -q a "$1"',
    "crash.sh": 'grep -q a "$1" && kill -SEGV $$; exit 0',
    "say.sh": 'grep -q a "$1" && echo unsat || echo sat',
}
WORDS = (
    "", "-", "--", "-x", "--x", "=", "{}", "'", '"', "\\", "*", "é", "\udcff", "a" * 300, "9" * 40,
    "-1", "0", "1", "2", "1e999", "nan", "-inf", "0x10", "1h", "4G", "SIGSEGV", "2-of-3", "10x",
    "in.smt2", "in.btor", "in.btor2", "lgl.trace", "notes.txt", "in.smt2.gz", "nothing", ".", "/",
    "..", "/dev/null", "folder", "folder/x", "link", "in.reduced.smt2", "in.reduced.smt2.journal",
    "true", "false", "./test.sh", "./crash.sh", "./in.smt2", "sh -c 'exit 3'", "grep -q a {}",
    "cat | x", "smt2", "btor", "trace", "text", "ddmin", "hdd*", "commands", "[", "(?", "a+",
    "--json", "--quiet", "--lenient", "--check", "--resume", "--restart", "--in-place", "--stdin",
    "--shell", "--fast", "--no-journal", "--pretty", "--help", "-o", "-j", "--cmd", "--oracle",
    "--reference", "--slower-than", "--timeout", "--memory", "--cpu", "--max-output", "--until",
    "--max-time", "--exit-code", "--match-out", "--match-err", "--ignore-out", "--strategy",
    "--model", "--library", "--fault", "--from", "--to", "--seed", "--count", "--width", "--only",
    "--memout", "-hddplus", "-vars=2", "--n",
)  # fmt: skip
TOKENS = (
    b"(", b")", b"|", b'"', b";", b"\0", b"\xff", b"\r\n", b"\n", b" ", b"0", b"-1", b"9" * 30,
    b"#b", b"#xg", b"(" * 3000, b")" * 50, b"let", b"((", b"sort", b"array", b"return", b"init",
    b"1 ", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"a" * 5000, b"define-fun-rec",
)  # fmt: skip


def mutated_words(line: Sequence[str], dice: random.Random) -> list[str]:
    """Return a command line with a few changes."""
    words = list(line)
    for _ in range(dice.choice((0, 0, 1, 1, 2, 3))):
        at = dice.randrange(len(words) + 1)
        match dice.randrange(6):
            case 0 if words:
                del words[at - 1]
            case 1 if words:
                words.insert(at, dice.choice(words))
            case 2 if words:
                words[at - 1] = dice.choice(WORDS)
            case 3 if words:
                word = words[at - 1]
                cut = dice.randrange(len(word) + 1)
                words[at - 1] = word[:cut] + dice.choice(("", "x", "=", "-", word[cut:] * 2))
            case 4 if words:
                other = dice.randrange(len(words))
                words[at - 1], words[other] = words[other], words[at - 1]
            case _:
                words.insert(at, dice.choice(WORDS))
    return words


def mutated_text(text: bytes, dice: random.Random) -> bytes:
    """Return an input with a few changes."""
    for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
        at, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        end = min(end, at + dice.choice((1, 5, 40)))
        match dice.randrange(6):
            case 0:
                text = text[:at] + text[end:]
            case 1:
                text = text[:at] + text[at:end] * dice.choice((2, 3, 200)) + text[end:]
            case 2:
                text = text[:at] + dice.choice(TOKENS) + text[end:]
            case 3:
                text = text[:at] + bytes([dice.randrange(256)]) + text[at + 1 :]
            case 4:
                lines = text.splitlines(keepends=True)
                dice.shuffle(lines)
                text = b"".join(lines)
            case _:
                text = text[:at]
    return text


def prepare(folder: Path, dice: random.Random) -> None:
    """Write the files that the command lines name."""
    for name, text in INPUTS.items():
        (folder / name).write_bytes(mutated_text(text, dice))
    packed = gzip.compress(INPUTS["in.smt2"], mtime=0)
    (folder / "in.smt2.gz").write_bytes(mutated_text(packed, dice))
    for name, body in SCRIPTS.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    if dice.randrange(8) == 0:
        name = dice.choice(("reducekit.toml", "pyproject.toml"))
        (folder / name).write_bytes(mutated_text(SETTINGS[name], dice))
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("link")
    journal = mutated_text(_journal(), dice)
    (folder / "in.reduced.smt2").write_bytes(b"(assert a)")
    (folder / "in.reduced.smt2.journal").write_bytes(journal)


_made: list[bytes] = []


def _journal() -> bytes:
    """Return the journal of a reduction."""
    if not _made:
        with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
            Path("in.smt2").write_bytes(INPUTS["in.smt2"])
            run(["smt2", "in.smt2", "--oracle", "grep -q a", "-q"])
            _made.append(Path("in.reduced.smt2.journal").read_bytes())
    return _made[0]


def run(words: list[str], typed: bytes = b"") -> tuple[int, str]:
    """Run the command line; return the exit code and all that it has printed."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed))
    process.standard_input.cache_clear()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = invoke(words, ProcessContext(Interrupts(), output_open=True))
    finally:
        sys.stdin = before
    printed.flush()
    buffer = printed.buffer
    assert isinstance(buffer, io.BytesIO)
    return code, buffer.getvalue().decode(errors="backslashreplace")


def case(number: int) -> tuple[list[str], str | None]:
    """Run a case; return its command line, and what is wrong with the answer, if anything is."""
    dice = random.Random(f"reducekit {number}")
    line = shlex.split(dice.choice(LINES))
    words = mutated_words(line, dice)
    if words[:1] and words[0] in {"smt2", "btor", "text", "-", *INPUTS}:
        most = str(dice.choice((0, 3, 30)))
        words[1:1] = ["--max-checks", most]
    if "hunt" in words[:1] and "--count" not in words:
        words += ["--max-time", "1"]
    if words[:1] == ["ui"]:
        words = ["ui", "--help"]
    with tempfile.TemporaryDirectory(prefix="reducekit-fuzz-") as name, contextlib.chdir(name):
        prepare(Path(), dice)
        begin = time.monotonic()
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        try:
            code, said = run(words, dice.choice(list(INPUTS.values())))
        except BaseException as error:
            return words, f"it raised {error!r}"
        finally:
            faulthandler.cancel_dump_traceback_later()
        seconds = time.monotonic() - begin
    wrong = None
    if code not in CODES and not (words[:1] == ["replay"] and (code > 128 or code == 124)):
        wrong = f"exit code {code}"
    elif "Traceback" in said or "please report it" in said:
        wrong = "a traceback"
    elif code not in (0, 5) and not said.strip() and words[:1] != ["replay"]:
        wrong = f"exit code {code} without a word"
    elif seconds > LONGEST / 2:
        wrong = f"{seconds:.0f} s"
    return words, None if wrong is None else f"{wrong}\n{said[-2000:]}"


def main(arguments: Sequence[str]) -> int:
    """Run so many cases; return how many were wrong."""
    count, first = (*map(int, arguments), *(2000, 0)[len(arguments) :])
    replay._die_by = lambda number: None  # it would kill this process
    wrong = 0
    begin = time.monotonic()
    for number in range(first, first + count):
        words, problem = case(number)
        if problem is not None:
            wrong += 1
            print(f"{number}: reducekit {shlex.join(words)}: {problem}\n", flush=True)
    print(f"{count} cases, {wrong} wrong, {time.monotonic() - begin:.0f} s")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
