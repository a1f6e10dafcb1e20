"""Verdicts of checks that a time limit ended."""

import pytest

from reducekit.executors.executor import InProcess
from reducekit.journal import digest
from reducekit.reduction.control import Budget, Control, Counts, Spending
from reducekit.reduction.verdicts import Verdicts
from reducekit.run import Limits

FIRST = 2.0
"""Seconds of the input: here the limit, too."""


def verdicts(known: dict[bytes, tuple[bool, float]], *, wall: float | None = None) -> Verdicts:
    """Return verdicts by a predicate that holds, where some have been recorded."""
    found = Verdicts(
        InProcess(lambda text: text == b"late", 1),
        lambda seconds: Limits(wall=wall or seconds),
        lambda text, finished: None,
        None,
        Spending(Budget(), Counts(), Control()),
        first=FIRST,
    )
    found.restore({digest(text): verdict for text, verdict in known.items()})
    return found


def used(found: Verdicts, text: bytes, best: float) -> bool:
    """Return the verdict on a text when the best one takes `best` seconds."""
    key = digest(text)
    if (known := found.used(key)) is not None:
        return known.interesting
    while key not in found:
        found.start(key, text, best)
        found.wait(None)
    return found.use(key, text, best).interesting


def test_a_limit_that_follows_the_best_text_refutes_nothing_for_good() -> None:
    found = verdicts({b"late": (False, 0.5), b"no": (False, 0.1), b"yes": (True, 0.5)})
    assert [used(found, text, 0.4) for text in (b"late", b"no", b"yes")] == [False, False, True]
    assert found.be_patient()
    assert found.counts.runs == 0
    assert [used(found, text, 0.4) for text in (b"no", b"yes", b"late")] == [False, True, True]
    assert found.counts.runs == 1
    assert not found.be_patient()


@pytest.mark.parametrize(("wall", "best"), [(0.4, 0.1), (None, FIRST), (None, 3.0)])
def test_other_limits_do(wall: float | None, best: float) -> None:
    found = verdicts({b"late": (False, 3.0)}, wall=wall)
    assert not used(found, b"late", best)
    assert not found.be_patient()
    assert not used(found, b"late", best)


def test_after_eight_in_a_row_in_vain_the_others_are_left() -> None:
    texts = [b"hangs %d" % number for number in range(20)]
    found = verdicts(dict.fromkeys([*texts, b"late"], (False, 0.5)))
    assert not any(used(found, text, 0.4) for text in [*texts, b"late"])
    assert found.be_patient()
    assert not any(used(found, text, 0.4) for text in texts[:7])
    assert used(found, b"late", 0.4)
    assert not any(used(found, text, 0.4) for text in texts[7:])
    assert found.counts.runs == 8 + 8
