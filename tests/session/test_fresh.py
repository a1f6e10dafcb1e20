"""Fresh variants tell whether a result is as unstable as the input."""

import json
from pathlib import Path
from typing import Any

import pytest

from reducekit import reduce
from reducekit.events import Event, Notice
from reducekit.session import Options, Session
from reducekit.session.place.output import Steps
from reducekit.session.report import Ends, Shown
from reducekit.session.runs.variants import as_often, in_words
from tests.lines import Lines

TEXT = b"".join(b"%d\n" % number for number in range(100)) + b"keep\n"
LUCKY = """sh -c 'grep -q 42 $1 || exec echo sat
grep -q keep $1 || test {seed} -lt 8 || exec echo sat
test $(({seed} % 2)) = 1 && echo unknown || echo sat' sh {}"""
"""Without `keep`, the variants that checks use are the only ones that are lost."""


def reduced(
    source: Path | bytes, command: str, **options: Any
) -> tuple[bytes, tuple[Ends | Shown, Ends | Shown], str]:
    """Return the result, how the fresh variants ended, and what was said last."""
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    given = {"format": Lines(), "command": command, "unstable": 8, **options}
    report = reduce(source, listen=listen, **given)
    found = json.loads(report.json())["fresh"]
    assert report.fresh is not None
    assert found == {"before": report.fresh[0]._asdict(), "after": report.fresh[1]._asdict()}
    return report.text, report.fresh, said[-1]


@pytest.mark.parametrize(
    ("own", "other", "rarer"),
    [
        ((8, 8), (8, 8), False),
        ((1, 15), (8, 8), True),
        ((15, 1), (8, 8), True),
        ((2, 14), (4, 12), False),  # may be chance
        ((1, 15), (4, 12), True),
        ((8, 8), (1, 15), False),  # more unstable than the input
        ((0, 16), (1, 15), False),
        ((0, 16), (0, 16), False),
        ((16, 0), (0, 14), True),  # nearly always lost, by luck on the variants of the checks, too
        ((14, 2), (2, 14), True),
        ((8, 8), (0, 14), False),
        ((0, 0), (2, 2), False),
        ((0, 0), (3, 3), True),
    ],
)
def test_rarer(own: tuple[int, int], other: tuple[int, int], *, rarer: bool) -> None:
    assert Ends(*own).rarer_than(Ends(*other)) is rarer


@pytest.mark.parametrize("rare_from", range(1, 9))
def test_back_to_the_smallest_that_is_not_rare(rare_from: int) -> None:
    texts = [b"x" * size for size in range(8, 0, -1)]
    asked: list[bytes] = []

    def ends(text: bytes) -> Ends:
        asked.append(text)
        return Ends(8, 8) if text in texts[:rare_from] else Ends(16, 0)

    kept, first, last = as_often(texts, texts[-1], ends)
    only_input = rare_from == 1
    assert kept == texts[-1 if only_input else rare_from - 1]
    assert (first, last) == (Ends(8, 8), Ends(16, 0) if only_input else Ends(8, 8))
    assert len(asked) <= 2 + 3  # input and result, then log2 of 8


def test_texts_to_go_back_to_have_ten_times_the_bytes_of_the_input_at_most() -> None:
    steps = Steps([bytes(10_000)])
    for size in range(9_999, -1, -1):
        steps.accept(bytes(size))
    assert sum(map(len, steps.texts)) <= 100_000
    assert len(steps.texts[-1]) == 0
    steps.give_up([steps.texts[-1], steps.texts[0]])
    assert [len(steps.texts[0]), len(steps.texts[-1])] == [10_000, 1]


@pytest.mark.slow
def test_a_result_that_fails_by_luck_is_given_up(tmp_path: Path) -> None:
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(TEXT)
    # Only a short file fails without `keep`, so some texts with it come before.
    command = LUCKY.replace("{seed} -lt 8 ", "{seed} -lt 8 -a $(wc -l < $1) -lt 9 ")
    text, fresh, said = reduced(source, command, output=output)
    assert b"keep" in text
    assert len(text) < len(TEXT) / 2
    assert fresh == (Ends(8, 8), Ends(8, 8))
    assert "the last steps were taken back, as it was rarer there" in said
    assert said.endswith("try `unstable` 24 with `good` 6 and `bad` 6")
    assert output.read_bytes() == text
    again, _, _ = reduced(source, command, output=output, resume=True)
    assert again == text


def test_no_text_but_the_input_is_as_often() -> None:
    text, fresh, said = reduced(TEXT, LUCKY, strategy="ddmin")
    assert text == b"42\n"
    assert fresh == (Ends(8, 8), Ends(16, 0))
    assert "the result 16 and 0 times: it is rarer. Try `unstable` 24 with" in said


def test_a_result_as_unstable_as_the_input_is_kept() -> None:
    text, fresh, said = reduced(TEXT, LUCKY.replace("-lt 8", "-lt 99"))
    assert text == b"42\n"
    assert fresh == (Ends(8, 8), Ends(8, 8))
    assert said == (
        "on 16 variants that no check used, the input is solved 8 times and lost 8 times, "
        "the result 8 and 8 times"
    )


COSTLY = """sh -c 'n=0; grep -q 777 $1 && n=100
test $(wc -c < $1) -lt 150 && grep -q lucky $1 && n=100; grep -q 5555 $1 || n=0
echo unsat; echo steps $n' sh {}"""
"""A short script is costly without 777, by a name, which variants change."""


@pytest.mark.parametrize("options", [{"cost": "steps"}, {"cost": "steps", "times": 2}])
def test_a_cost_that_few_variants_have_is_given_up(options: dict[str, Any]) -> None:
    names = [f"x{number}" for number in range(8)]
    text = "\n".join(
        [f"(declare-const {name} Int)" for name in ["lucky", *names]]
        + ["(assert (> x0 777))", "(assert (> lucky 5555))"]
        + [f"(assert (> {name} 0))" for name in names[1:]]
        + ["(check-sat)\n"]
    )
    if "times" in options:
        options = {**options, "reference": "sh -c 'echo unsat; echo steps 10' sh {}"}
    said: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, Notice):
            said.append(event.text)

    report = reduce(text, command=COSTLY, only=["commands"], listen=listen, **options)
    assert "777" in report.text
    assert len(report.text) < len(text)
    assert report.fresh == (Shown(16), Shown(16))
    assert "the result 16 times; the last steps were taken back, as it was rarer there" in said[-1]
    assert json.loads(report.json())["fresh"]["before"] == {"shown": 16}


def test_a_cost_that_no_other_step_has_as_often_is_kept() -> None:
    said = in_words(Shown(16), Shown(2), 1, went_back=False)
    assert said.endswith(
        "the result 2 times: it is rarer. Ask for three seeds: write {seed} in the command"
    )
    assert not Shown(3).rarer_than(Shown(5))
    assert Shown(0).rarer_than(Shown(3))
    assert Shown(11).rarer_than(Shown(16))
    assert not Shown(12).rarer_than(Shown(16))


def test_other_failures_have_no_fresh_variants() -> None:
    report = reduce(TEXT, format=Lines(), interesting=lambda text: b"42" in text)
    assert report.fresh is None
    assert "fresh" not in json.loads(report.json())


def test_a_stop_while_fresh_variants_run_leaves_the_result() -> None:
    def listen(event: Event) -> None:
        if isinstance(event, Notice) and "other variants" in event.text:
            session.stop("enough")

    options = Options(input=TEXT, format=Lines(), command=LUCKY, unstable=8)
    session = Session(options, listen)
    report = session.run()
    assert (report.text, report.fresh) == (b"42\n", None)


@pytest.mark.parametrize(("before", "often"), [((8, 8), 6), ((15, 1), 1), ((14, 2), 1)])
def test_more_variants_are_advised_in_words(before: tuple[int, int], often: int) -> None:
    said = in_words(Ends(*before), Ends(16, 0), 8, went_back=True)
    assert said.endswith(f"try `unstable` 24 with `good` {often} and `bad` {often}")
