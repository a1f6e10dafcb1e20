"""What the server keeps of runs, and how it tells the page."""

from __future__ import annotations

import tracemalloc
from typing import Any

from reducekit.ui.runs import MOST_POINTS, RunState


def told(run: RunState, checks: int, size: int) -> None:
    run.take({"state": {"before": 100_000, "size": size, "checks": checks,
                        "points": [[checks, checks / 50, size]], "messages": []}})  # fmt: skip


class Page:
    """Takes the news as the page does."""

    def __init__(self) -> None:
        self.points: list[list[float]] = []
        self.epoch = 0
        self.received = 0

    def take(self, news: dict[str, Any]) -> None:
        self.received += len(news["points"])
        self.points = [*self.points[: news["from"]], *news["points"]]
        self.epoch = news["epoch"]


def test_ten_thousand_events_neither_grow_nor_lag() -> None:
    run, page = RunState(1, "reduce", "adaptive"), Page()
    for number in range(2000):
        told(run, number, 100_000 - number)
    page.take(run.shown(0, 0))
    tracemalloc.start()
    begin = tracemalloc.get_traced_memory()[0]
    for number in range(2000, 10_000):
        told(run, number, 100_000 - number)
        if number % 5 == 0:
            page.take(run.shown(len(page.points), page.epoch))
    grown = tracemalloc.get_traced_memory()[0] - begin
    tracemalloc.stop()
    page.take(run.shown(len(page.points), page.epoch))
    assert len(run.points) <= MOST_POINTS
    assert grown < 1_000_000
    assert page.points == run.points
    assert page.points[0] == [0, 0.0, 100_000]
    assert page.points[-1][:3] == [9999, 9999 / 50, 90_001]
    # Each point is sent about once: what is told is proportional to what happened.
    assert page.received <= 30_000


def test_a_page_that_comes_late_gets_everything() -> None:
    run = RunState(1, "reduce", "ddmin")
    for number in range(10):
        told(run, number, 100 - number)
    late = Page()
    late.take(run.shown(0, 0))
    assert late.points == run.points


def test_messages_are_bounded() -> None:
    run = RunState(1, "reduce", "ddmin")
    for number in range(1000):
        run.take({"message": str(number)})
    assert len(run.messages) == 200
    assert run.messages[-1] == "999"


def test_how_a_run_ends() -> None:
    def ended(*lines: dict[str, Any], status: str = "running") -> str:
        run = RunState(1, "reduce", "ddmin", status=status)
        for line in (*lines, {"over": True}):
            run.take(line)
        return run.status

    assert ended({"report": {"stopped": None}}) == "done"
    assert ended({"report": {"stopped": "after 3 checks"}}) == "stopped"
    assert ended({"error": "no such program"}) == "failed"
    assert ended() == "stopped"
    assert ended({"error": "stopped before there was a result"}, status="stopping") == "stopped"
