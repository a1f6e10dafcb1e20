"""`reducekit bisect`: builds in a folder, git revisions and wheels; what is skipped and refused."""

import json
import re
import shlex
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.inprocess import Shell, shell
from tests.cli.tool import Tool, until
from tests.solvers import cache_folder

__all__ = ["shell"]

CHECKOUT = Path(__file__).resolve().parents[2]
DOCUMENT = (CHECKOUT / "docs" / "bisecting.md").read_text(encoding="utf-8")
CRASH = "for file; do :; done; grep -q bug $file && kill -SEGV $$; echo sat"
FINE = "echo sat"


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def builds(shell: Shell) -> Path:
    """Twelve versions, of which 1.9 and later crash; sorted by name, 1.10 would come second."""
    for number in range(1, 13):
        script(shell.folder / "builds" / f"solver-1.{number}", CRASH if number >= 9 else FINE)
    shell.write("in.smt2", "(bug)\n")
    return shell.folder / "builds"


def bisect(shell: Shell, *words: str) -> dict[str, Any]:
    done = shell("bisect", "in.smt2", *words, "--json", "-q")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_the_first_version_that_crashes(shell: Shell, builds: Path) -> None:
    done = shell("bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}")
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "first bad version: solver-1.9 (last good: solver-1.8)",
        "failure: signal SIGSEGV",
        "runs: 7; versions: 12 known, 6 tried, 0 fetched",
        f"fails:    $ {builds}/solver-1.9 in.smt2",
        f"does not: $ {builds}/solver-1.8 in.smt2",
    ]
    assert done.err.splitlines()[:2] == [
        "reducekit: solver-1.12: bad (signal SIGSEGV)",
        "reducekit: solver-1.1: good (sat)",
    ]


def test_the_version_that_fixed_it(shell: Shell, builds: Path) -> None:
    script(builds / "solver-1.12", FINE)
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--good", "solver-1.12",
                   "--bad", "solver-1.10")  # fmt: skip
    assert (found["last_bad"], found["first_good"]) == ("solver-1.11", "solver-1.12")


@pytest.mark.parametrize(
    "body",
    [
        "kill -BUS $$",  # crashes at once
        "echo 'Assertion `x` failed'; exit 1",  # fails in another way
        "exec /nowhere/libc-1.so",  # cannot start
        "sleep 100",  # hangs
    ],
)
def test_a_version_that_says_nothing_is_skipped(shell: Shell, builds: Path, body: str) -> None:
    for number in (7, 8):
        script(builds / f"solver-1.{number}", body)
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--timeout", "1")
    assert (found["last_good"], found["first_bad"]) == ("solver-1.6", "solver-1.9")
    assert found["between"] == ["solver-1.7", "solver-1.8"]
    skipped = [each["version"] for each in found["versions"] if each["verdict"] == "skipped"]
    assert sorted(skipped) == ["solver-1.7", "solver-1.8"]


def test_ends_that_say_nothing_move_inwards(shell: Shell, builds: Path) -> None:
    script(builds / "solver-1.1", "exit 127")
    (builds / "solver-1.0").mkdir()  # without a program
    script(builds / "solver-1.12", "exit 127")
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}")
    assert (found["last_good"], found["first_bad"]) == ("solver-1.8", "solver-1.9")
    done = shell(
        "bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", "--good", "solver-1.0"
    )
    assert done.code == 2
    assert "solver-1.0 cannot be tested: solver-1.0 has no program" in done.err
    done = shell(
        "bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", "--good", "solver-1.1"
    )
    assert done.code == 2
    assert "solver-1.1 cannot run the input (exit status 127): name another version" in done.err


def test_what_looks_for_words_only_skips_crashes(shell: Shell, builds: Path) -> None:
    for number in range(1, 13):
        body = "echo unknown" if number >= 4 else "echo unsat; echo '(error \"no model\")'; exit 1"
        script(builds / f"solver-1.{number}", body)
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--match-out", "^unknown")
    assert (found["last_good"], found["first_bad"]) == ("solver-1.3", "solver-1.4")


@pytest.mark.parametrize("body", ["kill -SEGV $$", "exec sleep 100", "exit 127"])
def test_what_looks_for_words_skips_what_prints_none(shell: Shell, builds: Path, body: str) -> None:
    for number in range(1, 13):
        words = "echo unknown" if number >= 9 else "echo sat"
        script(builds / f"solver-1.{number}", body if number in (7, 8) else words)
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--match-out", "^unknown",
                   "--timeout", "1")  # fmt: skip
    assert (found["last_good"], found["first_bad"]) == ("solver-1.6", "solver-1.9")
    assert found["between"] == ["solver-1.7", "solver-1.8"]


def test_a_good_version_that_hangs_is_refused(shell: Shell, builds: Path) -> None:
    script(builds / "solver-1.1", "exec sleep 100")
    words = ["bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", "--timeout", "1"]
    done = shell(*words, "--good", "solver-1.1")
    assert done.code == 2
    assert "solver-1.1 cannot run the input (stopped after 1.0 s)" in done.err


def test_a_failure_that_the_good_version_has_as_well_is_good(shell: Shell, builds: Path) -> None:
    """Another failure says nothing, unless it is that of the good end."""
    for number in range(1, 9):
        other = "no model" if number != 5 else "no core"
        script(builds / f"solver-1.{number}", f"echo '(error \"{other}\")'; exit 1")
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--scan")
    assert (found["last_good"], found["first_bad"]) == ("solver-1.8", "solver-1.9")
    assert found["between"] == []
    skipped = [each["version"] for each in found["versions"] if each["verdict"] == "skipped"]
    assert skipped == ["solver-1.5"]


def test_a_test_may_skip_a_version_as_with_git_bisect(shell: Shell, builds: Path) -> None:
    script(shell.folder / "test.sh", '[ "$2" = solver-1.8 ] && exit 125; ! "$1" "$3" > /dev/null')
    found = bisect(shell, "--builds", "builds", "--oracle", "./test.sh {solver} {version}")
    assert (found["last_good"], found["first_bad"]) == ("solver-1.7", "solver-1.9")
    assert found["between"] == ["solver-1.8"]


DEPENDS = """last() { for file; do :; done; }; last "$@"
case "$*" in *model=true*) ;; *) grep -q many $file && { echo sat; exit; };; esac
case "$*" in *t=[4-9]?\\ *|*t=???\\ *) grep -q bug $file && kill -SEGV $$;; esac
echo sat"""
"""Crashes on `bug` if t is at least 40; where there are `many`, only with model=true."""
DISLIKES = "for file; do :; done; grep -q fine $file || kill -KILL $$; echo sat"


def test_input_options_and_their_values_are_reduced_together(shell: Shell, builds: Path) -> None:
    """Of less input fewer options are needed; a version that fails otherwise does not pass."""
    for number in range(1, 13):
        script(builds / f"solver-1.{number}", DEPENDS if number >= 3 else DISLIKES)
    shell.write("in.smt2", "(many)\n(x)\n(bug)\n(y)\n(fine)\n")
    words = ["--cmd", "{solver} t=900 model=true seed=7", "--reduce", "out.smt2"]
    found = bisect(shell, "--builds", "builds", *words)
    assert (shell.folder / "out.smt2").read_text().split() == ["(bug)", "(fine)"]
    assert (found["last_good"], found["first_bad"]) == ("solver-1.2", "solver-1.3")
    assert found["options"] == ["t=40"]
    assert (found["reduced"]["before"], found["reduced"]["file"]) == (28, "out.smt2")
    assert found["commands"][0] == f"{builds}/solver-1.3 t=40 out.smt2"
    assert bisect(shell, "--builds", "builds", *words, "--keep-options")["options"] is None


def test_an_input_that_cannot_be_reduced(shell: Shell, builds: Path) -> None:
    for number in range(1, 13):
        script(builds / f"solver-1.{number}", "kill -SEGV $$" if number >= 3 else FINE)
    words = ["bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", "--reduce", "out"]
    done = shell(*words)
    assert done.code == 1
    assert "empty" in done.err
    shell.write("in.strange", "bug")
    done = shell("bisect", "in.strange", *words[2:], "--format", "none")
    assert done.code == 2
    assert "'none'" in done.err


@pytest.mark.parametrize(
    ("name", "text", "words", "result"),
    [
        ("in.txt", "one\ntwo bug\nthree\n", ["--format", "text"], "bug"),
        ("in.cnf", "p cnf 2 2\n1 2 0\n-1 2 0\nc bug\n", [], "bug"),
        ("in.strange", '(assert true)\n(echo "bug")\n(check-sat)\n', [], "bug"),
    ],
)
def test_an_input_of_any_format_is_reduced(
    shell: Shell, builds: Path, name: str, text: str, words: list[str], result: str
) -> None:
    shell.write(name, text)
    to = "small" + Path(name).suffix
    done = shell("bisect", name, "--builds", "builds", "--cmd", "{solver}", "--reduce", to, *words)
    assert done.code == 0, done.err
    assert result in shell.read(to)
    assert len(shell.read(to)) < len(text)


def test_the_reduction_keeps_a_journal_and_is_resumed(shell: Shell, builds: Path) -> None:
    shell.write("in.smt2", "(one)\n(two)\n(bug)\n(three)\n")
    words = ["--builds", "builds", "--cmd", "{solver}", "--reduce", "small.smt2"]
    first = bisect(shell, *words)
    assert shell.read("small.smt2").strip() == "(bug)"
    history = json.loads(shell("history", "small.smt2", "--json").out)
    assert history["current"]
    assert history["head"]["commands"] == [
        f"{builds}/solver-1.9 FILE", f"{builds}/solver-1.8 FILE"
    ]  # fmt: skip
    again = bisect(shell, *words)
    assert again["runs"] < first["runs"]
    assert not (shell.folder / "small.1.smt2").exists()


def test_the_options_that_it_takes(shell: Shell, builds: Path) -> None:
    for number in range(1, 13):
        crash = 'case "$*" in *"-t 5"*model=true*) kill -SEGV $$;; *-t*-*) exit 2;; esac'
        script(builds / f"solver-1.{number}", crash if number >= 3 else FINE)
    command = "{solver} --log=3 -t 5 -u 6 model=true seed=7"
    found = bisect(shell, "--builds", "builds", "--cmd", command)
    assert found["options"] == ["-t", "5", "model=true"]
    assert found["commands"][0] == f"{builds}/solver-1.3 -t 5 model=true in.smt2"
    shell.write("options", "--log=3\n-t 5\nmodel=true # needed?\n")
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}", "--options-file", "options")
    assert found["options"] == ["-t", "5", "model=true"]
    found = bisect(shell, "--builds", "builds", "--cmd", command, "--keep-options")
    assert found["options"] is None


def test_options_without_which_the_good_version_fails_too_are_kept(
    shell: Shell, builds: Path
) -> None:
    script(builds / "solver-1.8", 'case "$*" in *safe*) echo sat;; *) kill -SEGV $$;; esac')
    command = "{solver} x safe y"
    found = bisect(shell, "--builds", "builds", "--cmd", command)
    assert (found["first_bad"], found["options"]) == ("solver-1.9", ["safe"])


def test_a_scan_tells_of_more_than_one_change(shell: Shell, builds: Path) -> None:
    script(builds / "solver-1.3", CRASH)
    done = shell("bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", "--scan")
    assert "changes more than once: at solver-1.3, solver-1.4, solver-1.9" in done.out
    assert "12 known, 12 tried" in done.out


@pytest.mark.parametrize(
    ("text", "words", "code", "said"),
    [
        ("x", [], 1, "neither solver-1.12 nor solver-1.1 fails: name a version that does"),
        ("(bug)", ["--bad", "solver-1.8", "--good", "solver-1.12"], 1,
         "solver-1.12 fails, solver-1.8 does not: to find the version that changed this, give "
         "--bad solver-1.12 --good solver-1.8"),
        ("(bug)", ["--good", "solver-1.10"], 1, "solver-1.10 and solver-1.12 both fail: name"),
        ("(bug)", ["--good", "solver-1.12"], 2, "--good and --bad are the same version"),
        ("(bug)", ["--good", "solver-1.13"], 2, "--good: solver-1.13 is no version; did you mean"),
        ("(bug)", ["--git", "."], 2, "--builds and --git are mutually exclusive: give one"),
        ("(bug)", ["--build", "make"], 2, "--build requires --git"),
    ],
)  # fmt: skip
def test_what_to_type_instead(
    shell: Shell, builds: Path, text: str, words: list[str], code: int, said: str
) -> None:
    shell.write("in.smt2", text)
    done = shell("bisect", "in.smt2", "--builds", "builds", "--cmd", "{solver}", *words)
    assert done.code == code
    assert said in " ".join(done.err.split())


def test_other_things_that_are_refused(shell: Shell, builds: Path) -> None:
    for words, said in (
        (["--cmd", "{solver}"], "Missing versions: --wheels PACKAGE, --builds DIR, or --git DIR"),
        (["--builds", "builds", "--cmd", "z3"], "no command contains {solver}"),
        (["--builds", "builds"], "Missing --cmd"),
        (["--builds", "none", "--cmd", "{solver}"], "--builds: none cannot be read"),
        (["--git", ".", "--cmd", "{solver}"], "--git requires --build"),
        (["--wheels", "../x", "--cmd", "{solver}"], "'../x' is not the name of a package"),
    ):
        done = shell("bisect", "in.smt2", *words)
        assert done.code == 2
        assert said in done.err


def test_several_programs_take_a_choice(shell: Shell) -> None:
    for number in range(1, 4):
        folder = shell.folder / "builds" / f"v{number}"
        script(folder / "bin" / "solver", CRASH if number == 3 else FINE)
        script(folder / "bin" / "other", FINE)
    shell.write("in.cnf", "c bug\np cnf 1 1\n1 0\n")
    words = ["bisect", "in.cnf", "--builds", "builds", "--cmd", "{solver}"]
    done = shell(*words)
    assert done.code == 2
    assert "name one with --program (bin/other, bin/solver)" in done.err
    for program in ("solver", "bin/solver"):
        done = shell(*words, "--program", program)
        assert done.out.startswith("first bad version: v3 (last good: v2)\n")


def test_what_is_known_when_it_is_interrupted(tool: Tool) -> None:
    builds = tool.folder / "builds"
    for number in range(1, 10):
        body = CRASH if number >= 7 else FINE
        script(
            builds / f"1.{number}", f"touch {tool.folder}/hangs; sleep 60" if number == 5 else body
        )
    tool.write("in.smt2", "(bug)")
    process = tool.start("bisect", "in.smt2", "--builds", builds, "--cmd", "{solver}")
    until((tool.folder / "hangs").exists)
    process.send_signal(signal.SIGINT)
    done = tool.end(process)
    assert done.code == 130, done.err
    assert done.out.startswith("stopped: 1.1 does not fail, 1.9 does\n")


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=m"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_revisions_of_a_repository(shell: Shell) -> None:
    source = shell.folder / "source"
    source.mkdir()
    git(source, "init", "--quiet")
    for number in range(1, 10):
        body = CRASH if number >= 7 else FINE
        (source / "solver.in").write_text(f"#!/bin/sh\n# {number}\n{body}\n")
        (source / "state").write_text("broken" if number == 6 else "fine")
        git(source, "add", ".")
        git(source, "commit", "--quiet", "-m", f"Change {number}")
        git(source, "tag", f"v{number}")
    (source / "state").write_text("changed by hand")
    shell.write("in.smt2", "(bug)")
    build = "grep -q fine state || { echo 'no rule'; exit 2; }; install -m 755 solver.in solver"
    words = ["--git", "source", "--build", build, "--program", "solver", "--cmd", "{solver} -v",
             "--cache", "cache"]  # fmt: skip
    done = shell("bisect", "in.smt2", *words, "--good", "v1", "--bad", "HEAD")
    assert done.code == 0, done.err
    seventh = git(source, "rev-parse", "--short=12", "v7")
    fifth = git(source, "rev-parse", "--short=12", "v5")
    sixth = git(source, "rev-parse", "--short=12", "v6")
    assert f"first bad version: {seventh} (last good: {fifth})" in done.out
    assert f"not tested, and may be it: {sixth}" in done.out
    assert f"{seventh} 'Change 7': bad (signal SIGSEGV)" in done.err
    assert "'Change 6': skipped (the build ended with exit status 2: no rule)" in done.err
    assert (source / "state").read_text() == "changed by hand"
    assert git(source, "worktree", "list").count("\n") == 0
    script(shell.folder / "test.sh", '! "$1" "$2"')
    words = [*words[:6], "--cache", "cache", "--oracle", "./test.sh {solver}"]
    found = bisect(shell, *words, "--good", "v1", "--bad", "HEAD")
    assert (found["last_good"], found["first_bad"]) == (fifth, seventh)
    script(shell.folder / "test.sh", '"$1" "$2"')
    found = bisect(shell, *words, "--good", "HEAD", "--bad", "v1")
    assert (found["last_bad"], found["first_good"]) == (fifth, seventh)
    done = shell("bisect", "in.smt2", *words, "--good", "v0", "--bad", "HEAD")
    assert done.code == 2
    assert "--good: v0 in source" in done.err


def wheel(
    folder: Path,
    version: str,
    body: str,
    requires: str = "",
    tag: str = "any",
    package: str = "fakesolver",
    program: str = "fakesolver",
) -> None:
    """Write a wheel with a program, as pip wants it."""
    name = f"{package.replace('-', '_')}-{version}"
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-py3-none-{tag}.whl", "w") as archive:
        archive.writestr(
            f"{name}.dist-info/METADATA",
            f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{requirement}",
        )
        archive.writestr(
            f"{name}.dist-info/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-{tag}\n",
        )
        archive.writestr(f"{name}.data/scripts/{program}", f"#!/bin/sh\n{body}\n")
        archive.writestr(f"{name}.dist-info/RECORD", "")


@pytest.mark.slow
def test_wheels(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shell.folder / "wheels"
    folder.mkdir()
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    wheel(folder, "1.8", FINE)
    wheel(folder, "1.9", FINE, requires="there-is-no-such-package")
    wheel(folder, "1.10", CRASH)
    wheel(folder, "1.11", CRASH)
    wheel(folder, "1.12", FINE, tag="win_amd64")  # not for this platform
    shell.write("in.smt2", "(bug)")
    words = ["bisect", "in.smt2", "--wheels", "fakesolver", "--cmd", "{solver}", "--cache", "cache"]
    done = shell(*words)
    assert done.code == 0, done.err
    assert "first bad version: 1.10 (last good: 1.8)\n" in done.out
    assert "not tested, and may be it: 1.9\n" in done.out
    assert "versions: 4 known, 4 tried, 3 fetched, 1 skipped" in done.out
    assert "reducekit: 1.9: skipped (pip could not install it: " in done.err
    done = shell(*words, "--good", "1.8", "--bad", "1.10")
    assert "0 fetched" in done.out, "the cache is used again"
    shell.write("in.smt2", "(fine)")
    assert shell(*words).code == 1, "but no verdict of another input is"
    done = shell(*words, "--program", "python")
    assert "neither 1.11 nor 1.8 fails" in done.err or "both fail" in done.err
    done = shell("bisect", "in.smt2", "--wheels", "fakesolvr", "--cmd", "{solver}")
    assert done.code == 2
    assert "pip finds no wheel of fakesolvr for this Python and platform" in done.err


@pytest.mark.slow
def test_released_versions_of_z3(tool: Tool) -> None:
    example = CHECKOUT / "examples" / "mod_by_zero.py"
    made = subprocess.run([sys.executable, example], check=True, capture_output=True, text=True)
    tool.write("in.smt2", made.stdout)
    words = re.search(r"^    reducekit (bisect .*)$", DOCUMENT, re.MULTILINE)
    assert words is not None
    done = tool.ok(*shlex.split(words[1]), "--cache", cache_folder() / "bisect")
    shown = DOCUMENT.partition("```\n")[2].partition("```")[0].splitlines()
    assert [f"reducekit: {each.partition(': ')[2]}" for each in shown[:3]] == (
        done.err.splitlines()[-3:]
    )
    assert done.out.splitlines()[:3] == shown[3:6]
    assert done.out.splitlines()[3].startswith("runs: 5; versions: 3 known, 3 tried, ")


def test_the_document_names_the_keys_of_json(shell: Shell, builds: Path) -> None:
    found = bisect(shell, "--builds", "builds", "--cmd", "{solver}")
    said = set(re.findall(r"`(\w+)`", DOCUMENT.partition("With `--json`")[2]))
    assert set(found) | set(found["versions"][0]) <= said
    assert said - {"last_bad", "first_good"} == set(found) | set(found["versions"][0])
