"""Candidates as edits: what a worker makes of them is what was meant, and little travels."""

import random

from reducekit.executors.cluster.base_text import BaseText, NewText

LINES = [b"(assert (= x%d (+ y%d %d)))\n" % (each, each % 7, each * each) for each in range(3000)]
WORKERS = 4


class Workers:
    """What some workers have of the base, and how many bytes they were sent."""

    def __init__(self) -> None:
        self.base = BaseText()
        self.texts = [b""] * WORKERS
        self.versions = [0] * WORKERS
        self.whole = 0
        self.edits = 0

    def send(self, text: bytes, worker: int) -> None:
        new = self.base.describe(text, WORKERS)
        for step in self.base.steps_from(self.versions[worker]):
            self.texts[worker] = step.text(self.texts[worker])
            self.whole += len(step.change) * step.whole
            self.edits += len(step.change) * (not step.whole)
        self.versions[worker] = self.base.version
        assert new.text(self.texts[worker]) == text
        self.edits += len(new.change)


def test_a_reduction_to_a_tenth() -> None:
    choose, workers, kept = random.Random(1), Workers(), list(LINES)
    whole = len(NewText.of(b"".join(LINES), None).change)
    for step in range(600):
        at, size = choose.randrange(len(kept)), choose.choice((1, 10, 60))
        tried = kept[:at] + kept[at + size :]
        text = b"".join(tried)
        workers.send(text, step % WORKERS)
        if choose.random() < 0.3 and len(tried) > len(LINES) // 10:
            kept = tried
            workers.base.offer(text)
    assert len(kept) < len(LINES) // 2
    assert workers.whole <= (WORKERS + 2) * whole
    assert workers.edits / 600 < 400


def test_a_first_text_that_is_small_does_not_stay_the_base() -> None:
    workers = Workers()
    for step in range(200):
        at = step * 10
        kept = LINES[: len(LINES) // 2] if step == 0 else LINES[:at] + LINES[at + 5 :]
        workers.send(b"".join(kept), step % WORKERS)
    whole = len(NewText.of(b"".join(LINES), None).change)
    assert workers.whole + workers.edits < 2.5 * WORKERS * whole


def test_texts_that_have_nothing_in_common_travel_whole() -> None:
    choose, workers = random.Random(2), Workers()
    for step in range(20):
        workers.send(choose.randbytes(5000), step % WORKERS)
