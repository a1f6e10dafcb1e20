"""Reading and printing: nothing is lost, formats are recognised, bad files get an answer."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reducekit.errors import ParseError
from reducekit.frontends.trace.language.calls import Call, altered, with_result
from reducekit.frontends.trace.language.text import (
    FORMATS,
    detect,
    print_trace,
    read_trace,
    reader,
    spell,
)

RECORDED = Path(__file__).parents[1] / "recorded"
FORMAT_OF = {
    "lingeling": "lgl",
    "cadical": "mobical",
    "mobical": "mobical",
    "boolector": "boolector",
}


@pytest.mark.parametrize("name", sorted(FORMAT_OF))
def test_recorded_traces_round_trip(name: str) -> None:
    text = (RECORDED / f"{name}.trace").read_bytes()
    trace = read_trace(text)
    assert trace.format == FORMAT_OF[name]
    assert len(trace.calls) > 100
    assert print_trace(trace.calls, trace.format, trace.tail) == text
    # Spelled anew, it reads as the same calls, but for results that are not written.
    unwritten = FORMATS[trace.format].unwritten
    spelled = b"".join(spell(call, trace.format) for call in trace.calls)
    again = read_trace(spelled, trace.format)
    assert [(c.name, c.arguments, c.result) for c in again.calls] == [
        (c.name, c.arguments, None if c.name in unwritten else c.result) for c in trace.calls
    ]


def test_mobical_is_given_no_result_that_it_refuses() -> None:
    """It reads -1 and 0 only as values, and writes what the solver returned."""
    text = b"val 14 -14\nfailed 3 1\nfixed 2 1\nsolve 10\nflip 1 1\n"
    calls = read_trace(b"init\n" + text, "mobical").calls[1:]
    assert [call.result for call in calls] == [-14, 1, 1, 10, 1]
    assert print_trace(calls, "mobical") == text
    spelled = b"".join(spell(call, "mobical") for call in calls)
    assert spelled == b"val 14\nfailed 3\nfixed 2\nsolve 10\nflip 1 1\n"


def test_packed_traces_are_unpacked() -> None:
    text = (RECORDED / "lingeling.trace").read_bytes()
    half = len(text) // 2
    packed = gzip.compress(text[:half]) + gzip.compress(text[half:])
    assert read_trace(packed) == read_trace(text)
    with pytest.raises(ParseError, match="cut off"):
        read_trace(packed[:-20])
    with pytest.raises(ParseError, match="gzip"):
        read_trace(b"\x1f\x8b\x08\x00 what is this?")


# On a busy machine, drawing a dozen calls may take long: that says nothing about the formats.
AT_LEISURE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True).filter(lambda name: name != "return")
NUMBERS = st.integers(-(2**31) + 1, 2**31 - 1)
WORDS = st.from_regex(r"[a-z][a-z0-9@_]{0,6}", fullmatch=True)


@st.composite
def calls(draw: st.DrawFn, format_name: str) -> list[Call]:
    count = draw(st.integers(0, 12))
    found: list[Call] = []
    for _ in range(count):
        name = draw(NAMES)
        arity = FORMATS[format_name].arity.get(name)
        size = draw(st.integers(0, 3)) if arity is None else arity
        arguments = tuple(draw(NUMBERS | WORDS) for _ in range(size))
        with_results = FORMATS[format_name].result_line or arity is not None
        result = draw(st.none() | NUMBERS | WORDS) if with_results else None
        found.append(Call(name, arguments, 0, result))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FORMATS))
@AT_LEISURE
@given(st.data())
def test_what_is_printed_reads_the_same(name: str, data: st.DataObject) -> None:
    before = data.draw(calls(name))
    text = print_trace(before, name)
    trace = read_trace(text, name)
    assert [(c.name, c.arguments, c.result) for c in trace.calls] == [
        (c.name, c.arguments, c.result) for c in before
    ]
    assert print_trace(trace.calls, name, trace.tail) == text


@AT_LEISURE
@given(st.binary(max_size=60) | st.text("add rtun012-\n \r#", max_size=60).map(str.encode))
def test_any_bytes_are_read_without_loss_or_refused(text: bytes) -> None:
    for name in FORMATS:
        try:
            trace = read_trace(text, name)
        except ParseError:
            continue
        assert print_trace(trace.calls, name, trace.tail) == trace.text


def test_a_return_line_belongs_to_the_call_before() -> None:
    trace = read_trace(b"init\nsat\nreturn 10\nreturn 10\nderef -1\nreturn -1\n", "lgl")
    assert [(c.name, c.line, c.result) for c in trace.calls] == [
        ("init", 1, None),
        ("sat", 2, 10),
        ("return", 4, None),
        ("deref", 5, -1),
    ]
    assert trace.calls[1].raw == b"sat\nreturn 10\n"


def test_numbers_of_lines_results_and_comments_of_mobical() -> None:
    trace = read_trace(b"# by hand\n0 init\n\n1 set walk 0\n2 solve 20\n3 failed -4 1\n4 vars\n")
    assert trace.format == "mobical"
    assert [(c.name, c.arguments, c.result) for c in trace.calls] == [
        ("init", (), None),
        ("set", ("walk", 0), None),
        ("solve", (), 20),
        ("failed", (-4,), 1),
        ("vars", (), None),
    ]
    assert trace.calls[0].raw == b"# by hand\n0 init\n"


def test_words_of_boolector_and_murxla_stay_words() -> None:
    trace = read_trace(b"new\nreturn 0x55\nconst 0x55 0011\nreturn n2@0x55 \n")
    assert trace.format == "boolector"
    assert trace.calls[1].arguments == ("0x55", "0011")
    assert trace.calls[1].result == "n2@0x55"
    trace = read_trace(b'12 new\n13 set-logic QF_BV\nmk-const s1 "a b"\nreturn t1 s1\n')
    assert trace.format == "murxla"
    assert [c.name for c in trace.calls] == ["new", "set-logic", "mk-const"]
    assert trace.calls[2].arguments == ("s1", '"a b"')
    assert trace.calls[2].result == "t1 s1"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"", "lgl"),
        (b"init\nrelease\n", "lgl"),
        (b"init\nadd 1\nadd 0\nsat\nreturn 10\n", "lgl"),
        (b"init\nadd 1\nadd 0\nsolve\nreturn 10\n", "words"),
        (b"init\nadd 1\nadd 0\nsolve\nrelease\n", "words"),
        (b"init\nadd 1\nadd 0\nsolve\nreset\n", "mobical"),
        (b"init\nsat -1\nreset\n", "words"),
        (b"new\nnew_var\nadd_clause 1\nsolve\n", "words"),
        (b"# mine\ninit\n", "words"),
    ],
)
def test_formats_are_recognised(text: bytes, name: str) -> None:
    assert detect(text) == name


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (b"init\n\nadd 1\n", 2, "blank line"),
        (b"init\nadd 2147483648\n", 2, "between -2\\^31"),
        (b"init\nadd 99999999999999999999999\n", 2, "between -2\\^31"),
        (b"init\n\x7fELF\x02\x01\x01\n", 2, "binary data"),
        (b"init\nadd \xff\xfe\n", 2, "binary data"),
        (b"init\n5 add\n", 2, "name of a call"),
        (b"init\nsat\nreturn\n", 3, "value after 'return'"),
        (b"init\nsat\nretur", 3, ""),
        (b"init\nsat\nreturn", 3, "ends within this line"),
        (b"init\noption " + b"x" * 90 + b" 1\n", 2, "at most 79 bytes"),
    ],
)
def test_bad_lines_are_named(text: bytes, line: int, expected: str) -> None:
    if not expected:
        assert read_trace(text, "lgl").calls[-1].line == line
        return
    with pytest.raises(ParseError, match=expected) as caught:
        read_trace(text, "lgl")
    assert caught.value.line == line
    assert caught.value.exit_code == 3


def test_calls_are_altered_and_lose_their_bytes() -> None:
    call = read_trace(b"sat\nreturn 10\n", "lgl").calls[0]
    assert with_result(call, 10) is call
    assert print_trace([with_result(call, 20)], "lgl") == b"sat\nreturn 20\n"
    assert print_trace([altered(call, "simp", (3,))], "lgl") == b"simp 3\nreturn 10\n"


def test_the_last_line_may_lack_its_end() -> None:
    trace = read_trace(b"init\nrelease", "lgl")
    assert print_trace(trace.calls, "lgl") == b"init\nrelease"
    assert print_trace(reversed(trace.calls), "lgl") == b"release\ninit\n"


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("lgl", ["init\nadd 1\nsat\nreturn 10\nadd 1\n", "init\nsat\nadd 1\n", "init\nadd 1", ""]),
        ("mobical", ["0 init\nadd 1\n# why\nsolve 10\n", "init\nsolve\n\nadd 1\n"]),
        ("words", ["init\n# why\nadd 1\n", "init\nadd 1\n", "add 1\nreturn 1\nreturn 2\n"]),
    ],
)
def test_texts_that_are_much_alike_are_read_as_any(name: str, texts: list[str]) -> None:
    read = reader(name)
    for text in (*texts, *texts):
        expected = read_trace(text.encode(), name).calls
        assert [replace(call, line=0) for call in read(text.encode())] == [
            replace(call, line=0) for call in expected
        ]
    with pytest.raises(ParseError):
        read(b"init\nadd 1\n1\n")


def test_a_line_is_read_once() -> None:
    read = reader("lgl")
    first = read(b"init\nadd 1\n")
    assert [call.line for call in first] == [1, 2]
    again = read(b"add 1\nadd 1\n")
    assert again[0] is again[1]
    assert again[0] == replace(first[1], line=0)
