"""Reports of a reduction for people, drawn from its journal: a page, a curve, an issue text."""

from reducekit.reports.account import Account, account
from reducekit.reports.chart import picture
from reducekit.reports.issue import issue
from reducekit.reports.page import page

__all__ = ["Account", "account", "issue", "page", "picture"]
