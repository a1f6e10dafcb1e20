"""A machine that lacks something: an exit code of its own, what to do, and the best result kept."""

import json
from pathlib import Path

import pytest

from tests.cli.tool import NEEDLE, Done, Tool, problem


def limited(tool: Tool, limit: str, *options: str | Path) -> Done:
    """Run the tool on `in.smt2` under a limit of the shell."""
    before = ["sh", "-c", f'{limit} && exec "$@"', "sh"]
    return tool("smt2", "in.smt2", "--oracle", NEEDLE, *options, before=before)


@pytest.mark.parametrize("files", [6, 8, 12])
def test_too_few_open_files(tool: Tool, files: int) -> None:
    tool.write("in.smt2", problem())
    done = limited(tool, f"ulimit -n {files}", "--json")
    assert done.code == 6, done.err
    assert "Too many open files; raise the limit (`ulimit -n`) or lower --jobs\n" in done.err
    told = json.loads(done.out)
    assert told["exit_code"] == 6
    assert "Too many open files" in told["error"]


@pytest.mark.slow
def test_open_files_that_run_out_on_the_way(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    codes = []
    for files in range(13, 24):
        done = limited(tool, f"ulimit -n {files}", "-q", "--restart")
        codes.append(done.code)
        assert done.code in (0, 6), done.err
        if done.code == 0:
            break
    assert codes[0] == 6
    assert codes[-1] == 0
    assert "needle" in (tool.folder / "in.reduced.smt2").read_text()


@pytest.mark.slow
def test_too_little_memory(tool: Tool) -> None:
    tool.write("in.smt2", problem(60_000))
    done = limited(tool, "ulimit -v 120000", "-q")
    assert done.code == 6, done.err
    assert done.err.startswith("reducekit: out of memory; raise the limit (`ulimit -v`)")


def with_a_full(tool: Tool, place: str, *options: str) -> Done:
    """Run the tool where a small file system at `place` is full from the twelfth run on."""
    tool.write("in.smt2", problem())
    (tool.folder / place).mkdir()
    filled = f"head -c 100000 /dev/zero > {place}/filling 2>/dev/null"
    script = tool.script(
        "test", f'echo >> runs; [ "$(wc -l < runs)" = 12 ] && {filled}\n{NEEDLE} "$1"'
    )
    # The mount is gone with the process: nobody else sees it.
    mount = f'mount -t tmpfs -o size=64k none {place} && exec "$@"'
    before = ["unshare", "-rm", "sh", "-c", mount, "sh"]
    return tool("smt2", "in.smt2", "--oracle", script, "-q", *options, before=before)


def is_smaller(result: bytes) -> bool:
    return b"needle" in result and len(result) < len(problem())


def test_a_full_disk(tool: Tool) -> None:
    done = with_a_full(tool, "work", "--workdir", "work")
    assert done.code == 6, done.err
    said, saved = done.err.splitlines()
    assert "No space left on device; free some space, or name another folder by --workdir" in said
    result = (tool.folder / "in.reduced.smt2").read_bytes()
    assert saved == f"the best result so far ({len(result):,} bytes) is in in.reduced.smt2"
    assert is_smaller(result)


def test_a_full_disk_for_the_output(tool: Tool) -> None:
    done = with_a_full(tool, "place", "-o", "place/out.smt2", "--no-journal")
    assert done.code == 6, done.err
    said, elsewhere = done.err.rstrip().split("; it is in ")
    assert said.endswith("could not be written to place/out.smt2: No space left on device")
    assert is_smaller(Path(elsewhere).read_bytes())


@pytest.mark.slow
def test_a_cluster_without_workers(tool: Tool) -> None:
    tool.write("in.smt2", problem())
    tool.write(
        "cluster.yaml",
        """cluster: distributed.LocalCluster
wait: 1
arguments: {n_workers: 0, dashboard_address: "127.0.0.1:0"}
""",
    )
    done = tool("smt2", "in.smt2", "--oracle", NEEDLE, "--cluster", "cluster.yaml")
    assert done.code == 6, done.err
    assert "cannot be used: it has no worker (waited for 1 s); start one\n" in done.err
