"""The requests of the page, with real runs behind them."""

from __future__ import annotations

import base64
import json
import os
import time
from pathlib import Path

import pytest

from tests.ui.serving import Serving

LINES = "".join(f"{n} var 1\n" for n in range(1, 40))
GRAPH = LINES + "40 and 1 1 -2\n41 and 1 40 3\n42 sext 2 41 1\n43 redor 1 42\n44 root 1 43\n"


def opened(served: Serving, name: str = "g.btor", text: str = GRAPH) -> int:
    (served.folder / name).write_text(text)
    number: int = served.ask("open", path=name)["number"]
    return number


def reduced(served: Serving, **options: object) -> int:
    found = served.ask(
        "reduce",
        document=opened(served),
        strategies=["adaptive"],
        options={"oracle": "grep -q sext {}", **options},
    )
    number: int = found["runs"][0]
    return number


def test_open_text_and_diagram(served: Serving) -> None:
    number = opened(served)
    assert served.ask("text", document=number) == {"text": GRAPH, "size": len(GRAPH)}
    diagram = served.ask("diagram", document=number)
    assert diagram["labels"][39:] == ["40 and", "41 and", "42 sext 1", "43 redor", "44 root"]
    assert diagram["edges"][39] == [0, ~1]
    at = diagram["labels"].index("42 sext 1")
    assert GRAPH[diagram["starts"][at] : diagram["ends"][at]] == "42 sext 2 41 1"
    assert diagram["details"][at] == "width 2"
    assert diagram["kinds"][-1] == "root"


def test_a_text_too_large_to_draw(served: Serving) -> None:
    (served.folder / "large.smt2").write_bytes(b"(assert true)\n" * 160_000)
    number = served.ask("open", path="large.smt2")["number"]
    assert served.ask("text", document=number)["size"] == 14 * 160_000
    assert "drawn up to 2,097,152 bytes" in served.refused("diagram", document=number)


def test_positions_in_a_text_that_is_not_ascii(served: Serving) -> None:
    text = "; é 𝄞 x\n(declare-const |ä𝄞| Bool)\n(assert (not |ä𝄞|))\n"
    (served.folder / "u.smt2").write_bytes(text.encode() + b"; \xff\n(assert true)\n")
    number = served.ask("open", path="u.smt2")["number"]
    shown = served.ask("text", document=number)["text"].encode("utf-16-le")
    diagram = served.ask("diagram", document=number)
    said = [
        shown[2 * start : 2 * end].decode("utf-16-le")
        for start, end in zip(diagram["starts"], diagram["ends"], strict=True)
    ]
    assert said == ["|ä𝄞|", "(assert (not |ä𝄞|))", "(not |ä𝄞|)", "(assert true)", "true"]


@pytest.mark.slow
def test_reduce_history_diff_and_going_on(served: Serving) -> None:
    number = reduced(served)
    run = served.finished(number)
    assert run.status == "done"
    assert run.state["size"] == len("1 var 1\n2 sext 1 1 0\n3 root 1 2\n")
    assert run.result["verified"] is True
    assert run.points[0][2] == len(GRAPH)
    history = served.ask("history", run=number)
    steps = history["steps"]
    assert len(steps) == run.state["accepted"] + 1
    assert history["current"] == steps[-1][0]
    diff = served.ask("diff", run=number, old=0, new=1)
    assert (diff["old"], diff["new"]) == (len(GRAPH), steps[1][2])
    assert any(sign == "-" for sign, _ in diff["lines"])
    step = served.ask("step", run=number, step=1)
    assert step["name"] == "g@adaptive-1.btor"
    assert step["size"] == steps[1][2]
    again = served.ask(
        "reduce",
        document=step["number"],
        strategies=["ddmin", "hdd"],
        options={"oracle": "grep -q sext {}"},
    )
    assert {served.finished(each).status for each in again["runs"]} == {"done"}
    assert "there is no step 99" in served.refused("step", run=number, step=99)


@pytest.mark.slow
@pytest.mark.parametrize(
    "strategy",
    ["adaptive", "ddmin", "hdd", "hdd+", "hdd*", "bfs", "lw", "changeref", "changeref+",
     "halving", "deltabtor", "combine"],
)  # fmt: skip
def test_each_algorithm_runs(served: Serving, strategy: str) -> None:
    document = opened(served)
    found = served.ask(
        "reduce", document=document, strategies=[strategy], options={"oracle": "grep -q sext {}"}
    )
    run = served.finished(found["runs"][0])
    assert run.status == "done", run.error
    assert run.state["size"] < len(GRAPH) / 2


@pytest.mark.slow
def test_stop_pause_and_resume(served: Serving) -> None:
    slow = served.folder / "slow.sh"
    slow.write_text('#!/bin/sh\nsleep 0.1\ngrep -q sext "$1"\n')
    slow.chmod(0o755)
    number = reduced(served, oracle=f"{slow} {{}}")
    run = served.api.runs.get(number)
    served.wait(lambda: run.state.get("accepted"))
    served.ask("control", run=number, request="pause")
    served.wait(lambda: run.status == "paused")
    before = run.state["checks"]
    time.sleep(1)
    assert run.state["checks"] <= before + 1  # what was under way ends
    served.ask("control", run=number, request="resume")
    served.wait(lambda: run.state["checks"] > before)
    served.ask("control", run=number, request="stop")
    assert served.finished(number).status == "stopped"
    assert run.output is not None
    assert run.output.read_text().count("sext") == 1
    refused = served.refused("control", run=number, request="explode")
    assert "unknown request to a run: 'explode'" in refused


def test_a_run_without_a_reduction(served: Serving) -> None:
    number = opened(served)
    found = served.ask("run", document=number, options={"command": "grep -c var {}"})
    run = served.finished(found["run"])
    assert run.console[0]["output"] == "39\n"
    assert run.console[0]["ended"] == "exit status 0"
    found = served.ask("run", document=number, options={"command": "no-such-solver-at-all {}"})
    assert "no-such-solver-at-all" in served.finished(found["run"]).error
    assert "Type its command" in served.refused("run", document=number, options={})


def test_a_run_that_does_not_end_is_stopped(served: Serving) -> None:
    found = served.ask("run", document=opened(served), options={"command": "sh -c 'sleep 1000' {}"})
    run = served.api.runs.get(found["run"])
    served.wait(lambda: run.status == "running")
    served.ask("control", run=run.number, request="stop")
    served.finished(run.number)
    assert not run.console


def test_an_input_that_does_not_fail_is_told(served: Serving) -> None:
    run = served.finished(reduced(served, oracle="grep -q nothing {}"))
    assert run.status == "failed"
    assert "is not interesting" in run.error or "does not" in run.error


def test_a_text_from_the_browser(served: Serving) -> None:
    data = base64.b64encode(b"(assert true)\n").decode()
    found = served.ask("add", name="new.smt2", data=data)
    assert found["format"] == "smt2"
    saved = served.ask("save", document=found["number"], path="saved.smt2")
    assert Path(saved["path"]).read_bytes() == b"(assert true)\n"
    assert "exists already" in served.refused("save", document=found["number"], path="saved.smt2")
    assert "damaged" in served.refused("add", name="x", data="%%%")


def test_reports(served: Serving) -> None:
    number = reduced(served)
    served.finished(number)
    html = served.ask("report", run=number, text="page")
    assert html["text"].startswith("<!DOCTYPE html>")
    assert "grep: " in served.ask("report", run=number, text="issue")["text"]


def test_options_are_kept(served: Serving) -> None:
    assert served.ask("hello")["settings"] == {}
    served.ask("keep", values={"command": "boolector {}"})
    assert served.ask("hello")["settings"] == {"command": "boolector {}"}
    path = served.api.settings.path
    assert json.loads(path.read_text()) == {"command": "boolector {}"}
    path.write_text("{")
    assert "not valid JSON" in served.refused("hello")


def test_bug_search(served: Serving) -> None:
    solver = served.folder / "solver.sh"
    solver.write_text('#!/bin/sh\ngrep -q " and " "$1" && kill -11 $$\nexit 0\n')
    solver.chmod(0o755)
    found = served.ask(
        "hunt", format="btor", programs=[f"{solver} {{}}"], values={"nodes": 40}, seed=1, count=8
    )
    run = served.finished(found["run"])
    assert run.status == "done", run.error
    assert run.state["inputs"] == 8
    (bug,) = run.bugs.values()
    assert "SIGSEGV" in bug["title"]
    assert bug["count"] > 1
    assert bug["reduced"] < bug["size"]
    text = served.api.documents.get(served.ask("open", path=bug["reduced_path"])["number"]).text
    assert b" and " in text
    assert "Type its command" in served.refused(
        "hunt", format="btor", programs=[], values={}, seed=0
    )


@pytest.mark.slow
def test_random_inputs(served: Serving) -> None:
    found = served.ask("generate", format="btor", seed=7, values={"nodes": 50, "no_arrays": True})
    again = served.ask("generate", format="btor", seed=7, values={"nodes": 50, "no_arrays": True})
    texts = [served.ask("text", document=each["number"])["text"] for each in (found, again)]
    assert texts[0] == texts[1]
    assert "array" not in texts[0]
    assert found["generated"]["words"][:2] == ["--seed", "7"]
    assert "unknown option" in served.refused("generate", format="btor", seed=1, values={"x": 1})
    trace = served.ask("generate", format="trace", seed=3, values={})
    assert served.ask("diagram", document=trace["number"])["shape"] == "timeline"


def test_no_process_outlives_the_server(served: Serving) -> None:
    marker = served.folder / "pids"
    hang = served.folder / "hang.sh"
    hang.write_text(f'#!/bin/sh\necho $$ >> {marker}\ngrep -q sext "$1" && exec sleep 1000\n')
    hang.chmod(0o755)
    reduced(served, oracle=f"{hang} {{}}", timeout=500)
    served.wait(marker.exists)
    served.server.api.stop()
    pids = [int(line) for line in marker.read_text().split()]
    served.wait(lambda: not [pid for pid in pids if os.path.exists(f"/proc/{pid}")])


def test_a_graph_of_twenty_thousand_nodes_is_told_as_a_whole(served: Serving) -> None:
    lines = ["1 var 8"] + [f"{n} add 8 {n - 1} {max(1, n // 2)}" for n in range(2, 20_000)]
    text = "\n".join([*lines, "20000 redor 1 19999", "20001 root 1 20000", ""])
    diagram = served.ask("diagram", document=opened(served, "big.btor", text))
    assert len(diagram["labels"]) == 20_001
    assert sum(map(len, diagram["edges"])) == 2 * 19_998 + 2
