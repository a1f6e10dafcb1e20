"""The results of a hunt for other programs: JSON, and JUnit XML for CI servers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

from reducekit.hunt.stats import Bug, HuntStats

SCHEMA = 1
"""The version of the JSON; it grows when a key is removed or changes its meaning."""


def to_json(stats: HuntStats) -> str:
    """Return a hunt as one line of JSON. Sizes are in bytes, times in seconds."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "inputs": stats.inputs,
            "timeouts": stats.timeouts,
            "seconds": round(stats.seconds, 3),
            "stopped": stats.stopped,
            "counts": dict(stats.counts),
            "rejected": {
                "count": stats.rejected,
                "program": None if stats.rejection is None else stats.rejection.program,
                "message": None if stats.rejection is None else stats.rejection.message,
            },
            "bugs": [_as_json(bug) for bug in stats.bugs.values()],
        }
    )


def _as_json(bug: Bug) -> dict[str, object]:
    return {
        "failure": bug.title,
        "count": bug.count,
        "known_before": bug.known_before,
        "file": str(bug.path),
        "bytes": bug.size,
        "reduced_file": None if bug.reduced_size is None else str(bug.reduced_path),
        "reduced_bytes": bug.reduced_size,
        "not_reduced": bug.not_reduced or None,
        "run": list(bug.runs),
    }


def to_junit(stats: HuntStats, name: str) -> bytes:
    """Return a hunt as a test suite of that name: a failed test per bug, or a passed one if none.

    The elements are those that CI servers read: `testsuite`, `testcase`, `failure`, `system-out`
    (the schema of Ant's JUnit task, which has no other definition).
    """
    bugs = list(stats.bugs.values())
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(max(1, len(bugs))),
        failures=str(len(bugs)),
        errors="0",
        skipped="0",
        time=f"{stats.seconds:.3f}",
    )
    for bug in bugs:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=bug.name, time="0")
        failure = ElementTree.SubElement(case, "failure", message=_printable(bug.title))
        best = bug.path if bug.reduced_size is None else bug.reduced_path
        failure.text = _printable(f"{bug.title}\nfound {bug.count} times\nfile: {best}")
    if not bugs:
        ElementTree.SubElement(
            suite,
            "testcase",
            classname=name,
            name=f"{stats.inputs} inputs without a bug",
            time=f"{stats.seconds:.3f}",
        )
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _printable(text: str) -> str:
    """Return a text without characters that XML cannot represent."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
