"""Reports of a reduction, drawn from its journal: an HTML page, a curve, the text of an issue."""

from reducekit.reports.account import Account, account
from reducekit.reports.chart import picture
from reducekit.reports.issue import issue
from reducekit.reports.page import page

__all__ = ["Account", "account", "issue", "page", "picture"]
