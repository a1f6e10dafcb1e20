"""A record of everything learnt in a reduction, on disk: to resume, and to look back."""

from reducekit.journal.records import (
    OUTPUT,
    Contents,
    GoldenRuns,
    Head,
    PassEnd,
    Return,
    Step,
    digest,
)
from reducekit.journal.store import Journal, journal_path, load, lock, open_journal

__all__ = [
    "OUTPUT",
    "Contents",
    "GoldenRuns",
    "Head",
    "Journal",
    "PassEnd",
    "Return",
    "Step",
    "digest",
    "journal_path",
    "load",
    "lock",
    "open_journal",
]
