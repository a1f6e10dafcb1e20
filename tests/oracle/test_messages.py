"""Messages in words that no known pattern has: told apart, and not pinned down by what they quote.

Made-up texts in the styles of 20 languages, libraries and loggers. In `APART` `{}` stands for two
different failures of one program under one exit status; in `QUOTING` it is what the message quotes
from the input, once from the whole input and once from what is left of it.
"""

from pathlib import Path

import pytest

from reducekit.api import reduce
from reducekit.oracle.signature import signature
from reducekit.run import Outcome

ONE, OTHER = "widget cannot be folded", "spindle ran out of thread"

APART = {
    "C": "FATAL: {}\n",
    "C, lower case": "fatal: {}\n",
    "C, err(3)": "wolver: {}: No such file or directory\n",
    "C, a place": "solver.c:33: {}\n",
    "C, a function": "wolver (fold.c, line 33, fold_widget): {}\n",
    "C, perror": "{}: Invalid argument\n",
    "C, abort with a banner": "*****\nABORT: {}\n*****\n",
    "C, bug": "bug: {}\nplease write to bugs@wolver\n",
    "plain words": "wolver: {}\n",
    "plain words after progress": "reading 120 widgets\nfolding\n{}\n",
    "plain words before a total": "{}\ntotal time: 0.31 s\n",
    "statistics follow": "CRASH: {}\nconflicts : 12\ndecisions : 7\n",
    "glog": "F1128 12:00:00.123456 12345 fold.cc:33] {}\n",
    "glog, error": "I1128 12:00:00.1 1 a.cc:3] go\nE1128 12:00:00.2 1 fold.cc:33] {}\n",
    "spdlog": "[2026-11-28 12:00:00.123] [wolver] [critical] {}\n",
    "spdlog, place": "[12:00:00] [fold.cpp:33] [error] {}\n",
    "Boost.Log": "[2026-11-28 12:00:00.123456] [0x00007f01] [fatal]   {}\n",
    "Qt": "QFATAL : fold() {}\n",
    "libc++": "libc++abi: terminating due to uncaught exception of type std::logic_error: {}\n",
    "abseil": "[FATAL] fold.cc:33: {}\n",
    "syslog": "<2>wolver[4711]: {}\n",
    "LLVM": "LLVM ERROR: {}\nPLEASE submit a bug report.\n",
    "CBMC": "Invariant check failed\nFile: a.cpp:33 function: f\nCondition: c\nReason: {}\n",
    "Rust, env_logger": "[2026-11-28T12:00:00Z ERROR wolver::fold] {}\n",
    "Rust, tracing": "2026-11-28T12:00:00.123456Z ERROR wolver: fold.rs:3: {}\n",
    "Rust, anyhow": "Error: cannot solve\n\nCaused by:\n    0: folding\n    1: {}\n",
    "Rust, process::exit": "wolver terminated abnormally: {}\n",
    "Go, log.Fatal": "2026/11/28 12:00:00 {}\n",
    "Go, zap": '{{"level":"fatal","ts":1700.12,"caller":"fold.go:33","msg":"{}"}}\n',
    "Go, logrus": 'time="2026-11-28T12:00:00Z" level=fatal msg="{}"\n',
    "Go, klog": "F1128 12:00:00.123456       1 fold.go:33] {}\ngoroutine 1 [running]:\nmain.f()\n",
    "Java, JUL": "Nov 28, 2026 12:00:00 PM org.W fold\nSEVERE: {}\n",
    "Java, log4j": "12:00:00.123 [main] ERROR org.Wolver - {}\n\tat org.W.f(W.java:3)\n",
    "Java, logback": "2026-11-28 12:00:00,123 FATAL [main] o.Wolver: {}\n",
    "Clojure": "Execution error (ExceptionInfo) at wolver/fold (W.clj:3).\n{}\n",
    "Python, logging": "CRITICAL:wolver:{}\n",
    "Python, formatted": "2026-11-28 12:00:00,123 - wolver - ERROR - {}\n",
    "Python, SystemExit": "{}\n",
    "Python, argparse style": "usage: wolver FILE\nwolver: {}\n",
    "Python, loguru": "2026-11-28 12:00:00.123 | ERROR    | wolver:fold:33 - {}\n",
    "OCaml": 'anomaly: Invalid_argument("{}")\n',
    "OCaml, failwith": 'Failure("{}")\n',
    "OCaml, kernel": "[kernel] Failure: {}\n[kernel] Current source was: a.c:3\n",
    "Haskell": "w: {}\nCallStack (from HasCallStack):\n  error, called at F.hs:3:4 in main:W\n",
    ".NET, console logger": "fail: Wolver.Fold[0]\n      {}\n",
    ".NET, Serilog": "[12:00:00 FTL] {}\n",
    ".NET, NLog": "2026-11-28 12:00:00.1234|ERROR|Wolver.Fold|{}\n",
    ".NET, Boogie": "Prover error: {}\n",
    "Node, winston": '{{"level":"error","message":"{}"}}\n',
    "Node, throw": "fold.js:3\n  throw w;\n  ^\n{}\n(Use `node --x ...`)\nNode.js v20.1\n",
    "Ruby": "fold.rb:3:in `fold': {} (RuntimeError)\n\tfrom w.rb:9:in `<main>'\n",
    "Ruby, Logger": "F, [2026-11-28T12:00:00.123456 #4711] FATAL -- : {}\n",
    "Perl": "{} at fold.pl line 33.\n",
    "PHP": "PHP Warning:  x in a.php on line 3\nPHP Fatal error:  {} in /srv/a.php on line 3\n",
    "Lua": "lua: fold.lua:3: {}\nstack traceback:\n\t[C]: in ?\n\tfold.lua:3: in main chunk\n",
    "Racket": "fold: contract violation\n  expected: pair?\n  given: {}\n",
    "SBCL": "debugger invoked on a SIMPLE-CONDITION in thread #<THREAD>: {}\n",
    "Prolog": "ERROR: fold.pl:3:\n\tcatch/3: {}\n",
    "Erlang": "** (RuntimeError) {}\n    fold.exs:3: (file)\n",
    "Julia": "ERROR: LoadError: {}\nStacktrace:\n [1] fold() at a.jl:3\n",
    "R": "Error in fold(x) : {}\nCalls: main -> fold\nExecution halted\n",
    "Fortran": "At line 3 of file fold.f90\nFortran runtime error: {}\n\nError termination.\n",
    "Ada": "raised CONSTRAINT_ERROR : fold.adb:3 {}\n",
    "D": "core.exception.AssertError@fold.d(3): {}\n----------------\n??:? main [0x55aa]\n",
    "Zig": "thread 4711 panic: {}\n/srv/fold.zig:3:5: 0x10 in main (w)\n",
    "Swift": "w/fold.swift:3: Fatal: {}\n",
    "Tcl": '{}\n    while executing\n"fold w"\n    (file "w.tcl" line 3)\n',
    "shell": "./w.sh: line 3: {}\n",
    "Verilator": "%Error: in.v:3:5: {}\n%Error: Exiting due to 1 error(s)\n",
    "a heading above": "Process terminated. Assertion failed.\n{}\n   at W.Fold(Int32 n)\n",
    "a heading below": "loading\n{}\nUNREACHABLE executed at /srv/fold.cpp:33!\nStack dump:\n",
    "a heading above labels": "Error: Anomaly\nFile: a.ml\nCause: {}\n",
    "a heading in front of the line": "[kernel] aborted: internal error.\n[fold] error: {}\n",
    "aborted by the shell": "{}\nAborted (core dumped)\n",
    "a title of a trace": "F1128 12:00:00.1 1 a.cc:3] {}\n*** Check failure stack trace: ***\n",
    "a banner": "*** This is Wolver 2 (compiled on Monday)\n*** Copyright (c) W\nerror: {}\n",
    "notes with stars": "*** Info : (w): file is empty\n*** ERROR: (w): {}\n",
    "warnings with a program": "WOLVER: WARNING: undefined name x\nWOLVER: ERROR: {}\n",
    "a comment of a SAT solver": "c parsed\nc FATAL: {}\nc 12 conflicts\n",
    "a code": "in.w(3,40): warning W12: x\nin.w(3,40): error W13: {}\n",
    "a code in brackets": "error[W0425]: {}\nerror: aborting due to 2 previous errors\n",
    "a JSON record": '{{"level":"error","node":"x12","msg":"{}","type":"widget"}}\n',
    "GHDL": "w:error: {}\nin.vhd:3: from fold\nw:error: simulation stopped\n",
}


def run(text: str, status: int | None = 3, *, out: bool = False) -> Outcome:
    said = text.encode()
    end = None if status is not None else 6
    return Outcome(status, end, said if out else b"", b"" if out else said, None, 0.1)


@pytest.mark.parametrize("out", [False, True], ids=["stderr", "stdout"])
@pytest.mark.parametrize("style", APART)
def test_two_messages_under_one_status_are_two_failures(style: str, out: bool) -> None:
    one, other = (
        run(APART[style].replace("{}", said).replace("{{", "{").replace("}}", "}"), out=out)
        for said in (ONE, OTHER)
    )
    text = b"(assert (= (fold x12) 3)) ; a widget of the test"
    kept = signature(one).without_quotes(text)
    assert kept.line is not None
    assert kept.covers(signature(one))
    assert not kept.covers(signature(other)), kept.describe()


SMT2 = b"""(set-logic QF_BV)
(declare-const x12 (_ BitVec 32))
(declare-const foo (_ BitVec 32))
(declare-const |a b| Bool)
(define-fun fold ((y Int)) Int (* y 17))
(assert (= (bvadd x12 foo) #x0000abcd))
(assert (or |a b| (bvult (bvmul x12 x12) (bvneg foo))))
(assert (= (fold 4711) 65536.25))
(check-sat)
"""
C = b"""#include <stdio.h>
static int total_count = 0x1f;
int fold(int n) { while (n > 12) { n = n / 2 + total_count; } return n; }
int main(void) { printf("sum of %d\\n", fold(1234)); if (total_count) return 3; return 0; }
"""
DAFNY = b"""method Fold(xs: seq<int>) returns (best: int)
  requires |xs| > 0
  ensures forall k :: 0 <= k < |xs| ==> xs[k] <= best
{ best := xs[0]; var i := 1; while i < |xs| { if xs[i] > best { best := xs[i]; } i := i + 1; } }
"""

# The whole input, the message with a place for what it quotes, what it quotes from the whole input,
# and what it quotes from a smaller text. Numbers may be new, names may be other ones.
QUOTING = [
    (SMT2, "FATAL: no value for {}", "x12", "a"),
    (SMT2, "fatal: symbol {} is not handled", "foo", "x12"),
    (SMT2, "ERROR - cannot fold {}", "(bvadd x12 foo)", "a"),
    (SMT2, "ERROR - cannot fold {}", "(bvult (bvmul x12 x12) (bvneg foo))", "(bvneg a)"),
    (SMT2, "solver.c:33: cannot fold {} in this theory", "(= (fold 4711) 65536.25)", "true"),
    (SMT2, "bug: literal {} has no atom", "#x0000abcd", "#b0"),
    (SMT2, "critical: bad value {}", "65536.25", "0.0"),
    (SMT2, "panic at term {}", "(fold 4711)", "0"),
    (SMT2, "wolver: unexpected symbol '{}'", "|a b|", "x"),
    (SMT2, "wolver: unexpected symbol '{}' at line 3", "foo", "b"),
    (SMT2, '(error "line 3 column 7: unknown constant {}")', "foo", "y"),
    (SMT2, '(error "cannot convert {} to a bit-vector")', "(bvmul x12 x12)", "x"),
    (SMT2, '(error "Cannot handle {}, since it is not linear")', "(* y 17)", "(* a a)"),
    (SMT2, "Error: term {} occurs in {}", "x12", "a"),
    (SMT2, "ABORT: {} is not in the model", "x12, foo, |a b|", "a"),
    (SMT2, "anomaly: Not_found({})", '"x12"', '"a"'),
    (SMT2, 'Invalid_argument("{}")', "foo", "a"),
    (SMT2, "exception Unsupported: {}", "(_ BitVec 32)", "(_ BitVec 1)"),
    (SMT2, "E1128 12:00:00.1 1 fold.cc:3] no bits for {}", "foo", "a"),
    (SMT2, '{{"level":"error","msg":"no bits","term":"{}"}}', "foo", "a"),
    (SMT2, "substitution failed: {} := {}", "foo", "a"),
    (SMT2, "ASSERTION: folding\n  term: {}\n  depth: 3", "(bvadd x12 foo)", "a"),
    (SMT2, "Caught an exception while simplifying {}", "(bvneg foo)", "a"),
    (SMT2, "declared symbol {} of sort {} is lost", "foo", "a"),
    (SMT2, "cannot solve: {} is free in\n{}", "foo", "a"),
    (SMT2, "FATAL: assertion 2 ({}) has no clause", "(fold 4711)", "true"),
    (SMT2, "FATAL: [{}] is cyclic", "x12 foo", "a"),
    (SMT2, "FATAL: {{{}}} is cyclic", "x12 -> foo -> x12", "a -> a"),
    (SMT2, "FATAL: <{}> is cyclic", "foo", "a"),
    (SMT2, "FATAL: `{}' is cyclic", "fold", "a"),
    (SMT2, "FATAL: \u2018{}\u2019 is cyclic", "foo", "a"),
    (SMT2, "wolver: bit 12 of {} flipped", "foo", "a"),
    (SMT2, "raised WIDTH_ERROR : {}", "foo : 32", "a : 1"),
    (SMT2, "cannot fold {}", "(bvadd\n  x12\n  foo)", "a"),
    (SMT2, "cannot fold {}", "(let ((?x1 (bvadd x12 foo))) (bvmul ?x1 ?x1))", "a"),
    (SMT2, "cannot fold {}", "x12 + foo", "a"),
    (SMT2, "unfolded: {}", "fold 4711 = 65536.25", "a = 0"),
    (SMT2, "bad cast from {}", "bvadd", "bvneg"),
    (SMT2, "trail of {} decisions is torn at {}", "12", "0"),
    (C, "internal: cannot spill {}", "total_count", "a"),
    (C, "in.c:3:4: FATAL in {}", "fold", "main"),
    (C, "in.c:3: crash while folding `{}`", "n = n / 2 + total_count", "n = 0"),
    (C, "in.c: bug: {} is live", "total_count, n", "n"),
    (C, "in.c:3:20: panic: loop {} has no exit", "while (n > 12)", "while (1)"),
    (C, "unreachable block in {}()", "fold", "main"),
    (C, "FATAL: constant {} too large", "0x1f", "0"),
    (C, 'FATAL: string "{}" is lost', "sum of %d\\n", ""),
    (C, "FATAL: in function {}: block 3", "main", "f"),
    (C, "abort: no edge {} -> {}", "fold", "main"),
    (C, "unexpected statement: {}", "if (total_count) return 3;", "return 0;"),
    (C, "F1128 12:00:00.1 1 x.cc:3] {} not in map", "total_count", "n"),
    (C, "fold.ml: Failure: no type of {}", "n", "x"),
    (DAFNY, "in.dfy(3,4): FATAL: {}", "forall k :: 0 <= k < |xs| ==> xs[k] <= best", "true"),
    (DAFNY, "[FATAL] method {} has no body", "Fold", "A"),
    (DAFNY, "Prover died: {}", "best := xs[i]", "b := 0"),
    (DAFNY, "CRITICAL:dfy:no sort for {}", "seq<int>", "int"),
    (DAFNY, "bug in {}\n  at line 3\n  for {}", "Fold", "A"),
    (DAFNY, "variable '{}' is lost", "best", "b"),
    (DAFNY, "crash: name {} escapes", "xs", "x"),
    (DAFNY, "crash: cannot invert {}", "xs[k] <= best", "a <= b"),
    (SMT2, '{{"term":"{}","level":"fatal","msg":"no bits left"}}', "foo", "a"),
    (SMT2, 'time=2026-11-28T12:00:00Z level=error msg="no bits left" of={}', "foo", "a"),
    (SMT2, "assertion failed: names without a sort: {}", "x12, foo", "a"),
    (SMT2, "FATAL: clause {} is false", "1 -2 3 0", "4 0"),
    (SMT2, "FATAL: no atom of {}", "x12!0", "a!7"),
    (SMT2, "FATAL: no atom of {}", "X12", "A"),
    (SMT2, "FATAL: no sort of {}", "App {{ op: x12, args: [Var(foo)] }}", "Var(a)"),
    (SMT2, "FATAL: literal {} is lost", "fold(X1, succ(X1))", "p(X2)"),
    (SMT2, "error: sort {} is not closed", "(Fold x12 (Extra 3))", "a"),
    (SMT2, "error: these have no value: {}", "x12,\n  foo", "a"),
    (SMT2, "error: no such name{}", "; did you mean 'x12'?", ""),
    (SMT2, "{}trail is torn", "reading x12\nfolding foo\n", ""),
    (SMT2, "error: trail is torn{}", "\n3 errors detected in foo", ""),
    (SMT2, 'Failure("no bits in {}")', "(fold x12 (foo 3) x12)", "a"),
    (SMT2, "Process terminated. Assertion failed.\nno bits in {}", "foo = x12", "a"),
    (C, "wolver: node {} is lost", "T@main", "U@a"),
    (DAFNY + b"e.radius := 2; function value()", "fatal: no slot for {}", "radius", "a"),
    (DAFNY + b"function value()", "fatal: function {} is recursive", "value", "a"),
]


@pytest.mark.parametrize("number", range(len(QUOTING)))
def test_a_message_is_not_pinned_down_by_what_it_quotes(number: int) -> None:
    text, message, whole, smaller = QUOTING[number]
    # A complaint that came before a signal does not say why the program aborted.
    for status in (3,) if message.startswith("(error") else (3, None):
        one, other = (
            run(message.replace("{}", quoted).replace("{{", "{").replace("}}", "}"), status)
            for quoted in (whole, smaller)
        )
        kept = signature(one).without_quotes(text)
        assert kept.covers(signature(other)), (kept.describe(), signature(other).describe())
        assert not kept.covers(signature(run("FATAL: spindle ran out of thread", status)))
        assert not kept.covers(signature(run("", status)))


PROGRAM = """#!/bin/sh
grep -q needle "$1" || exit 0
grep -q thread "$1" && said='{other}' || said="cannot fold $(head -n 1 "$1" | tr -d "'\\"\\\\")"
cat >&2 <<END
{message}
END
exit 3
"""


@pytest.mark.slow
@pytest.mark.parametrize("style", APART)
def test_a_reduction_ends_as_small_as_by_the_status_alone(tmp_path: Path, style: str) -> None:
    """The program quotes the first line of its input, which gets smaller with it."""
    program = tmp_path / "program"
    message = APART[style].replace("{}", "$said").replace("{{", "{").replace("}}", "}")
    program.write_text(
        PROGRAM.format(message=message.rstrip("\n").replace("`", "\\`"), other=OTHER)
    )
    program.chmod(0o755)
    lines = [f"let name_{n} = f{n} (sum_{n} + {n});" for n in range(5)]
    text = "\n".join([*lines, "needle", "y"]).encode()
    command = [str(program)]
    by_message = reduce(text, command=command, format="text")
    by_status = reduce(text, command=command, format="text", exit_code=3)
    assert len(by_message.text) <= len(by_status.text)
    report = reduce(text + b"\nthread\n", command=command, format="text")
    assert b"thread" in report.text


def test_there_are_sixty_of_each() -> None:
    assert len(APART) >= 60
    assert len(QUOTING) >= 60
