"""Programs made from traces compile, make the calls of the trace, and end as its replay does."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reducekit.errors import UsageError
from reducekit.frontends.trace.generate.generator import Generator
from reducekit.frontends.trace.language.calls import Call
from reducekit.frontends.trace.language.text import print_trace, read_trace
from reducekit.frontends.trace.model.loader import load_model
from reducekit.frontends.trace.player import Library, ReplayServer, find_library
from reducekit.frontends.trace.player.live_replay import LiveReplay
from reducekit.frontends.trace.programs import LANGUAGES, program
from tests.frontends.trace.player.test_every_call import calls_of
from tests.frontends.trace.player.test_stock_cadical import stock

COMPILED = ("c", pytest.param("cpp", marks=pytest.mark.debian("g++")), "py")
"""The languages; a C compiler is needed anyway."""
TINY = Path(__file__).parents[1] / "player" / "tiny_ipasir.c"
TRACE = """init
add 3
add 4
add 0
add 1
add -2
add 0
assume 1
solve
val 1
release
"""
LOGGING = """
#include <stdio.h>
static int solver;
void *ipasir_init(void) { puts("init"); return &solver; }
void ipasir_release(void *s) { puts("release"); }
void ipasir_add(void *s, int lit) { printf("add %d\\n", lit); }
void ipasir_assume(void *s, int lit) { printf("assume %d\\n", lit); }
int ipasir_solve(void *s) { puts("solve"); return 0; }
int ipasir_val(void *s, int lit) { printf("val %d\\n", lit); return lit; }
int ipasir_failed(void *s, int lit) { printf("failed %d\\n", lit); return 0; }
"""
EVERYTHING = """init
set check 1
configure sat
add 1
add 2
add 0
constrain -1
constrain 0
assume 2
limit conflicts 100
optimize 1
solve
simplify 1
cubing 2
phase 1
vars
redundant
fixed 1
freeze 1
frozen 1
melt 1
add -1
add -2
add 0
solve
val 1
reset
"""


def compiled(folder: Path, source: str, *flags: str) -> str:
    library = folder / "libtiny.so"
    words = ["gcc", "-shared", "-fPIC", *flags, "-x", "c", "-", "-o", str(library)]
    subprocess.run(words, check=True, input=source.encode())
    return str(library)


def run(
    folder: Path, text: str, language: str, library: Library, *, form: str = "words"
) -> subprocess.CompletedProcess[str]:
    """Write a program, compile it with all warnings as errors, and run it with a library."""
    trace = read_trace(text.encode(), form)
    api = library.interface.api
    source = folder / f"bug.{language}"
    written, left_out = program(trace, language, api, library)
    assert not left_out
    source.write_bytes(written)
    words = [sys.executable, str(source)]
    if language != "py":
        compiler = {"c": ["gcc", "-std=c11"], "cpp": ["g++", "-std=c++17"]}[language]
        words = [str(folder / "bug")]
        path = library.path
        linked = [path, f"-Wl,-rpath,{Path(path).parent},--allow-shlib-undefined"]
        flags = ["-Wall", "-Wextra", "-Werror", str(source), *linked, "-o", *words]
        subprocess.run([*compiler, *flags], check=True)
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("language", COMPILED)
def test_a_program_makes_the_calls_of_the_trace(tmp_path: Path, language: str) -> None:
    library = find_library("ipasir", compiled(tmp_path, LOGGING))
    with LiveReplay(find_library("ipasir", "cadical153")) as live:
        live.begin()
        made = Generator(load_model("ipasir"), variables=6).generate(4, live.play)
        live.finish()
    text = print_trace(made.calls, "words").decode()
    assert text.count("solve") > 2
    done = run(tmp_path, text, language, library)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == text


@pytest.mark.parametrize("language", COMPILED)
@pytest.mark.parametrize(
    ("defined", "added", "code", "said"),
    [
        ("RIGHT", "", 0, ""),
        ("BUG", "assume 3\nassume 4\nsolve\n", -signal.SIGABRT, ""),
        ("WRONG", "", 88, "wrong answer: expected 10, found 20\n"),
        ("LIES", "", 88, "wrong answer: the model does not satisfy clause 3 4 0\n"),
    ],
)
def test_a_program_ends_as_the_replay(
    tmp_path: Path, language: str, defined: str, added: str, code: int, said: str
) -> None:
    source = TINY.read_text()
    if defined == "LIES":
        source = source.replace("? lit : -lit", "? -lit : -lit")
    library = find_library("ipasir", compiled(tmp_path, source, f"-D{defined}"))
    done = run(tmp_path, TRACE.replace("release\n", added or "release\n"), language, library)
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.parametrize("language", COMPILED)
def test_lingeling_in_a_program(tmp_path: Path, language: str) -> None:
    library = find_library("lingeling", "boolector-lingeling")
    generator = Generator(load_model("lingeling"), variables=8)
    with LiveReplay(library) as live:
        live.begin()
        made = generator.generate(1, live.play)
        live.finish()
    text = print_trace(made.calls, "lgl").decode()
    assert run(tmp_path, text, language, library, form="lgl").returncode == 0
    # What breaks the contract is seen as in a replay.
    done = run(tmp_path, "init\nadd 1\nadd 0\nmelt 1\n", language, library, form="lgl")
    assert done.returncode == 86
    assert "API usage error" in done.stderr


@pytest.mark.debian("g++")
def test_the_class_of_cadical(tmp_path: Path) -> None:
    library = find_library("cadical", stock("cvc5"))
    with ReplayServer(library) as server:
        assert server.replay(read_trace(EVERYTHING.encode(), "mobical").calls).kind == "ok"
    assert run(tmp_path, EVERYTHING, "cpp", library, form="mobical").returncode == 0
    unchecked = "init\nconstrain 1\nconstrain 0\nsolve\nreset\n"  # no clause, no other solver
    assert run(tmp_path, unchecked, "cpp", library, form="mobical").returncode == 0
    unlawful = "init\nadd 1\nadd 0\nval 1\n"
    done = run(tmp_path, unlawful, "cpp", library, form="mobical")
    assert (done.returncode, "invalid API usage" in done.stderr) == (-signal.SIGABRT, True)


@pytest.mark.debian("g++")
@pytest.mark.parametrize("val", ["valEi(void *s, int lit)", "valEib(void *s, int lit, char b)"])
def test_values_of_every_version_of_cadical(tmp_path: Path, val: str) -> None:
    prefix = "_ZN7CaDiCaL6Solver"
    source = f"""
        void {prefix}C1Ev(void *s) {{}}
        void {prefix}D1Ev(void *s) {{}}
        void {prefix}3addEi(void *s, int lit) {{}}
        int {prefix}5solveEv(void *s) {{ return 10; }}
        int {prefix}3{val} {{ return lit; }}
    """
    library = find_library("cadical", compiled(tmp_path, source))
    for literal, code in ((1, 0), (-1, 88)):
        text = f"init\nadd {literal}\nadd 0\nsolve\nval 1\nreset\n"
        assert run(tmp_path, text, "cpp", library, form="mobical").returncode == code


@pytest.mark.debian("g++")
def test_vectors_and_objects_of_the_class() -> None:
    trace = read_trace(b"init\nadd 1\nadd 0\nsolve 10\nimplied\ncubing 2\nreset\n", "mobical")
    written, _ = program(trace, "cpp")
    code = written.decode()
    assert "{ std::vector<int> kept; solver->implied(kept); }" in code
    assert "solver->generate_cubes(2, 0);" in code
    subprocess.run(["g++", "-fsyntax-only", "-x", "c++", "-"], input=written, check=True)


@pytest.mark.debian("picosat", "g++")
@pytest.mark.parametrize("language", LANGUAGES)
def test_picosat(tmp_path: Path, language: str) -> None:
    text = "init\nset_seed 3\nadd 1\nadd 2\nadd 0\npush\nassume -1\nsat -1\nderef 2\npop\nreset\n"
    assert run(tmp_path, text, language, find_library("picosat")).returncode == 0


@pytest.mark.debian("minisat", "g++")
def test_minisat(tmp_path: Path) -> None:
    text = "new\nnew_var\nnew_var\nadd_clause 1 2\nsimplify\nsolve -1\nmodel_value 2\nsolve -1 -2\n"
    text += "conflict -1\nadd_clause\nokay\ndelete\n"
    library = find_library("minisat")
    assert run(tmp_path, text, "cpp", library).returncode == 0
    trace = read_trace(text.encode(), "words")
    with pytest.raises(UsageError, match=r"minisat has no functions of C: write a \.cpp file"):
        program(trace, "c")
    with pytest.raises(UsageError, match=r"line 2: new_var: .* no function for it: write a \.cpp"):
        program(trace, "py", library=library)


@pytest.mark.debian("g++")
def test_names_of_boolector_are_variables(tmp_path: Path) -> None:
    text = """new
return 0x1
bitvec_sort 0x1 8
return s1
var 0x1 s1 x"y
return e2
ne 0x1 e2 e2
return e3
copy 0x1 e3
return e4
assert 0x1 e3
sat 0x1
return 20
release 0x1 e3
release 0x1 e2
release_sort 0x1 s1
delete 0x1
"""
    library = find_library("boolector")
    for language in LANGUAGES:
        assert run(tmp_path, text, language, library, form="boolector").returncode == 0
    written, _ = program(read_trace(text.encode()), "c")
    assert b'h2 = boolector_var(solver, h1, "x\\042y");' in written


@pytest.mark.debian("g++")
@pytest.mark.parametrize("language", LANGUAGES)
def test_arrays_of_nodes(tmp_path: Path, language: str) -> None:
    steps = """new=0x1; bitvec_sort 0x1 8=s; bool_sort 0x1=o; fun_sort 0x1 s s o=f; uf 0x1 f=g;
    var 0x1 s=x; param 0x1 s=p; ult 0x1 p x=b; fun 0x1 1 p b=h; apply 0x1 1 x h=hx; apply 0x1 2 x x
    g=gx; or 0x1 hx gx=a; assert 0x1 a; dump_smt2 0x1; sat 0x1=10"""
    lines = []
    for call in calls_of(steps):
        lines += [" ".join(map(str, (call.name, *call.arguments))), f"return {call.result}"]
    text = "".join(f"{line}\n" for line in lines if line != "return None")
    assert (
        run(tmp_path, text, language, find_library("boolector"), form="boolector").returncode == 0
    )
    trace = read_trace(text.encode(), "boolector")
    code = program(trace, language)[0].decode()
    assert {"c": "(void *[]) {h5, h5}, 2, h4", "py": "(pointer * 2)(h5, h5), 2, h4"}.get(
        language, "std::initializer_list<void *>{h5, h5}.begin(), 2, h4"
    ) in code


def test_a_query_without_a_function_is_left_out() -> None:
    trace = read_trace(b"init\nvars\nadd 1\nadd 0\nsolve 10\nreset\n", "mobical")
    _, left_out = program(trace, "c")
    assert left_out == (Call("vars", (), 2, None, b"vars\n"),)


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("init\nconstrain 1\nsolve 0\n", "c", "line 2: constrain 1: the library has no function"),
        ("init\nadd 1 2\nsolve 0\n", "cpp", "line 2: add 1 2: 'add' has 2 arguments"),
        ("add 1\nsolve 0\n", "py", "line 1: add 1: there is no live object"),
        ("init\nfoo\nsolve 0\n", "c", "line 2: foo: there is no call 'foo' in the API cadical"),
    ],
)
def test_what_cannot_be_written(text: str, language: str, said: str) -> None:
    with pytest.raises(UsageError, match="cannot write a program: ") as error:
        program(read_trace(text.encode(), "mobical"), language)
    assert said in str(error.value)
