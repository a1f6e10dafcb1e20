"""What new users stumbled over, command by command: what they see now.

The numbers are those of their list; what plug-ins get (5) is typed in tests/test_plugin.py.
"""

import gzip
import json
import shlex
import signal
import subprocess
import sys
import zipfile

import pytest

from tests.cli.tool import NEEDLE, Tool, problem, until

pytestmark = pytest.mark.reduction

BTOR2 = """\
1 sort bitvec 8
2 input 1 a
3 input 1 b
4 add 1 2 3
5 zero 1
6 sort bitvec 1
7 eq 6 4 5
8 bad 7
"""


def typed(tool: Tool, line: str) -> str:
    """Type a line in a shell, in the tool's folder; return what a person sees.

    A line that is a single command needs no shell.
    """
    place = {"PATH": "/usr/bin:/bin", "HOME": str(tool.folder)}
    if line.startswith("reducekit ") and set(line).isdisjoint("|&;<>$`*?\n"):
        tool.environment |= place
        ended = tool(*shlex.split(line)[1:])
        return f"{ended.err}{ended.out}[{ended.code}]\n"
    bash = [
        "bash",
        "-c",
        f'reducekit() {{ {shlex.quote(sys.executable)} -m reducekit "$@"; }}; {line}',
    ]
    environment = {**dict(tool.environment), **place}
    done = subprocess.run(
        bash, cwd=tool.folder, env=environment, capture_output=True, text=True, timeout=60
    )
    return f"{done.stderr}{done.stdout}[{done.returncode}]\n"


@pytest.fixture
def files(tool: Tool) -> Tool:
    """The inputs and programs that the lines name."""
    tool.write("in.smt2", problem(4, (2,)))
    tool.write("f.btor2", BTOR2)
    tool.script("crash.sh", f"{NEEDLE} $1 && kill -SEGV $$; exit 0")
    tool.script("test.sh", f"{NEEDLE} $1")
    tool.script("eq.sh", "grep -q eq $1 && grep -q bad $1")
    return tool


@pytest.mark.slow
@pytest.mark.parametrize("line", ["btor f.btor2.gz", "f.btor2.zip"])
def test_02_compressed_models(files: Tool, line: str) -> None:
    (files.folder / "f.btor2.gz").write_bytes(gzip.compress(BTOR2.encode()))
    with zipfile.ZipFile(files.folder / "f.btor2.zip", "w") as archive:
        archive.writestr("f.btor2", BTOR2)
    assert typed(files, f"reducekit {line} --oracle ./eq.sh -q") == "[0]\n"
    assert len((files.folder / "f.reduced.btor2").read_text()) < 60


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "command"),
    [
        (
            "smt2 f.btor2 --oracle ./eq.sh",
            "looks like a BTOR or BTOR2 file: reducekit btor f.btor2",
        ),
        ("btor in.smt2 --cmd ./crash.sh", "an SMT-LIB v2 script: reducekit smt2 in.smt2"),
        ("btor in.smt2 --check", "an SMT-LIB v2 script: reducekit smt2 in.smt2"),
        ("trace in.smt2", "an SMT-LIB v2 script: reducekit smt2 in.smt2"),
    ],
)
def test_03_a_file_of_another_format(files: Tool, line: str, command: str) -> None:
    seen = typed(files, f"reducekit {line}")
    assert command in seen
    assert seen.endswith("[3]\n")
    assert not (files.folder / "f.reduced.btor2").exists()


def test_03_the_format_is_guessed(files: Tool) -> None:
    assert typed(files, "reducekit f.btor2 --oracle ./eq.sh -q") == "[0]\n"
    assert (files.folder / "f.reduced.btor2").exists()
    files.write("t.c", "int main(void) { return needle; }\n")
    files.script("needle.sh", "grep -q needle $1")
    assert typed(files, "reducekit t.c --oracle ./needle.sh -q") == "[0]\n"
    assert (files.folder / "t.reduced.c").read_text() == "needle\n"


@pytest.mark.slow
@pytest.mark.debian("z3")
def test_06_a_wrong_answer_stays_well_sorted(files: Tool) -> None:
    files.write(
        "div.smt2",
        "(set-logic QF_BV)\n(declare-const a (_ BitVec 8))\n(declare-const b (_ BitVec 8))\n"
        "(assert (= (bvudiv a b) (bvadd a #x01)))\n(assert (bvult a b))\n"
        "(assert (= b #x05))\n(check-sat)\n",
    )
    files.script("wrong.sh", "grep -q bvudiv $1 && echo sat || echo unsat")
    seen = typed(files, "reducekit smt2 div.smt2 --cmd ./wrong.sh --reference 'z3 -T:5' -q")
    assert seen == "[0]\n", seen
    result = (files.folder / "div.reduced.smt2").read_text()
    assert "(bvudiv #" in result or "(bvudiv a" in result or "(bvudiv b" in result, result
    assert typed(files, "z3 div.reduced.smt2 | sort -u").strip() == "unsat\n[0]"


@pytest.mark.slow
def test_08_a_test_for_cvise(files: Tool) -> None:
    files.script("cvise.sh", f"{NEEDLE} in.smt2")
    seen = typed(files, "reducekit smt2 in.smt2 --oracle ./cvise.sh")
    assert "each run gets a folder of its own" in seen
    seen = typed(files, "reducekit ./cvise.sh in.smt2")
    assert "for a test, type reducekit in.smt2 --oracle ./cvise.sh" in seen
    seen = typed(files, "reducekit smt2 ./cvise.sh in.smt2")
    assert "name the input first: in.smt2 --oracle ./cvise.sh" in seen


def test_09_a_wrapper_that_sees_one_folder(files: Tool) -> None:
    (files.folder / "mount").mkdir()
    files.script("box.sh", 'case "$1" in */mount/*/in.smt2) ./crash.sh "$1";; *) exit 125;; esac')
    seen = typed(files, "reducekit smt2 in.smt2 --workdir mount --cmd ./box.sh")
    assert "keeping this failure: exit status 139" in seen, seen


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sign"),
    [("cat {} | ./crash.sh -in", "|"), ("FOO=1 ./crash.sh", "FOO=1"), ("$HOME/crash.sh", "$HOME")],
)
def test_10_a_shell(files: Tool, command: str, sign: str) -> None:
    seen = typed(files, f"reducekit smt2 in.smt2 --cmd '{command}'")
    assert f"'{sign}" in seen
    assert "in the command needs a shell: add --shell" in seen
    if "|" not in command:
        seen = typed(files, f"reducekit smt2 in.smt2 --cmd '{command}' --shell")
        assert "keeping this failure: exit status 139" in seen


@pytest.mark.slow
def test_11_the_order_of_ddsmt(files: Tool) -> None:
    seen = typed(files, "reducekit smt2 in.smt2 out.smt2 ./crash.sh")
    assert "keeping this failure: signal SIGSEGV" in seen
    seen = typed(files, "reducekit smt2 in.smt2 out2.smt2 --cmd ./crash.sh")
    assert "out2.smt2\n" in seen


@pytest.mark.slow
def test_12_cross_checks(files: Tool) -> None:
    files.script("strict.sh", "grep -q check-sat $1")
    typed(files, "reducekit smt2 in.smt2 --cmd ./crash.sh --also-passes ./strict.sh")
    assert "check-sat" in (files.folder / "in.reduced.smt2").read_text()
    files.script("slow.sh", f"{NEEDLE} $1 && sleep 1; exit 0")
    line = "--slower-than 0.2 --reference true --cmd ./slow.sh --max-checks 1"
    seen = typed(files, f"reducekit smt2 in.smt2 {line}")
    assert "keeping this failure: takes 0.2 s or more, and the reference less" in seen, seen


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["crlf", "bom"])
def test_13_models_from_windows(files: Tool, kind: str) -> None:
    text = BTOR2.replace("\n", "\r\n") if kind == "crlf" else "\ufeff" + BTOR2
    files.write("win.btor2", text)
    assert typed(files, "reducekit btor win.btor2 --oracle ./eq.sh -q") == "[0]\n"
    result = (files.folder / "win.reduced.btor2").read_bytes()
    assert b"\r" not in result
    assert result.startswith(b"1 sort")
    # Where it matters it is kept.
    needed = {"crlf": "grep -q \"$(printf '\\r')\" $1", "bom": "head -c 3 $1 | grep -q '[^ -~]'"}[
        kind
    ]
    files.script("needs.sh", f"LC_ALL=C; export LC_ALL; grep -q bad $1 && {needed}")
    assert typed(files, "reducekit btor win.btor2 --oracle ./needs.sh -q -o kept").endswith("[0]\n")
    assert (b"\r" if kind == "crlf" else b"\xef\xbb\xbf") in (files.folder / "kept").read_bytes()
    assert "[3]" in typed(files, "reducekit btor win.btor2 --check")


def test_14_the_summary_of_an_interrupted_run(files: Tool) -> None:
    files.script("slow.sh", f"sleep 0.1; {NEEDLE} $1")
    process = files.start("smt2", "in.smt2", "--oracle", "./slow.sh")
    until((files.folder / "in.reduced.smt2").exists)
    process.send_signal(signal.SIGINT)
    done = files.end(process)
    assert done.code == 130
    assert (
        "interrupted; this is the best so far; run the same command again to continue" in done.out
    )
    command = done.out.partition("$ ")[2].splitlines()
    assert command[0].endswith("slow.sh in.reduced.smt2")
    assert command[1:] == ["(not run again: interrupted)"]


def test_15_two_commands(files: Tool) -> None:
    seen = typed(files, "reducekit smt2 in.smt2 --cmd z3 --cmd cvc5")
    assert "--cmd is given twice: give one" in seen
    assert "Try 'reducekit smt2 --help'." in seen


@pytest.mark.slow
def test_15_standard_input(files: Tool) -> None:
    seen = typed(files, "cat in.smt2 | reducekit smt2 - --oracle ./test.sh -q | grep -q needle")
    assert seen == "[0]\n"
    assert typed(files, "cat f.btor2 | reducekit - --oracle ./eq.sh -q -o small") == "[0]\n"
    assert "5 nodes" in typed(files, "cat f.btor2 | reducekit btor - --check")
    assert "8 lines" in typed(files, "cat f.btor2 | reducekit show - | sed 's/^/8 lines /'")


def test_15_units_names_and_help(files: Tool) -> None:
    seen = typed(
        files,
        "reducekit smt2 in.smt2 --cmd ./crash.sh --exit-code SIGSEGV --max-time 1h --memory 4G "
        "--timeout 10s",
    )
    assert seen.endswith("[0]\n"), seen
    assert "deltabtor" in typed(files, "reducekit smt2 --help-all")


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("completion bash", "_reducekit_completion reducekit"),
        ("man", '.SH "NAME"'),
        ("passes smt2", "  commands  "),
        ("smt2 in.smt2 --oracle ./test.sh --only commands --pretty", "checks"),
        ("convert in.cnf out.trace", ""),
    ],
)
def test_16_what_was_missing(files: Tool, line: str, seen: str) -> None:
    files.write("in.cnf", "p cnf 2 1\n1 -2 0\n")
    said = typed(files, f"reducekit {line}")
    assert seen in said
    assert said.endswith("[0]\n")


def test_19_json_of_wrong_options(files: Tool) -> None:
    seen = typed(files, "reducekit smt2 in.smt2 --orcale ./test.sh --json 2>/dev/null")
    line, _, code = seen.partition("\n")
    assert code == "[2]\n"
    told = json.loads(line)
    assert told["schema"] == 1
    assert told["exit_code"] == 2
    assert "No such option '--orcale'. Did you mean --oracle?" in told["error"]


def test_19_the_history_has_no_empty_settings(files: Tool) -> None:
    typed(files, "reducekit smt2 in.smt2 --oracle ./test.sh --timeout 5 -q")
    seen = typed(files, "reducekit history in.reduced.smt2")
    assert "None" not in seen
    assert "  timeout   5.0\n" in seen


@pytest.mark.slow
def test_20_check_agrees_with_replay(files: Tool) -> None:
    typed(files, "reducekit generate trace --model mobical --seed 3 -o mobical.trace")
    assert "calls as CaDiCaL" in typed(files, "reducekit trace mobical.trace --check")
    seen = typed(files, "reducekit replay mobical.trace")
    assert "\nreplay: passed: " in seen


@pytest.mark.slow
def test_20_a_trace_of_murxla(files: Tool) -> None:
    files.write(
        "murxla.trace",
        "set-murxla-options --seed 42\n1278 new\nset-logic QF_BV\nmk-sort SORT_BV 8\nreturn s1\n"
        'mk-const s1 "a b"\nreturn t1\nmk-term OP_EQUAL SORT_BOOL 2 t1 t1\nreturn t2 s2\n'
        "assert-formula t2\ncheck-sat\ndelete\n",
    )
    files.script("untrace.sh", "grep -q OP_EQUAL $1 && grep -q check-sat $1")
    assert typed(files, "reducekit murxla.trace --oracle ./untrace.sh -q") == "[0]\n"
    result = (files.folder / "murxla.reduced.trace").read_text()
    assert result == (
        'mk-sort SORT_BV 8\nreturn s1\nmk-const s1 "a b"\nreturn t1\n'
        "mk-term OP_EQUAL SORT_BOOL 2 t1 t1\nreturn t2 s2\ncheck-sat\n"
    )
    seen = typed(files, "reducekit trace murxla.trace")
    assert "--cmd names an interpreter of its traces" in seen


def test_21_a_program_that_cannot_read_the_file(files: Tool) -> None:
    files.script(
        "other.sh", """grep -q bad $1 && { echo "model.btor2: expected digit"; exit 1; }"""
    )
    seen = typed(files, "reducekit btor f.btor2 --cmd ./other.sh")
    assert "keeping this failure: exit status 1, model.btor2: expected digit\n" in seen
    assert "this looks like a parse error, not a bug" in seen
    assert "complains" not in typed(files, "reducekit smt2 in.smt2 --cmd ./crash.sh --restart")


def test_21_an_unsupported_command(files: Tool) -> None:
    files.script(
        "boolector.sh",
        """grep -q needle $1 || exit 0
echo "boolector: $1:15: unsupported command 'define-fun'"; exit 1""",
    )
    seen = typed(files, "reducekit smt2 in.smt2 --cmd ./boolector.sh")
    assert "keeping this failure: exit status 1, boolector: " in seen
    assert "unsupported command 'define-fun'" in seen.splitlines()[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("smt2 in.smt2 --threads 4", "No such option '--threads'. Did you mean --jobs?"),
        ("smt2 in.smt2 -timeout 4", "No such option '-timeout'. Did you mean --timeout?"),
        ("smt2 in.smt2 --xyzzy", "No such option '--xyzzy'.\n"),
        (
            "smt2 in.smt2 --cmd ./crash.sh --match-err 'foo('",
            "--match-err: 'foo(' is not a regular expression: missing ), unterminated subpattern "
            "at position 3; to match the text as it is, write 'foo\\('",
        ),
        (
            "./test.sh t.c",
            "./test.sh is a script: for a test, type reducekit t.c --oracle ./test.sh",
        ),
        ("help hnut", "Did you mean hunt?"),
        ("smt2 in.smt2 --memout 4", "ddSMT's --memout: here --memory MB."),
        ("smt2 in.smt2 --n 4", "C-Vise's --n: here --jobs N."),
        ("smt2 in.smt2 --parallelism 4", "Shrink Ray's --parallelism: here --jobs N."),
        (
            "smt2 in.smt2 out.smt2 ./crash.sh --xyzzy",
            "your program go after --, as in -- ./crash.sh",
        ),
        (
            "smt2 in.smt2 --oracle ./test.sh --max-check 3",
            "No such option '--max-check'. Did you mean --max-checks?\n",
        ),
        (
            "smt2 in.smt2 out.smt2 ./crash.sh --max-check 3",
            "Did you mean --max-checks? Options of your program go after --, as in -- ./crash.sh",
        ),
        (
            "smt2 in.smt2 --cmd ./crash.sh --xyzzy",
            "your program go after --, as in -- ./crash.sh --xyzzy",
        ),
        ("hunt isolate --cmd ./crash.sh", "Unknown command 'isolate'."),
        ("smt2 in.smt2 --jobs many", "'many' is not a number from 1 to 1024 or auto"),
        ("--jobs 4 in.smt2", "options come after the command or the file"),
        ("nothing.smt2 --cmd z3", "nothing.smt2 is neither a file nor a command"),
        ("smt in.smt2", "Did you mean smt2?"),
    ],
)
def test_22_wrong_words(files: Tool, line: str, said: str) -> None:
    files.write("t.c", "int main(void) { return needle; }\n")
    seen = typed(files, f"reducekit {line}")
    assert said in seen
    assert seen.endswith("[2]\n")


@pytest.mark.parametrize(
    ("line", "same"), [("help", "--help"), ("help smt2", "smt2 --help"), ("version", "--version")]
)
def test_22_words_for_options(files: Tool, line: str, same: str) -> None:
    seen = typed(files, f"reducekit {line}")
    assert seen == typed(files, f"reducekit {same}")
    assert seen.endswith("[0]\n")


def test_23_the_words_of_the_thesis(files: Tool) -> None:
    line = "reducekit btor -timeout 8 -interval 100 -hddplus -exe './fails.sh -q' f.btor2 out.btor2"
    files.script("fails.sh", "./eq.sh $2 && exit 3; exit 0")
    seen = typed(files, line)
    assert "keeping this failure: exit status 3" in seen
    assert "bad" in (files.folder / "out.btor2").read_text()
    seen = typed(files, "reducekit generate btor -vars=10 -n 4 -s 7 -noarrays")
    assert seen == typed(files, "reducekit generate btor --vars 10 --nodes 4 --seed 7 --noarrays")
