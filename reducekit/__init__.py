"""reducekit: finds the smallest input on which a solver still fails."""

__version__ = "0.1.0"
