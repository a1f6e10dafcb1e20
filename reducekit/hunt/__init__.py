"""A hunt for bugs as an application: random inputs, runs, and a reduced file for each new bug.

`Hunt` generates inputs of a format, tests them (with the user's programs, or with a library that
the format plays them to), keeps each bug once, and reduces it in a session. It uses no terminal,
prints nothing and reads no arguments.
"""

from reducekit.hunt.campaign import HuntOptions
from reducekit.hunt.events import Bug, HuntStats
from reducekit.hunt.hunt import Hunt

__all__ = ["Bug", "Hunt", "HuntOptions", "HuntStats"]
