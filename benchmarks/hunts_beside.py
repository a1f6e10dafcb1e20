"""Compares hunts with yinyang's tools (opfuzz, typefuzz, fusion) by the failures they find.

    python -m benchmarks.hunts_beside SEEDS --yinyang VENV/bin --seconds 120 \\
        --target 'z3-4.8.5=z3 model_validate=true' --reference z3-new

SEEDS is a folder of scripts; a target is a name and a command. VENV has `pip install yinyang`.
Each tool gets as many processor seconds, counted over all of its processes, and the same seeds:
those that the target solves without a failure, by at most 2 s, and that the reference answers. A
tool that ends sooner is started again. All programs run by a script that keeps the input and limits
a run to 2 s of processor time.

Afterwards `reducekit hunt` tests the inputs that each tool gave the target, in the same way for
all: failures are reduced and sorted by bug; what solvers lack or refuse is no failure.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

LARGEST = 8192  # bytes of a seed
_TICK = os.sysconf("SC_CLK_TCK")
_MOST = 20  # starts of a tool that ends at once, for each second
_ANSWERS = {"sat", "unsat"}
_APART = 1_000_000
"""How far the random seeds of two starts are apart: a hunt takes the ones that follow."""
_GLANCE = 0.2  # seconds
# Who looks at the inputs afterwards asks the same programs the same: so all results are kept, with
# their time. A reduction derives its time limit from how long a program takes on the input.
_SCRIPT = """#!/bin/bash
for file; do :; done
{keep}key=$(sha256sum < "$file") && known={results}/${{key%% *}}
if [ ! -e "$known.status" ]; then
  exec 3>&2 2> /dev/null  # where the shell says that a program crashed
  begin=${{EPOCHREALTIME/[.,]/}}
  (ulimit -t 2; exec {command} "$@" > "$known.out.$$" 2> "$known.err.$$" 3>&-)
  # SIGKILL at the limit, as z3 catches SIGXCPU and may crash in its handler; 152 is SIGXCPU.
  code=$?
  [ $code -ne 137 ] || code=152
  echo $code $((${{EPOCHREALTIME/[.,]/}} - begin)) > "$known.status.$$"
  exec 2>&3 3>&-
  for each in out err status; do mv "$known.$each.$$" "$known.$each"; done
  read -r status _ < "$known.status"
else
  read -r status micros < "$known.status"
  sleep $((micros / 1000000)).$(printf %06d $((micros % 1000000)))
fi
cat "$known.out"
cat "$known.err" >&2
[ "$status" -le 128 ] || kill -s $((status - 128)) $$
exit "$status"
"""
_KEEP = 'cp -- "$file" {folder}/$$.smt2\n'
_HUNT = (sys.executable, "-m", "reducekit", "hunt", "smt2")
# With -q, these tools test nothing at all.
_YINYANG = ("-n", "-b", "bugs", "-s", "scratch", "-t", "8")


@dataclass(frozen=True, slots=True)
class Setting:
    """What the tools work on: programs in scripts, and folders of seeds."""

    target: Path
    reference: Path
    seeds: Path
    sat: Path
    """The seeds with this answer: fusion needs seeds of one."""
    programs: Path
    """The folder of yinyang's programs."""
    seed: int
    """The seed of the first start."""


Tool = Callable[[Setting, int], Sequence[str]]
"""Returns the command of a tool for a random seed."""


def _hunting(*words: str, seeds: bool = False) -> Tool:
    def command(setting: Setting, seed: int) -> Sequence[str]:
        more = ("--seeds", str(setting.seeds), "--mutate") if seeds else ()
        programs = ("--cmd", str(setting.target), "--reference", str(setting.reference))
        ends = ("--no-reduce", "--seed", str(seed), "--out", "out")
        return (*_HUNT, *more, *words, *programs, *ends)

    return command


def _mutating(program: str, *words: str) -> Tool:
    def command(setting: Setting, seed: int) -> Sequence[str]:
        programs = f"{setting.target};{setting.reference}"
        found = sorted((setting.sat if program == "yinyang" else setting.seeds).iterdir())
        # A seed that they cannot read ends typefuzz and fusion, which needs two at least.
        count = min({"opfuzz": len(found), "typefuzz": 1, "yinyang": 8}[program], len(found))
        some = random.Random(seed).sample(found, count)
        return (str(setting.programs / program), *words, *_YINYANG, programs, *map(str, some))

    return command


TOOLS: dict[str, Tool] = {
    "hunt --logic any": _hunting("--logic", "any"),
    "hunt --mutate": _hunting(seeds=True),
    "hunt --mutate --logic any": _hunting("--logic", "any", seeds=True),
    "opfuzz": _mutating("opfuzz", "-i", "10", "-m", "1"),
    "typefuzz": _mutating("typefuzz", "-i", "10", "-m", "1"),
    "fusion": _mutating("yinyang", "-i", "10", "-o", "sat"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool found in a target: the names of the failures, with their titles."""

    tool: str
    seconds: float
    starts: int
    inputs: int
    failing: int
    """Inputs that fail."""
    bugs: dict[str, str]


def script(path: Path, command: str, results: Path, keep: Path | None = None) -> Path:
    """Write the script that runs a program; it keeps its results, and its inputs in a folder."""
    results.mkdir(exist_ok=True)
    kept = "" if keep is None else _KEEP.format(folder=shlex.quote(str(keep)))
    place = shlex.quote(str(results.resolve()))
    path.write_text(_SCRIPT.format(keep=kept, command=command, results=place), "utf-8")
    path.chmod(0o755)
    return path


def spent(root: int) -> tuple[float, list[int]]:
    """Return the processor seconds of a process and all below it, and their numbers."""
    ticks: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        with contextlib.suppress(OSError):
            told = Path("/proc", entry, "stat").read_text("utf-8", "replace")
            words = told.rpartition(")")[2].split()
            children.setdefault(int(words[1]), []).append(int(entry))
            # Of itself, and of the children that it has waited for.
            ticks[int(entry)] = sum(map(int, words[11:15]))
    found, todo = [], [root]
    while todo:
        found.append(todo.pop())
        todo += children.get(found[-1], ())
    return sum(ticks.get(each, 0) for each in found) / _TICK, found


def run(command: Sequence[str], seconds: float, folder: Path) -> float:
    """Run a tool until it has used that many processor seconds; return the seconds used."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    used, processes = 0.0, [process.pid]
    while process.poll() is None:
        time.sleep(_GLANCE)
        now, processes = spent(process.pid)
        used = max(used, now)
        if used >= seconds:
            break
    for each in processes:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    waited = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return max(used, waited)


def answer(program: Path, path: Path) -> str:
    """Return what a program answers to a script; nothing if it fails, or says anything else."""
    # Some seeds tell z3 to write a log, which goes to the current folder.
    done = subprocess.run(
        [program, path.resolve()], cwd=program.parent, capture_output=True, text=True, check=False
    )
    words = (done.stdout + done.stderr).split()
    return " ".join(words) if done.returncode in (0, 10, 20) and {*words} <= _ANSWERS else ""


def prepared(seeds: Sequence[Path], target: Path, reference: Path, folder: Path) -> tuple[int, int]:
    """Copy the seeds that both programs answer alike; return the number of all, and of sat ones."""
    counts = [0, 0]
    for name in ("seeds", "sat"):
        (folder / name).mkdir()
    for number, path in enumerate(seeds):
        given = answer(target, path)
        if not given or answer(reference, path) != given:
            continue
        counts[0] += 1
        shutil.copy(path, folder / "seeds" / f"{number}.smt2")
        if given == "sat":
            counts[1] += 1
            shutil.copy(path, folder / "sat" / f"{number}.smt2")
    return counts[0], counts[1]


def judged(
    inputs: Path, target: str, reference: Path, out: Path, folder: Path
) -> dict[str, object]:
    """Return what our hunt says of the inputs that a tool gave a target."""
    program = script(folder / "target", target, folder / "results of the target")
    command = (
        *_HUNT, "--seeds", str(inputs), "--cmd", str(program), "--reference", str(reference),
        "--out", str(out), "--restart", "--json", "--memory", "2000",
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told: dict[str, object] = json.loads(done.stdout)
    return told


def compare(
    target: str, tools: Sequence[str], setting: Setting, seconds: float, keep: Path, folder: Path
) -> Iterator[Found]:
    """Yield what each tool finds in a target."""
    for name, tool in ((each, TOOLS[each]) for each in tools):
        here = folder / name.replace(" ", "")
        inputs = here / "inputs"
        inputs.mkdir(parents=True)
        own = script(here / "target", target, folder / "results of the target", inputs)
        used, starts = 0.0, 0
        settings = replace(setting, target=own)
        while used < seconds and starts < _MOST * seconds:
            used += run(tool(settings, setting.seed + _APART * starts), seconds - used, here)
            starts += 1
        count = len(list(inputs.iterdir()))
        bugs: list[dict[str, object]] = []
        if count:
            verdict = judged(inputs, target, setting.reference, keep, folder)
            bugs = verdict["bugs"]  # type: ignore[assignment]  # JSON
            bugs = [each for each in bugs if not str(each["failure"]).startswith("reference")]
        titles = {str(each["reduced_file"] or each["file"]): str(each["failure"]) for each in bugs}
        failing = sum(int(str(each["count"])) for each in bugs)
        yield Found(name, used, starts, count, failing, titles)


def table(target: str, rows: Sequence[Found]) -> str:
    """Return the table of a target, and the list of its failures."""
    lines = [
        f"## {target}",
        "",
        "| tool | processor s | starts | inputs | of these fail | failures | only here |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        others = {bug for each in rows if each is not row for bug in each.bugs}
        alone = len(row.bugs.keys() - others)
        lines.append(
            f"| {row.tool} | {row.seconds:.0f} | {row.starts} | {row.inputs:,} | {row.failing:,} "
            f"| {len(row.bugs)} | {alone} |"
        )
    everything = {bug: title for row in rows for bug, title in row.bugs.items()}
    lines += ["", f"{len(everything)} failures:" if everything else "No failures.", ""]
    for bug, title in everything.items():
        finders = ", ".join(row.tool for row in rows if bug in row.bugs)
        size = Path(bug).stat().st_size if Path(bug).exists() else 0
        lines.append(f"- {title.replace('|', '&#124;')} ({size} bytes): {finders}")
    return "\n".join([*lines, ""])


def main() -> None:
    """Compare the tools on all targets, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hunts_beside")
    parser.add_argument("seeds", type=Path, help="a folder of scripts")
    parser.add_argument("--yinyang", type=Path, required=True, help="the folder of its programs")
    parser.add_argument("--seconds", type=float, default=120, help="of processor time, for a tool")
    parser.add_argument("--target", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--reference", required=True, help="the command that is right")
    parser.add_argument("--tool", action="append", choices=list(TOOLS), help="default: all")
    parser.add_argument("--count", type=int, default=300, help="seeds that are drawn")
    parser.add_argument(
        "--seed", type=int, default=1, help="random seed, of the draw and of the tools"
    )
    parser.add_argument("--keep", type=Path, default=Path("hunts_beside"), help="for the failures")
    arguments = parser.parse_args()
    tools = arguments.tool or list(TOOLS)
    found = sorted(arguments.seeds.rglob("*.smt2"))
    seeds = [each for each in found if each.stat().st_size <= LARGEST]
    drawn = sorted(random.Random(arguments.seed).sample(seeds, min(arguments.count, len(seeds))))
    for target in arguments.target:
        name, _, command = target.partition("=")
        with tempfile.TemporaryDirectory(prefix="hunts-") as where:
            folder = Path(where)
            results = folder / "results of the reference"
            reference = script(folder / "reference", arguments.reference, results)
            plain = script(folder / "plain", command, folder / "results of the target")
            usable, sat = prepared(drawn, plain, reference, folder)
            setting = Setting(
                plain,
                reference,
                seeds=folder / "seeds",
                sat=folder / "sat",
                programs=arguments.yinyang.resolve(),
                seed=arguments.seed,
            )
            keep = (arguments.keep / name).resolve()
            rows = compare(command, tools, setting, arguments.seconds, keep, folder)
            text = table(name, list(rows))
        print(f"{text}\nOf {len(drawn)} seeds, {usable} are used, {sat} of them sat.\n", flush=True)


if __name__ == "__main__":
    main()
