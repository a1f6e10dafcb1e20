"""Which tests run, and what is said meanwhile.

Tests marked `debian` need programs that Debian packages. Where one is missing,
its tests are deselected and the last lines of the run say so. With
REDUCEKIT_DEBIAN=1, as in CI, they run, and fail.
"""

import os
import shutil
import signal
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a loaded machine is no failure
settings.load_profile("no deadline")

DEBIAN_PROGRAMS = ("boolector", "cvc5", "z3")
"""What a test marked `debian` needs, unless it names its own: `debian("cvc5")`."""

_ENGINE = (
    *(f"tests/{room}/" for room in ("search", "strategies", "oracle", "reduction", "session")),
    *(f"tests/test_{name}.py" for name in ("journal", "differences", "api")),
)
"""Where all tests have the marker `reduction`; others have it in their files."""
_SHARED = {"address", "browser", "cluster"}
BYTECODE = Path(__file__).resolve().parent.parent / ".cache" / "bytecode"
REQUIRED = "REDUCEKIT_DEBIAN"
_deselected = pytest.StashKey[dict[str, list[str]]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin with signals as usual: what nohup and a shell's `&` ignore, our children inherit.

    Where Python is told to write no bytecode, as in many containers, each of the thousand
    processes that tests start would compile reducekit anew: 0.16 of its 0.40 s. They share a
    cache instead, outside the tree.

    The programs that packages have installed next to Python, such as z3, come last in PATH.
    """
    os.environ["PATH"] = os.pathsep.join([*os.get_exec_path(), sysconfig.get_path("scripts")])
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailedAtOnce(config))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(BYTECODE))


class FailedAtOnce:
    """Prints which test failed when it fails: pytest tells that at the end, after minutes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name of a test that failed, and the first line of why."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if not report.failed or terminal is None:
            return
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(crash.message if crash else report.longrepr).partition("\n")[0]
        terminal.write(f"\nFAILED {report.nodeid} - {why}\n", red=True)


def missing_programs(item: pytest.Item) -> list[str]:
    """Return the programs that this test needs and PATH does not have."""
    needed = {
        program
        for marker in item.iter_markers("debian")
        for program in marker.args or DEBIAN_PROGRAMS
    }
    return sorted(program for program in needed if shutil.which(program) is None)


def required() -> bool:
    """Tell whether a missing program is a failure."""
    return os.environ.get(REQUIRED, "") not in ("", "0")


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Dask's threads and helpers stay in a process that once had a cluster; no test may see them
    # that counts the children and descriptors of its process.
    items.sort(key=lambda item: "cluster" in item.nodeid)
    for item in items:
        if item.nodeid.startswith(_ENGINE):
            item.add_marker("reduction")
        # One process starts a cluster or a browser for all tests of a file.
        if not _SHARED.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    if required():
        return
    missing = {item.nodeid: programs for item in items if (programs := missing_programs(item))}
    config.stash[_deselected] = missing
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in missing])
    items[:] = [item for item in items if item.nodeid not in missing]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if missing := missing_programs(item):
        pytest.fail(f"not on PATH: {', '.join(missing)} ({REQUIRED} is set)", pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that started this one, if tests run in several, what was deselected."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["deselected"] = session.config.stash.get(_deselected, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take in what one of several processes has deselected: each sees all tests."""
    found = getattr(node, "workeroutput", {}).get("deselected", {})
    node.config.stash.setdefault(_deselected, {}).update(found)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    missing = config.stash.get(_deselected, {})
    if not missing:
        return
    programs = sorted({program for needed in missing.values() for program in needed})
    terminalreporter.write_sep("-", "Debian programs")
    terminalreporter.write_line(
        f"{len(missing)} tests were deselected: {', '.join(programs)} not on PATH. "
        f"To run them: apt-get install {' '.join(programs)}",
        yellow=True,
    )
