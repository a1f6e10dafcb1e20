"""The options of other reducers, and other names for ours, with what to type instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        each: ours
        for ours, names in {
            "--cmd": "--command --solver --program --exec --exe --run",
            "--oracle": "--test --interesting --interestingness --script --check-script",
            "--output": "--out --outfile --result --write",
            "--jobs": "--threads --parallel --workers --cores --nproc --procs --processes",
            "--strategy": "--algorithm --algo --method",
            "--max-time": "--time --time-limit --timelimit --max-seconds --total-timeout",
            "--timeout": "--run-timeout --time-out --wall --tlimit",
            "--memory": "--mem --memlimit --memory-limit --max-memory --max-mem",
            "--exit-code": "--exitcode --status --exit-status --signal --returncode",
            "--match-out": "--match --grep --pattern --regex --stdout",
            "--match-err": "--stderr",
            "--reference": "--ref --compare --other --against --cross-check",
            "--quiet": "--silent",
            "--resume": "--continue",
            "--restart": "--force --overwrite --clean --fresh --no-resume",
            "--in-place": "--inplace",
            "--repeat": "--flaky --runs",
            "--workdir": "--tmpdir --tmp --temp --tempdir --cwd",
            "--max-checks": "--max-tests --max-runs --limit",
            "--without": "--skip --disable --exclude --no-pass",
            "--only": "--passes --pass --enable",
            "--pretty": "--format-output --indent",
        }.items()
        for each in names.split()
    }
)
"""Names that people might guess for our options."""


class Habit(NamedTuple):
    """An option of another tool, and its replacement here."""

    tool: str
    theirs: tuple[str, ...]
    ours: str


def _of(tool: str, *rows: tuple[str, str]) -> tuple[Habit, ...]:
    return tuple(Habit(tool, tuple(theirs.split()), ours) for theirs, ours in rows)


HABITS: Sequence[Habit] = (
    *_of(
        "ddSMT",
        ("-c", "--also-passes CMD, or --reference CMD for wrong answers"),
        ("--ignore-output", "--ignore-out --ignore-err, or --exit-code N"),
        ("--memout", "--memory MB"),
        ("--match-out-cc --match-err-cc --ignore-output-cc --timeout-cc", "--also-passes CMD"),
        ("--pretty-print --wrap-lines", "--pretty"),
        ("--parser-test", "--check"),
        ("--dump-config", "reducekit passes FORMAT, or a file reducekit.toml"),
        ("--dump-diffs", "reducekit history OUTPUT --diff N, afterwards"),
        (
            "--check-loops --profile",
            "no option: a report (--report FILE) lists the cost by pass",
        ),
        ("--disable-all", "--only PASS; reducekit passes FORMAT lists them"),
        ("--replace-by-variable-mode", "no option: --without PASS leaves a pass out"),
    ),
    *_of(
        "C-Vise",
        ("--n -n", "--jobs N"),
        ("--commands -c", "--oracle CMD --shell"),
        ("--tidy", "no option: only --in-place keeps the original, as .orig"),
        ("--sllooww", "--patience 0"),
        ("--no-give-up", "--patience 0"),
        ("--remove-pass", "--without PASS"),
        ("--start-with-pass --pass-group --pass-group-file --skip-initial-passes", "--only PASS"),
        ("--list-passes", "reducekit passes FORMAT"),
        ("--print-diff", "reducekit history OUTPUT --diff N, afterwards"),
        ("--stopping-threshold", "--until BYTES"),
        ("--skip-interestingness-test-check -s", "no option: the input is run first, always"),
        ("--save-temps", "--also-interesting DIR keeps other failures"),
        ("--shaddap --no-timing --timestamp --log-level --log-file --debug", "--quiet or --json"),
        ("--no-cache", "--no-journal"),
        ("--not-c --renaming --clang-delta-std --to-utf8", "no option: leave it out"),
    ),
    *_of(
        "Shrink Ray",
        ("--parallelism", "--jobs N"),
        ("--backup", "no option: --in-place keeps the original as .orig"),
        ("--input-type", "no option for a file, --stdin for standard input"),
        ("--volume --ui --theme", "--quiet or --json"),
        ("--formatter", "--pretty"),
        ("--trivial-is-error --trivial-is-not-error", "no option: leave it out"),
        ("--no-clang-delta --clang-delta", "no option: leave it out"),
        ("--history --no-history", "reducekit history OUTPUT, afterwards"),
        ("--reduce-with", "--propose CMD"),
        ("--seed", "no option: the same command gives the same result"),
    ),
)
"""What other reducers call their options, with what to type instead."""


def answer(option: str, known: Sequence[str]) -> str | None:
    """Return the answer to an option that is not among the `known` ones, or None."""
    said = [f"{each.tool}'s {option}: here {each.ours}" for each in HABITS if option in each.theirs]
    if said:
        return ". ".join(said) + "."
    long = f"-{option}" if option[:1] == "-" != option[1:2] and len(option) > 2 else option
    ours = long if long in known else OTHER_NAMES.get(long)
    if ours in known:
        return f"Did you mean {ours}?"
    return None


def python_name(name: str) -> str | None:
    """Return the Python name of an option that was given by another name; None if there is none."""
    found = OTHER_NAMES.get("--" + name.replace("_", "-"))
    if found is None:
        return None
    return "command" if found == "--cmd" else found[2:].replace("-", "_")
