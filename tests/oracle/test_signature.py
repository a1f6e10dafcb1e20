import pytest
from hypothesis import given
from hypothesis import strategies as st

from reducekit.oracle.quotes import normalise
from reducekit.oracle.signature import _COMPLAINING, failure_line, is_failure, signature
from reducekit.run import Outcome


def outcome(
    status: int | None = 0, signal: int | None = None, out: bytes = b"", err: bytes = b""
) -> Outcome:
    return Outcome(status, signal, out, err, None, 0.1)


# Made-up texts of the shapes that real tools print: stderr, then what is left of it.
FAILURES = [
    (
        b"ASSERTION VIOLATION\nFile: ../src/base/widget_table.h\nLine: 77\nUNEXPECTED CODE WAS "
        b"REACHED.\nVersion 9.9\n",
        b"ASSERTION VIOLATION File: widget_table.h UNEXPECTED CODE WAS REACHED.",
    ),
    (
        b"Fatal failure within void ns::Widget::spin(bool) at ./src/w/widget.cpp:123\n"
        b"Check failure\n\n d_x + 1 == 2\n",
        b"Fatal failure within void ns::Widget::spin(bool) at widget.cpp Check failure "
        b"d_x + 1 == 2",
    ),
    (
        b"Fatal failure within T f(int) at w.cpp:9\nInternal error detected f(): (foo bar)\n",
        b"Fatal failure within T f(int) at w.cpp Internal error detected",
    ),
    (
        b"wolver suffered a segfault.\nOffending address is 0x7ffe12345678\nx\n",
        b"wolver suffered a segfault. Offending address is 0x",
    ),
    (
        b"wolver suffered a segfault.\nOffending address is 0x18\n",
        b"wolver suffered a segfault. Offending address is 0x18",
    ),
    (
        b"wolver: /home/me/w.c:12: int spin (W *): Assertion `w->n == 13' failed.\nAborted\n",
        b"wolver: w.c: int spin (W *): Assertion `w->n == 13' failed.",
    ),
    (b"\n*******\nFATAL ERROR: spinning\n*******\nPlease report\n", b"FATAL ERROR: spinning"),
    (
        b"terminate called after throwing an instance of 'std::out_of_range'\n"
        b"  what():  vector::_M_range_check: __n (which is 17) >= this->size() (which is 9)\n",
        b"terminate called after throwing an instance of 'std::out_of_range' what(): "
        b"vector::_M_range_check: __n (which is N) >= this->size() (which is N)",
    ),
    (
        b"==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020000000f0 at pc\n"
        b"    #0 0x55aa in spin /src/w.c:3\nSUMMARY: AddressSanitizer: heap-use-after-free "
        b"/src/w.c:3:11 in spin\n",
        b"SUMMARY: AddressSanitizer: heap-use-after-free w.c in spin",
    ),
    (
        b"==4711==ERROR: LeakSanitizer: detected memory leaks\n",
        b"ERROR: LeakSanitizer: detected memory leaks",
    ),
    (
        b"src/w.cpp:12:3: runtime error: shift exponent 65 is too large\n",
        b"w.cpp: runtime error: shift exponent N is too large",
    ),
    (
        b"thread 'main' panicked at src/w.rs:12:5:\nindex 7 out of range for 3\nnote: run\n",
        b"thread 'main' panicked at w.rs: index N out of range for N",
    ),
    (
        b'Traceback (most recent call last):\n  File "w.py", line 3, in f\n    g()\n'
        b"wlib.WidgetError: no widget 42\n",
        b"wlib.WidgetError: no widget N",
    ),
    (
        b'Exception in thread "main" java.lang.AssertionError: spin\n\tat W.main(W.java:3)\n',
        b'Exception in thread "main" java.lang.AssertionError: spin',
    ),
    (
        b"*** stack smashing detected ***: terminated\n",
        b"*** stack smashing detected ***: terminated",
    ),
    (b"double free or corruption (!prev)\n", b"double free or corruption (!prev)"),
    (b"free(): invalid pointer\n", b"free(): invalid pointer"),
    (b"*** API usage error of 'wspin' in '/src/w.c'\n", b"*** API usage error of 'wspin' in 'w.c'"),
    (b"Unhandled case spin\n", b"Unhandled case spin"),
    (b"Segmentation fault (core dumped)\n", b"Segmentation fault"),
    (b"Fatal error: exception Stack_overflow\n", b"Fatal error: exception Stack_overflow"),
    (b"panic: runtime error: index out of range\n", b"panic: runtime error: index out of range"),
    (
        b"wolver: /a/b/input.smt2:3:12: undefined symbol 'x'\n",
        b"wolver: input.smt2: undefined symbol 'x'",
    ),
    (b"[error] input.smt2:3:1: undefined symbol\n", b"[error] input.smt2: undefined symbol"),
    (b"w: parse error: unexpected 'x'\n", b"w: parse error: unexpected 'x'"),
    (b"error[W12]: no name 'x'\n", b"error[W12]: no name 'x'"),
    (b"Error (10161): in.v(3): no name\n", b"Error (N): in.v(N): no name"),
    (b"in.ts(3,40): error TS1: no name\n", b"in.ts(N,N): error TS1: no name"),
    (
        b"error: it has type\n  int but is of\n  type x\n  y\n",
        b"error: it has type int but is of type x",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FAILURES)
def test_failure_lines_normalised(text: bytes, expected: bytes) -> None:
    line = failure_line(b"sat\n", text)
    assert line is not None
    assert normalise(line) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            b'sat\n(error "line 5 column 10: an invalid model was generated")\n',
            b'(error "line N column N: an invalid model was generated")',
        ),
        (
            b'(error "line 1 column 2: unknown sort")\nsat\n(error "line 5 column 10: an invalid '
            b'model was generated")\n',
            b'(error "line N column N: an invalid model was generated")',
        ),
        (
            b'(error "Parse Error: /x/input.smt2:3.14: Symbol foo not declared")\n',
            b'(error "Parse Error: input.smt2: Symbol foo not declared")',
        ),
        (b'(error "BUG seen")\n', b'(error "BUG seen")'),
        (b"error: " + b" ".join(_COMPLAINING), b"error: " + b" ".join(_COMPLAINING)),
    ],
)
def test_failure_on_stdout(text: bytes, expected: bytes) -> None:
    line = failure_line(text, b"")
    assert line is not None
    assert normalise(line) == expected


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"sat\n",
        b"unsat\nunknown\n",
        b"s SATISFIABLE\nv 1 -2 0\n",
        b"(\n  (define-fun |internal error| () Bool true)\n  (define-fun Unhandled () Int 3)\n)\n",
        b"(:reason-unknown timeout)\n((x #b01))\nsuccess\nunsupported\n",
        b"WARNING: unknown attribute :\n; ignoring unsupported logic X line: 2 position: 0\n",
        b"c statistics: 12 errors\nc assertions 3\n",
        b"WOLVER: WARNING: undefined reference\n",
        b"*** This is Wolver 2 (compiled on Monday)\n*** Copyright (c) W\n",
        b"\xff\xfe\x00\n",
    ],
)
def test_ordinary_output_is_no_failure(text: bytes) -> None:
    assert failure_line(text, b"") is None
    assert failure_line(b"", text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            b'sat\n(error "line 4 column 14: unknown constant f (Int Int) \ndeclared: (declare-fun'
            b' f (Int) Int) ")\n',
            b'(error "line N column N: unknown constant f (Int Int) declared: (declare-fun f (Int)'
            b' Int) ")',
        ),
        (b'(error "one:\n ""two""\n\n(error x")\nsat\n', b'(error "one: ""two"" (error x")'),
        (b'(error\n"one")', b'(error "one")'),
        (b'\n(error "one\ntwo")', b'(error "one two")'),
        # A crash report inside belongs to the whole; one after it does not.
        (
            b'(error "line 1:\n an invalid model was generated\n")\nsat\n',
            b'(error "line N: an invalid model was generated ")',
        ),
        (b'(error "a\nb")\nUnhandled case c\n', b"Unhandled case c"),
        # The line of the input, quoted to show the place.
        (
            b'(error "Parse Error: in.smt2:2.15: no such sort:\n\n  (assert (= x 1))\n'
            b'               ^\n\nType 1: T\n")\n',
            b'(error "Parse Error: in.smt2: no such sort: Type N: T ")',
        ),
        # The program was stopped in the middle of it.
        (b'(error "one\ntwo', b'(error "one'),
        (b'sat\n(error "one") two\n', b'(error "one") two'),
    ],
)  # fmt: skip
def test_an_error_that_spans_lines(text: bytes, expected: bytes) -> None:
    for line in (failure_line(text, b""), failure_line(b"", text)):
        assert line is not None
        assert normalise(line) == expected


def test_errors_that_differ_after_the_first_line_stay_apart() -> None:
    one = outcome(1, None, b'(error "unknown constant\ndeclared: f")\n')
    assert signature(one) != signature(outcome(1, None, one.stdout.replace(b": f", b": g")))
    assert signature(one) == signature(outcome(1, None, b"sat\n" + one.stdout + b"sat\n"))


def test_a_crash_hides_complaints() -> None:
    run = outcome(None, 11, b'(error "line 3 column 1: unknown sort A")\n')
    assert signature(run).line is None
    assert signature(outcome(1, None, run.stdout)).line is not None


def test_stderr_before_stdout_and_streams_apart() -> None:
    run = outcome(1, None, b"Unhandled case out\n", b"Unhandled case err\n")
    assert signature(run).line == b"Unhandled case err"
    assert signature(run, err=False).line == b"Unhandled case out"
    assert signature(run, out=False, err=False).line is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"Assertion `a == 0' failed", b"Assertion `a == 1' failed"),
        (b"Offending address is 0x8", b"Offending address is 0x10"),
        (b"Unhandled case foo", b"Unhandled case bar"),
        (b"at a.cpp:3", b"at b.cpp:3"),
    ],
)
def test_bugs_stay_apart(one: bytes, other: bytes) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"at 0x7f1234567890 bad", b"at 0x55aabbccdd00 bad"),
        (b"/tmp/x1/input.smt2:1.2: bad", b"/dev/shm/y/input.smt2:30.4: bad"),
        (b"gave up after 3.25s", b"gave up after 12s"),
        (b"12:13:14 bad (pid 12)", b"02:00:59 bad (pid 4711)"),
        (b"bad line: 3 position: 4", b"bad line: 33 position: 0"),
        (b"src/w.cpp:12 bad", b"/build/src/w.cpp:13 bad"),
        (b"==12==ERROR: bad", b"==4711==ERROR: bad"),
        (b"bad run 8f14e45fce", b"bad run 01ab23cd45"),
        (b"bad thread {10015B0343}", b"bad thread {1002AB0343}"),
        (b"bad process <0.81.0>", b"bad process <0.9.12>"),
        (b"bad a.pvs@4.61--4.79", b"bad a.pvs@1.1--2.3"),
        (b"bad clause 1 -2 3", b"bad clause 4"),
        (b"bad 28-Nov-2026", b"bad 1-Mar-2024"),
        (b"bad name; did you mean 'x'?", b"bad name"),
        (b"---------- bad", b"----- bad"),
    ],
)
def test_one_bug_stays_one(one: bytes, other: bytes) -> None:
    assert normalise(one) == normalise(other)


def test_a_long_line_of_numbers_takes_no_time_to_speak_of() -> None:
    assert signature(outcome(1, None, b"", b"1 " * 15_000)).line == b"N"


def test_names_keep_their_digits() -> None:
    assert normalise(b"bad x_12 k!3 bv64 v4.8.11") == b"bad x_12 k!3 bv64 v4.8.11"


@pytest.mark.parametrize(
    ("run", "failed"),
    [
        (outcome(0, None, b"sat\n"), False),
        (outcome(1, None, b"sat\n"), True),
        (outcome(10, None, b"sat\n"), False),
        (outcome(20, None, b"unsat\n"), False),
        (outcome(10, None, b"s SATISFIABLE\n"), False),
        (outcome(20, None, b"s UNSATISFIABLE\n"), False),
        (outcome(10), False),
        (outcome(20), False),
        (outcome(20, None, b"sat\n"), True),
        (outcome(30), True),
        (outcome(None, 6), True),
        (outcome(0, None, b"", b"Unhandled case x\n"), True),
        (Outcome(0, None, b"", b"", "output", 0.1), True),
    ],
)
def test_is_failure(run: Outcome, failed: bool) -> None:
    assert is_failure(run) is failed


def test_descriptions() -> None:
    assert outcome(1).describe() == "exit status 1"
    assert outcome(None, 11).describe() == "signal SIGSEGV"
    assert outcome(None, 40).describe() == "signal 40"
    assert Outcome(None, 9, b"", b"", "time", 2.0).describe() == "stopped after 2.0 s"
    assert (
        Outcome(None, 9, b"xx", b"", "output", 2.0).describe() == "stopped after 2 bytes of output"
    )
    assert signature(outcome(2, None, b"", b"Unhandled \xff")).describe() == (
        "exit status 2, Unhandled \\xff"
    )  # fmt: skip


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes(out: bytes, err: bytes) -> None:
    line = failure_line(out, err)
    assert line is None or b"\n" not in normalise(line)
    assert len(normalise(out)) <= 400


def test_an_error_over_lines_that_ends_right_before_the_crash_is_not_part_of_it() -> None:
    assert (
        failure_line(b"", b'(error "one\ntwo")ASSERTION VIOLATION\n') == b'two")ASSERTION VIOLATION'
    )
