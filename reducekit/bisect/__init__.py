"""Finds the version since which an input fails, and the options that the failure needs.

`versions` are wheels, builds or revisions. `search` decides which to test next, judges what their
commands did, and runs nothing; `bisection` runs them.
"""

from reducekit.bisect.bisection import Bisection as Bisection
from reducekit.bisect.options import BisectOptions as BisectOptions
