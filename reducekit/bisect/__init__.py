"""Finds the version since which an input fails, and the options that the failure needs.

`search` decides which version to test next, and which options to leave out; it runs nothing.
`versions` is what all sources of versions have in common: `wheels`, `builds` and `checkout`.
`commands` fills a version into the commands, `verdicts` judges what they did, and `bisection` puts
these together and reports.
"""

from reducekit.bisect.bisection import Bisection as Bisection
from reducekit.bisect.options import BisectOptions as BisectOptions
