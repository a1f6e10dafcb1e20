"""`python -m reducekit`."""

from reducekit.cli import main

main()
