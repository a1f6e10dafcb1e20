"""Everything learnt in a reduction, on disk: to resume, and to look back."""

from reducekit.journal.records import Contents, GoldenRuns, Head, Return, Step, digest
from reducekit.journal.store import Journal, journal_path, load, open_journal

__all__ = [
    "Contents",
    "GoldenRuns",
    "Head",
    "Journal",
    "Return",
    "Step",
    "digest",
    "journal_path",
    "load",
    "open_journal",
]
