"""One reduction as an application: from plain options to a result file and a report.

`Session` wires the golden run, the criterion, the executor, the journal, the output file and the
search together. It holds no terminal, prints nothing and reads no arguments, so the command line,
a page, a notebook and a hunt can all be its clients.
"""

from reducekit.executors.executor import Repeat
from reducekit.session.failure import Failure
from reducekit.session.options import Options
from reducekit.session.report import Report
from reducekit.session.session import Session

__all__ = ["Failure", "Options", "Repeat", "Report", "Session"]
