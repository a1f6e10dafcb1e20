"""The shipped models against recorded traces and the golden status of small ones."""

from pathlib import Path

import pytest

from reducekit.errors import ParseError
from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.model.check import check, find_model, first_violation
from reducekit.frontends.trace.model.loader import load_model

RECORDED = Path(__file__).parents[1] / "recorded"

# What Lingeling makes of each trace: None passes, a line breaks the contract there.
STATUS = [
    ("", None),
    ("init release", None),
    ("init add_1 add_0 sat", None),
    ("init add_1 add_0 sat return_20 release", None),
    ("init option_nosuch_1 release", None),
    ("init option_lkhd_999 add_1 add_0 lkhd release", None),
    ("init add_1 add_2 add_0 freeze_1 sat return_10 add_-1 add_0 sat return_10 melt_1", None),
    ("init add_1 add_0 sat return_10 release init add_1 add_0 sat", None),
    ("add_1", 1),
    ("init init", 2),
    ("init add_1 add_0 sat release sat", 6),
    ("init release release", 3),
    ("init add_1 add_0 sat add_1", 5),
    ("init add_1 add_2 add_0 sat return_10 add_1 add_0 sat release", 7),
    ("init add_1 add_0 sat freeze_1", 5),
    ("init add_1 add_0 sat assume_-1", 5),
    ("init assume_0", 2),
    ("init deref_0", 2),
    ("init deref_1", 2),
    ("init simp_-1", 2),
    ("init add_1 add_0 sat return_10 failed_1", 6),
    ("init add_1 add_0 assume_-1 sat return_20 failed_1", 7),
    ("init add_1 add_0 assume_-1 sat return_20 failed_-1", None),
    ("init assume_1 lkhd", 3),
    ("init freeze_1 melt_1 melt_1", 4),
    ("init add_1 sat release", 3),
    ("init add_1 simp_1", 3),
    ("init changed", 2),
    ("init add_1 add_2 add_0 sat return_10 reusable_1 return_0 reuse_1", 9),
    ("init add_1 add_2 add_0 sat return_10 reusable_1 return_1 reuse_1 add_1 add_0 sat", None),
    ("init option_druplig_1 chkclone", 3),
]


def lines(text: str) -> bytes:
    """Return a trace that is written in one line: blanks part lines, `_` parts words."""
    return "".join(line.replace("_", " ") + "\n" for line in text.split()).encode()


@pytest.mark.parametrize(("text", "line"), STATUS)
def test_golden_status(text: str, line: int | None) -> None:
    trace = read_trace(lines(text), "lgl")
    problems = check(trace, load_model("lingeling"))
    assert [each.line for each in problems][:1] == ([] if line is None else [line])


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("init foo", 2, "expected a call of Lingeling .* found 'foo'"),
        ("init add_1 add_0 sat drop_table", 5, "found 'drop'"),
        ("init relaese", 2, "release"),
        ("init meltall", 2, "no interpreter reads it"),
        ("init add", 2, "expected 'add LIT' \\(1 argument\\)"),
        ("init add_1_2", 2, "expected 'add LIT'"),
        ("init add_x", 2, "expected a number"),
        ("init option_plain", 2, "expected 'option NAME VALUE'"),
        ("init sat_3", 2, "expected 'sat' \\(0 arguments\\)"),
    ],
)
def test_what_is_no_call_is_an_error_with_its_line(text: str, line: int, expected: str) -> None:
    trace = read_trace(lines(text), "lgl")
    with pytest.raises(ParseError, match=expected) as caught:
        check(trace, load_model("lingeling"))
    assert caught.value.line == line


def test_a_file_that_is_cut_off_says_so() -> None:
    trace = read_trace(b"init\nadd 1\nadd 0\nrele", "lgl")
    with pytest.raises(ParseError, match="the file ends within this line"):
        check(trace, load_model("lingeling"))


def test_problems_name_call_line_and_rule() -> None:
    trace = read_trace(lines("init add_1 add_2 add_0 sat add_-2 add_0 melt_1"), "lgl")
    problems = check(trace, load_model("lingeling"))
    assert [each.line for each in problems] == [6, 8]
    assert str(problems[0]).startswith("line 6: 'add -2': the literal is melted")
    assert "rule: not melted(lit)" in str(problems[0])
    assert problems[1].rule == "frozen(lit) > 0"
    assert first_violation(trace.calls, load_model("lingeling")) is not None


@pytest.mark.parametrize("name", ["boolector", "cadical", "lingeling", "mobical"])
def test_recorded_traces_keep_to_their_model(name: str) -> None:
    trace = read_trace((RECORDED / f"{name}.trace").read_bytes())
    model = find_model(trace)
    assert model.name == name
    assert check(trace, model) == []


def test_boolector_handles() -> None:
    text = (RECORDED / "boolector.trace").read_bytes()
    model = load_model("boolector")
    trace = read_trace(text)
    handle = trace.calls[0].result
    start = f"new\nreturn {handle}\nbitvec_sort {handle} 8\nreturn s2@\nvar {handle} s2@ x\n"
    cases = [
        (f"not {handle} n9@\n", "live(a)"),
        (f"return n2@\nrelease {handle} n2@\nnot {handle} n2@\n", "live(a)"),
        (f"return n2@\nbool_sort {handle}\nreturn s1@\nassert {handle} n2@\n", "width(node) = 1"),
        (f"return n2@\nslice {handle} n2@ 8 0\n", "lower <= upper and upper < width(a)"),
        (
            f"return n2@\nconst {handle} 0011\nreturn n-3@\nand {handle} n2@ n3@\n",
            "width(a) = width(b)",
        ),
        (f"return n2@\nbv_assignment {handle} n2@\n", "from 'sat'"),
        (f"return n2@\nassume {handle} n2@\n", "incremental"),
        (f"return n2@\nset_opt {handle} 1 incremental 7\n", "option"),
        (f"return n2@\nnot {handle} n2@\nreturn n-2@\nand {handle} n2@ n-2@\n", None),
    ]
    for more, rule in cases:
        problems = check(read_trace((start + more).encode()), model)
        assert [each.rule for each in problems][:1] == ([] if rule is None else [rule]), more


def test_the_model_of_a_trace_is_found() -> None:
    assert find_model(read_trace(b"new\nnew_var\nadd_clause 1\n")).name == "minisat"
    assert find_model(read_trace(b"init\nsat -1\nreset\n")).name == "picosat"
    assert find_model(read_trace(b"init\nadd 1\nadd 0\nsolve\nrelease\n")).name == "ipasir"


def test_a_format_without_a_model_is_open() -> None:
    trace = read_trace(b"set-murxla-options --seed 1\nnew\nmk-sort SORT_BV 8\nreturn s1\n")
    model = find_model(trace)
    assert model.name == "murxla"
    assert model.title == "Murxla without a model (so any order of calls)"
    assert check(trace, model) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("init add 1, solve", "from 'closed'"),
        ("init solve 10, val 1", None),
        ("init solve 20, val 1", "from 'sat'"),
        ("init solve, val 1, failed 1", "from 'unsat'"),
        ("init solve 10, add 1, add 0, val 1", "from 'sat'"),
        ("init melt 1", "frozen(lit) > 0"),
        ("init add 1, set walk 0", None),
        ("init constrain 1, add 2", "not (state in adding and constraining)"),
        ("init observe 1", "connected"),
        ("init connect mock-propagator, disconnect mock-propagator, observe 1", "connected"),
        ("init reset, solve", "from 'closed'"),
    ],
)
def test_cadical(text: str, rule: str | None) -> None:
    written = text.replace("init ", "init\n").replace(", ", "\n") + "\n"
    problems = check(read_trace(written.encode(), "mobical"), load_model("cadical"))
    found = [each.rule for each in problems][:1]
    if "set walk" in text:
        assert found
        assert found[0].startswith("state in config or")
    else:
        assert found == ([] if rule is None else [rule])


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ("ucopt incremental", "the model forbids incremental = 1 with ucopt = 1"),
        ("incremental ucopt", "the model forbids incremental = 1 with ucopt = 1"),
        ("fun-just fun-dual-prop", "the model forbids fun-dual-prop = 1 with fun-just = 1"),
        ("model-gen ucopt", "'ucopt' must not be set after 'model-gen'"),
        ("ucopt model-gen", None),
        ("fun-just nondestr-subst", None),
    ],
)
def test_options_that_boolector_does_not_take_together(settings: str, refused: str | None) -> None:
    calls = "".join(f"set_opt b1 0 {name} 1\n" for name in settings.split())
    trace = read_trace(f"new\nreturn b1\n{calls}delete b1\n".encode(), "boolector")
    found = [problem.message for problem in check(trace, load_model("boolector"))]
    assert len(found) == (refused is not None)
    assert all(str(refused) in message for message in found)
