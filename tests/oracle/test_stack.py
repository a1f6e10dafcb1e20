"""Names of functions, and what is read of the stacks that gdb and sanitizers print."""

import pytest

from reducekit.oracle.printed import Matches
from reducekit.oracle.stack import (
    SameStack,
    Stack,
    crash_under_gdb,
    function_name,
    ran_under_gdb,
    reported_crash,
)
from reducekit.run import Limits, Outcome

ABORTED = -6


def outcome(stdout: str = "", stderr: str = "", number: int | None = None) -> Outcome:
    status = 0 if number is None else None
    return Outcome(status, number, stdout.encode(), stderr.encode(), None, 0.1)


def crash(*frames: tuple[str, str, int] | str, pid: int = 7, deep: bool = False) -> str:
    """Return what gdb prints: a frame is a function, or has its file and offset as well."""
    rows = [each if isinstance(each, tuple) else (each, "/bin/tool", 1) for each in frames]
    lines = [f"#{at} {row[0]} at {row[1]}+{row[2]:#x}" for at, row in enumerate(rows)]
    first = f"crash in process {pid}{', out of stack' if deep else ''}"
    return "\n".join([first, *lines, "end of the stack", ""])


HANDLER = "handler of a signal"
ENDED = "[Inferior 1 (process 7) exited with code 01]\nend of the run\n"


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("main", "main"),
        ("smt::enode::mk(ast_manager&, ptr_vector<smt::enode> const&)", "smt::enode::mk"),
        ("unsigned int get_hash<a::b*, c<d> >(a::b*, unsigned int)", "get_hash"),
        ("bool std::operator< <char>(int)", "std::operator<"),
        ("a::operator()(int) const", "a::operator()"),
        ("stream& operator<<(stream&, node<int> const&)", "operator<<"),
        ("a::operator bool() const", "a::operator bool"),
        ("operator new(unsigned long)", "operator new"),
        ("(anonymous namespace)::visit(int)", "{anonymous}::visit"),
        ("run(int)::{lambda(expr*)#1}::operator()(expr*) const", "run::{lambda#1}::operator()"),
        ("fold.isra.0", "fold"),
        ("fold(int) [clone .part.3] [clone .cold]", "fold"),
        ("memcpy@GLIBC_2", "memcpy"),
        ("core::solve::h0123456789abcdef", "core::solve"),
        ("visit<(kind)3>(node) const &", "visit"),
        ("map<int, box<(a)1> >::at(int const&) const", "map::at"),
    ],
)
def test_names_lose_what_varies_for_the_same_place(printed: str, name: str) -> None:
    assert function_name(printed) == name


def test_functions_of_libraries_are_left_out() -> None:
    said = crash(
        ("__pthread_kill_implementation", "/lib/libc.so.6", 1),
        ("abort", "/lib/libc.so.6", 1),
        ("??", "/usr/lib/libstdc++.so.6", 1),
        "std::terminate()",
        "__cxa_throw",
        "malloc_printerr",
        "fail(int)",
        ("??", "/bin/tool", 0x1234),
        ("??", "", 0),
        "main",
        ("??", "/lib64/ld-linux-x86-64.so.2", 1),
    )
    assert crash_under_gdb(outcome(said)) == Stack(("fail", "tool+0x1234"))


def test_a_crash_in_main_or_within_a_library_has_a_place() -> None:
    library = ("memcpy", "/lib/libc.so.6", 1)
    assert crash_under_gdb(outcome(crash(library, "main"))) == Stack(("main",))
    assert crash_under_gdb(outcome(crash(library))) == Stack(("memcpy",))
    assert crash_under_gdb(outcome(crash(("??", "", 0)))) is None


def test_a_handler_that_aborts_hides_no_crash() -> None:
    first = crash("deref", "run")
    second = crash("abort", "report", HANDLER, "deref", "run")
    assert crash_under_gdb(outcome(first + second + ENDED)) == Stack(("deref", "run"))
    lost = crash("abort", "report", HANDLER)
    assert crash_under_gdb(outcome(first + lost + ENDED)) == Stack(("deref", "run"))


def test_a_parent_that_repeats_the_signal_hides_no_crash() -> None:
    said = crash("deref", pid=8) + crash("raise", "timeout", pid=7) + ENDED
    assert crash_under_gdb(outcome(said)) == Stack(("deref",))


def test_what_a_limit_cut_off_is_no_crash() -> None:
    assert crash_under_gdb(outcome(crash("deref")[:-20])) is None
    assert not ran_under_gdb(outcome(crash("deref")))
    assert ran_under_gdb(outcome(crash("deref") + ENDED))


def test_recursions_are_the_same_by_the_functions_in_them() -> None:
    def deep(top: str, *cycle: str) -> Stack | None:
        return crash_under_gdb(outcome(crash(top, *(20 * cycle), deep=True)))

    one, other = deep("alloc", "visit", "both"), deep("copy", "both", "visit")
    assert one is not None
    assert one == other == Stack(("both", "visit"), recursion=True)
    assert one.describe() == "endless recursion of both, visit"
    assert one.same_place(Stack(("visit", "either"), recursion=True))
    assert not one.same_place(Stack(("print",), recursion=True))
    assert not one.same_place(Stack(("both", "visit")))
    # Not deep enough to be the reason.
    assert crash_under_gdb(outcome(crash("alloc", *(20 * ["visit"])))) == Stack(
        ("alloc", *(20 * ["visit"]))
    )


REPORT = """==1==ERROR: AddressSanitizer: {kind} on address 0x602000000015 at pc 0x55b4b7d8f1c1
READ of size 1 at 0x602000000015 thread T0
    #0 0x7f970cab76a8 in __interceptor_free ../../libsanitizer/asan/asan_malloc_linux.cpp:52
    #1 0x55b4b7d8f1c0 in left(node const&, int) /tmp/my tool/asan.cpp:4:10
    #2 0x55b4b7d8f1c0  (/tmp/tool+0x11fd)
    #3 0x55b4b7d8f1c0 in right (/tmp/tool+0x12fd) (BuildId: 0123abcd)
    #4 0x7f970c845249 in main ../sysdeps/nptl/libc_start_call_main.h:58

freed by thread T0 here:
    #0 0x7f970cab76a8 in other /tmp/asan.cpp:52
"""


def test_sanitizers_report_where() -> None:
    wanted = Stack(("left", "tool+0x11fd", "right"))
    report = REPORT.format(kind="heap-use-after-free").replace("my tool", "tool")
    assert reported_crash(outcome(stderr=report)) == wanted
    assert reported_crash(outcome(stdout=report)) == wanted
    race = "WARNING: ThreadSanitizer: data race\n  Write:\n    #0 left /tmp/a.c:7 (a+0x1)\n"
    assert reported_crash(outcome(stderr=race)) == Stack(("left",))
    assert reported_crash(outcome(stderr="#0 0x1 in left a.c:1\n")) is None


def criterion(**more: object) -> SameStack:
    return SameStack(Matches(exit_code=ABORTED), 1, **more)  # type: ignore[arg-type]


def test_gdb_runs_only_where_the_rest_is_as_wanted() -> None:
    kept = criterion(expected=Stack(("left", "run", "main")), count=2)
    bad = outcome(number=6)
    assert kept.judge([outcome()]) is False
    assert kept.judge([bad]) is None
    assert kept.judge([bad, outcome(crash("left", "run", "start") + ENDED)]) is True
    assert kept.judge([bad, outcome(crash("right", "run") + ENDED)]) is False
    assert kept.judge([bad, outcome(ENDED)]) is False
    assert kept.unresolved([bad, outcome(crash("right", "run") + ENDED)])
    assert not kept.unresolved([outcome()])


def test_a_report_needs_no_gdb() -> None:
    report = outcome(stderr=REPORT.format(kind="SEGV").replace("my tool", "tool"), number=6)
    assert criterion(expected=Stack(("left",)), count=1).judge([report]) is True
    assert criterion(expected=Stack(("right",)), count=1).judge([report]) is False


def test_what_a_run_on_the_input_shows() -> None:
    run = [outcome(number=6), outcome(crash("left", "run", "go", "on") + ENDED)]
    shown = criterion(count=2).shown_by(run, Limits())
    assert isinstance(shown, SameStack)
    assert shown.expected == Stack(("left", "run"))
    assert shown.describe() == "signal SIGABRT, in left < run"
    assert shown.shown_by(run, Limits()) == shown
    quiet = [outcome(number=6), outcome(ENDED)]
    assert criterion().shown_by(quiet, Limits()) is None
    assert "does not crash in gdb" in criterion().missing_in(quiet)
    # gdb itself failed, or there is none.
    assert criterion().shown_by([outcome(number=6), outcome()], Limits()) == Matches(ABORTED)
    assert criterion().shown_by([outcome(number=6)], Limits()) == Matches(ABORTED)
    assert criterion().shown_by([outcome(), outcome()], Limits()) is None
