"""Threads share the limits of their process, which children inherit for a moment."""

import os
import resource
import sys
import threading

from reducekit.executors.slots import inherited_limits, posix_spawn


def test_no_thread_sees_the_limits_of_another_ones_child() -> None:
    """A session that began meanwhile took the mark of a child for its own, and ended."""
    inherited = inherited_limits()
    child = {resource.RLIMIT_CPU: (1000, inherited[resource.RLIMIT_CPU][1])}
    ended = threading.Event()
    seen: list[bool] = []

    def look() -> None:
        while not ended.is_set():
            seen.append(inherited_limits() == inherited)

    looking = threading.Thread(target=look)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        looking.start()
        for _ in range(300):
            pid = posix_spawn(["/bin/true"], {}, [], None, child, inherited)
            os.waitpid(pid, 0)
    finally:
        ended.set()
        looking.join()
        sys.setswitchinterval(switching)
    assert len(seen) > 100
    assert all(seen)
