"""`reducekit passes FORMAT`: lists the passes of a reduction in their order."""

from __future__ import annotations

import click

from reducekit import registry
from reducekit.cli.command import Command
from reducekit.session.phases.prepare import described


@click.command("passes", cls=Command)
@click.argument("name", metavar="FORMAT")
@click.option(
    "--strategy", default=registry.DEFAULT, show_default=True, metavar="NAME", help="The algorithm."
)
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
