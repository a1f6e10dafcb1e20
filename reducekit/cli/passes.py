"""`reducekit passes FORMAT`: lists the passes of a reduction in their order."""

from __future__ import annotations

import click

from reducekit import registry
from reducekit.cli.command import Command, adding
from reducekit.option import Option
from reducekit.session.plan import described


@click.command("passes", cls=Command)
@click.argument("name", metavar="FORMAT")
@adding([Option("strategy", "The algorithm.", default=registry.DEFAULT, metavar="NAME")])
def command(name: str, strategy: str) -> int:
    """List the passes that reduce files of FORMAT, in their order.

    Use their names with --only and --without when reducing.
    """
    rows = described(name, strategy)
    width = max(len(each) for _, passes in rows for each, _ in passes)
    for stage, passes in rows:
        print(f"{stage}:")
        for each, what in passes:
            print(f"  {each:<{width}}  {what}".rstrip())
    return 0
