"""A hunt for bugs as an application: random inputs, runs, and a reduced file for each new bug.

`Hunt` makes inputs of a format, tests them (by the user's programs, or by a library that the
format plays them to), keeps each bug once, and reduces it by a session. It holds no terminal,
prints nothing and reads no arguments.
"""

from reducekit.hunt.hunt import Hunt
from reducekit.hunt.options import HuntOptions
from reducekit.hunt.stats import Bug, HuntStats

__all__ = ["Bug", "Hunt", "HuntOptions", "HuntStats"]
