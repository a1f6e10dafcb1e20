"""Finds the version since which an input fails, and the options that the failure needs.

`search` decides which version to test next, and which options to leave out; it runs nothing.
`versions` are wheels, builds or revisions, `verdicts` judges what their commands did, and
`bisection` puts these together.
"""

from reducekit.bisect.bisection import Bisection as Bisection
from reducekit.bisect.options import BisectOptions as BisectOptions
