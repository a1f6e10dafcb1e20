"""Checks by replay: time that ran out while nothing was computed is no verdict."""

from reducekit.frontends.trace.language.text import read_trace
from reducekit.frontends.trace.player import ReplayServer, find_library
from reducekit.frontends.trace.player.batch import CrashCache
from reducekit.frontends.trace.player.replay_executor import ReplayExecutor
from reducekit.oracle.printed import Matches
from reducekit.run import Limits

SLEEPS = b"init\noption sleeponabort 1\nadd 1\nadd 0\nmelt 1\n"
"""Lingeling sleeps for a second before it complains."""


def test_a_replay_that_did_not_get_to_run_is_made_again_with_more_time() -> None:
    server = ReplayServer(find_library("lingeling"))
    criterion = Matches(exit_code=86)
    with ReplayExecutor(
        server, lambda text: read_trace(text, "lgl").calls, criterion, CrashCache(), proofs=True
    ) as executor:
        executor.submit(1, SLEEPS, Limits(wall=0.3))
        while not (finished := executor.wait()):
            pass
        assert [(each.ticket, each.interesting) for each in finished] == [(1, True)]
        assert [each.outcomes[0].status for each in finished] == [86]
        assert executor.runs == 2
        executor.submit(1, SLEEPS, Limits(wall=0.02))
        while not (finished := executor.wait()):
            pass
        assert [each.interesting for each in finished] == [False]
        assert executor.runs == 4
