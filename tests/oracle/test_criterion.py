import re

import pytest

from reducekit.oracle.also import Accepts, Also, Quiet
from reducekit.oracle.answers import answers, in_common
from reducekit.oracle.compared import Disagree, SlowerThan, SlowerThanReference
from reducekit.oracle.criterion import Criterion, Everything, verdict
from reducekit.oracle.own import SameSignature, TimesOut
from reducekit.oracle.printed import ExitZero, Matches, Printing
from reducekit.oracle.signature import signature
from reducekit.run import Limits, Outcome


def run(out: bytes = b"", err: bytes = b"", status: int = 0, seconds: float = 0.1) -> Outcome:
    return Outcome(status, None, out, err, None, seconds)


def killed(number: int) -> Outcome:
    return Outcome(None, number, b"", b"", None, 0.1)


STOPPED = Outcome(None, 9, b"found\n", b"", "time", 5.0)
FLOODED = Outcome(None, 9, b"found\n", b"", "output", 0.2)


def test_exit_zero() -> None:
    assert verdict(ExitZero(), [run()])
    assert not verdict(ExitZero(), [run(status=1)])
    assert not verdict(ExitZero(), [killed(11)])
    assert not verdict(ExitZero(), [STOPPED])


def test_same_signature() -> None:
    golden = run(err=b"w.c:3: Assertion `x' failed\n", status=3)
    kept = SameSignature(signature(golden))
    assert verdict(kept, [run(err=b"/a/w.c:9: Assertion `x' failed\n", status=3)])
    assert not verdict(kept, [run(err=b"w.c:3: Assertion `y' failed\n", status=3)])
    assert not verdict(kept, [run(err=golden.stderr, status=4)])
    assert not verdict(kept, [run(status=3)])
    assert verdict(SameSignature(signature(FLOODED)), [FLOODED])
    assert not verdict(SameSignature(signature(FLOODED)), [STOPPED])


def test_ignored_streams() -> None:
    golden = run(out=b"Unhandled case a\n", err=b"Unhandled case b\n", status=3)
    other = run(out=b"Unhandled case a\n", err=b"Unhandled case c\n", status=3)
    kept = SameSignature(signature(golden, err=False), err=False)
    assert verdict(kept, [other])
    status_only = SameSignature(signature(golden, out=False, err=False), out=False, err=False)
    assert verdict(status_only, [run(status=3)])
    assert not status_only.captures


def test_matches() -> None:
    pattern = (re.compile(rb"^found$", re.MULTILINE),)
    assert verdict(Matches(out=pattern), [run(b"x\nfound\n", status=7)])
    assert not verdict(Matches(out=pattern), [run(b"unfound\n")])
    assert not verdict(Matches(err=pattern), [run(b"found\n")])
    assert not verdict(Matches(exit_code=1, out=pattern), [run(b"found\n")])
    assert verdict(Matches(exit_code=1), [run(status=1)])
    assert verdict(Matches(exit_code=139), [killed(11)])
    assert verdict(Matches(exit_code=-11), [killed(11)])
    assert not verdict(Matches(exit_code=139), [killed(6)])
    assert not verdict(Matches(exit_code=137), [FLOODED])
    assert not verdict(Matches(out=pattern), [STOPPED])
    assert verdict(Matches(out=pattern), [FLOODED])


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (run(b"sat\nunsat\n"), (b"sat", b"unsat")),
        (run(b" sat \r\n(model)\n"), (b"sat",)),
        (run(b"satisfied\n"), None),
        (run(b"sat\nunknown\n"), None),
        (run(b"unsat\n(\nsat\nunknown\n)\n"), (b"unsat",)),  # an unsat core
        (run(b'"\nsat\n"\nunsat\n((x "\nsat\n"))\n'), (b"unsat",)),
        (run(b'sat\n(error "x")\n', status=1), (b"sat",)),  # the answer came before
        (run(b'(error "x")\nsat\n', status=1), None),
        (run(b'sat\n(error "x")\nunsat\n', status=1), None),
        (run(b"(error \"line 3: unknown parameter 'x'\nLegal are:\n a\n\")\nsat\n"), (b"sat",)),
        (run(b'sat\n(error "line 9: model is not available")\nunsat\n'), (b"sat", b"unsat")),
        (run(b'<result>\nunsat\n</result>\nlabel_4\n(error "x")\nDone!\n'), (b"unsat",)),
        (run(b'(error "line 9: unknown constant label_1")\nunsat\n'), None),  # asserted, or asked?
        (run(b"sat\n", b"error: no such file\n", status=1), None),  # before or after?
        (run(b"sat\nUnhandled case\n", status=1), None),
        (run(b"sat\n", status=1), (b"sat",)),
        (run(status=10), (b"sat",)),
        (run(status=20), (b"unsat",)),
        (run(b"sat\n", status=20), (b"sat",)),
        (killed(11), None),
        (STOPPED, None),
        (run(), None),
    ],
)
def test_answers(outcome: Outcome, expected: tuple[bytes, ...] | None) -> None:
    assert answers(outcome) == expected


def test_disagree() -> None:
    kept = Disagree((b"sat", b"unsat"))
    assert verdict(kept, [run(b"sat\n"), run(b"unsat\n")])
    assert not verdict(kept, [run(b"unsat\n"), run(b"sat\n")])
    assert not verdict(kept, [run(b"sat\n"), run(b"sat\n")])
    assert not verdict(kept, [run(b"sat\n"), run(b"unknown\n")])
    assert not verdict(kept, [run(b"sat\n"), killed(11)])
    assert verdict(kept, [run(b"unsat\nsat\nsat\n"), run(b"unsat\nunsat\n")])
    assert not verdict(kept, [run(b"unsat\nsat\n"), run(b"unsat\n")])
    assert verdict(Disagree(), [run(b"unsat\n"), run(b"sat\n")])


def test_a_wrong_sat_does_not_become_a_wrong_unsat() -> None:
    kept = Disagree((b"sat", b"unsat"))
    assert verdict(kept, [run(b"sat\nsat\n"), run(b"unsat\nsat\n")])
    assert not verdict(kept, [run(b"unsat\nsat\n"), run(b"sat\nsat\n")])


def test_disagree_spares_the_second_command() -> None:
    assert Disagree().judge([run(b"sat\n")]) is None
    assert Disagree().judge([run(b"unknown\n")]) is False
    assert Disagree((b"sat", b"unsat")).judge([run(b"unsat\n")]) is False


def test_times() -> None:
    assert verdict(SlowerThan(2.0), [run(seconds=2.0)])
    assert not verdict(SlowerThan(2.0), [run(seconds=1.9)])
    assert verdict(TimesOut(5.0), [STOPPED])
    assert not verdict(TimesOut(5.0), [FLOODED])


def test_other_programs_have_to_accept_the_text_too() -> None:
    kept = Also(Disagree((b"sat", b"unsat")), first=2, others=(Accepts(), Accepts()))
    wrong, fine = [run(b"sat\n"), run(b"unsat\n")], run(b"unknown\n")
    assert kept.judge(wrong[:1]) is None
    assert kept.judge(wrong) is None
    assert kept.judge([*wrong, fine]) is None
    assert kept.judge([*wrong, fine, fine]) is True
    assert kept.judge([*wrong, fine, run(status=1)]) is False
    assert kept.judge([*wrong, run(b'(error "no")\n')]) is False
    assert kept.judge([*wrong, STOPPED]) is False
    # What is not interesting without them is not run by them.
    assert kept.judge([run(b"unsat\n")]) is False
    assert kept.judge([run(b"sat\n"), run(b"sat\n")]) is False
    # An inner criterion that is content with fewer commands than it has is not waited for.
    assert Also(Everything(3), first=2, others=(Accepts(),)).judge(wrong) is False
    assert kept.wall is None
    assert Also(SlowerThan(2.0), 1, (Accepts(),)).wall == 2.0


def test_other_programs_may_have_to_know_all_commands() -> None:
    silent = run(b"unsupported\n")
    assert Also(ExitZero(), 1, (Accepts(),)).judge([run(), silent]) is True
    assert Also(ExitZero(), 1, (Accepts(understood=True),)).judge([run(), silent]) is False
    assert Also(ExitZero(), 1, (Accepts(understood=True),)).judge([silent, run()]) is True


def test_other_programs_are_described() -> None:
    described = Also(ExitZero(), 1, (Accepts(),)).describe()
    assert described == "the test accepts the file, and another program accepts the file"
    described = Also(ExitZero(), 1, (Accepts(), Accepts())).describe()
    assert described == "the test accepts the file, and 2 others accept the file"


def test_other_programs_may_have_to_answer_in_a_certain_way() -> None:
    unknown = Matches(out=(re.compile(b"^unknown", re.M),))
    asked = Also(Matches(out=(re.compile(b"^unsat", re.M),)), 1, (unknown,), ("other",))
    assert asked.judge([run(b"unsat\n")]) is None
    assert asked.judge([run(b"unsat\n"), run(b"unknown\n")]) is True
    assert asked.judge([run(b"unsat\n"), run(b"unsat\n")]) is False
    assert asked.judge([run(b"sat\n")]) is False
    assert asked.describe() == "stdout matching '^unsat', and other has stdout matching '^unknown'"
    missing = asked.missing_in([run(b"unsat\n"), run(b"sat\n")])
    assert missing == "other: stdout matching '^unknown'; it ended with exit status 0"


def test_slow_where_the_reference_is_not() -> None:
    kept = SlowerThanReference(2.0)
    assert verdict(kept, [run(seconds=2.0), run(seconds=1.9)])
    assert not verdict(kept, [run(seconds=2.0), run(seconds=2.0)])
    assert not verdict(kept, [run(seconds=9.0), STOPPED])
    assert kept.judge([run(seconds=1.9)]) is False  # the reference need not run
    assert kept.judge([run(seconds=2.0)]) is None
    assert kept.wall == 2.0


def test_slower_than_the_reference_by_a_factor() -> None:
    kept = SlowerThanReference(ratio=4.0)
    assert verdict(kept, [run(seconds=4.0), run(seconds=1.0)])
    assert not verdict(kept, [run(seconds=3.9), run(seconds=1.0)])
    assert not verdict(kept, [run(seconds=99.0), STOPPED])
    # Times below a tenth of a second are noise.
    assert kept.judge([run(seconds=0.09)]) is False
    assert kept.judge([run(seconds=0.1)]) is None
    assert verdict(kept, [run(seconds=0.1), run(seconds=0.0)])
    assert verdict(SlowerThanReference(ratio=20.0), [run(seconds=0.2), run(seconds=0.0)])
    assert not verdict(SlowerThanReference(ratio=20.0), [run(seconds=0.19), run(seconds=0.0)])
    assert kept.wall is None


@pytest.mark.parametrize(
    "criterion",
    [
        ExitZero(),
        SameSignature(signature(run(status=3))),
        SameSignature(signature(FLOODED)),
        Matches(1, (re.compile(b"a"),), (re.compile(b"\xff"),)),
        Disagree(),
        Disagree((b"sat", b"unsat")),
        SlowerThan(1.5),
        TimesOut(None),
        TimesOut(1.0),
    ],
)
def test_descriptions_are_one_line(criterion: Criterion) -> None:
    assert criterion.describe()
    assert criterion.describe().isprintable()


def test_answers_of_model_checkers() -> None:
    witness = b"sat\nb0\n#0\n0 0000 state#0\n@0\n0 1 reset@0\n.\n"
    assert answers(run(out=witness)) == (b"sat",)
    assert answers(run(out=b"unsat\nb0\n", status=1)) == (b"unsat",)
    assert answers(run(out=b"unknown\nb0\n", status=255)) is None
    golden = [run(out=witness), run(out=b"unsat\nb0\n", status=1)]
    assert verdict(Disagree(), golden)
    assert verdict(Disagree((b"sat", b"unsat")), golden)
    assert not verdict(Disagree((b"unsat", b"sat")), golden)
    assert not verdict(Disagree((b"sat", b"unsat")), [run(out=witness), run(out=witness)])


def test_a_status_that_the_input_does_not_have_is_doubted() -> None:
    golden = [run(b"sat\n"), run(b"unsat\n")]
    kept = Disagree().shown_by(golden, Limits())
    assert kept is not None
    assert verdict(kept, golden)
    assert not verdict(kept, [run(b"sat\n", status=3), golden[1]])
    asked = b'unsat\n(error "line 3 column 9: model is not available")\n'
    assert verdict(kept, [golden[0], run(asked, status=1)])


def test_why_two_programs_do_not_disagree_is_told() -> None:
    said = Disagree().missing_in([run(b"sat\n"), run(b'(error "no push")\n', status=1)])
    assert said.endswith("; the command answered sat, its reference exited with 1: no push")
    stopped = Disagree().missing_in([STOPPED, killed(6)])
    assert stopped.endswith(
        "; the command reached the time limit, its reference ended with signal SIGABRT"
    )


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([run(b'(error "unknown parameter \'a\'\nLegal parameters are:\nb")\n', status=1)] * 8,
         "all 8 exited with 1: unknown parameter 'a'"),
        ([run(b"unsat\n")] * 2, "both answered unsat"),
        ([run(b"unsat\nunknown\n", status=1)] * 3, "all 3 answered unsat, unknown"),
        ([run(b"unsat\n"), run(b"unknown\n")], ""),
        ([run(b"a\n", status=2), run(b"b\n", status=2)], "both exited with 2"),
        ([STOPPED] * 3, "all 3 reached the time limit"),
        ([STOPPED, killed(9)], ""),
        ([run()] * 3, ""),
        ([run()], ""),
    ],
)  # fmt: skip
def test_what_runs_have_in_common(runs: list[Outcome], said: str) -> None:
    assert in_common(runs) == said


LOG = run(b'<result>\nunsat\n</result>\n(error "line 9: model is not available")\nunsat\n')


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        (rb"\A(unsat\n)+\Z", True),
        (rb"^unsat$", True),
        (rb"\Aunsat\Z", False),
        (rb"\A(sat\n)+\Z", False),
        (rb"\A(?!unsat)", True),  # of the whole output only
        (rb"\A(unsat\nDone)", False),
    ],
)
def test_a_pattern_of_answers_passes_over_what_else_is_printed(
    pattern: bytes, matches: bool
) -> None:
    assert verdict(Matches(out=(re.compile(pattern, re.M),)), [LOG]) is matches


def test_a_pattern_is_shown_as_it_was_typed() -> None:
    assert Matches(out=(re.compile(rb"\A(it's\n)+\Z"),)).describe() == (
        r"stdout matching '\A(it's\n)+\Z'"
    )


def test_patterns_beside_another_criterion() -> None:
    pattern = Matches(out=(re.compile(b"x1"),))
    kept = Printing(Disagree(), pattern).shown_by([run(b"sat\nx1\n"), run(b"unsat\n")], Limits())
    assert kept is not None
    assert kept.judge([run(b"sat\n")]) is False
    assert kept.judge([run(b"sat\nx1\n")]) is None
    assert verdict(kept, [run(b"sat\nx1\n"), run(b"unsat\n")])
    assert not verdict(kept, [run(b"sat\nx1\n"), run(b"sat\nx1\n")])
    assert kept.describe() == (
        "the command answers sat, its reference unsat, and stdout matching 'x1'"
    )
    missing = [run(b"sat\n"), run(b"unsat\n")]
    assert Printing(Disagree(), pattern).shown_by(missing, Limits()) is None
    assert kept.missing_in(missing) == "stdout matching 'x1'; it ended with exit status 0"


def test_no_warning_where_the_input_draws_none() -> None:
    """z3 leaves out a pattern, and so answers another query."""
    asked = Quiet(Also(Matches(out=(re.compile(b"^unsat"),)), 1, (Accepts(),)))
    kept = asked.shown_by([run(b"unsat\n"), run(b"unknown\n")], Limits())
    assert kept is not None
    warned = run(b"unsat\n", b"WARNING: (2,9): pattern does not contain all variables.\n")
    assert kept.judge([run(b"unsat\n")]) is None
    assert kept.judge([warned]) is False
    assert kept.judge([run(b"unsat\n"), warned]) is False
    lax = asked.shown_by([warned, run(b"unknown\n")], Limits())
    assert lax is not None
    assert lax.judge([warned]) is None


def test_who_does_not_understand_a_script_gives_no_answer_to_it() -> None:
    kept = Disagree((b"sat", b"unsat"), understood=True)
    assert verdict(kept, [run(b"sat\n"), run(b"unsat\n")])
    assert not verdict(kept, [run(b"sat\n"), run(b"unsupported\nunsat\n")])
    assert not verdict(kept, [run(b"unsupported\nsat\n"), run(b"unsat\n")])
    lax = Disagree((b"sat", b"unsat"))
    assert verdict(lax, [run(b"sat\n"), run(b"unsupported\nunsat\n")])


def test_a_match_is_described_in_full() -> None:
    both = Matches(139, (re.compile(b"^a"), re.compile(b"b")), (re.compile(b"c"),))
    assert both.describe() == (
        "exit status 139 or signal SIGSEGV and stdout matching '^a' and stdout matching 'b' "
        "and stderr matching 'c'"
    )
    assert Matches(-6).describe() == "signal SIGABRT"
    assert Matches(128).describe() == "exit status 128"
