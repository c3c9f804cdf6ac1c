"""The group of commands, and what happens to errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from dpest.errors import DpestError

COMMANDS = {
    "estimate": "The privacy loss of a mechanism, with bracket and witness.",
}
WRONG_USE = 2


class LazyGroup(click.Group):
    """Imports a command's module when that command runs: `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command from its module, `dpest.cli.<name>`."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dpest.cli.{cmd_name}").command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """The privacy loss of a mechanism: exact where its structure allows it, bounded everywhere else."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 is success, 1 a violated claim, 2 wrong use."""
    try:
        status = cli.main(args=None if argv is None else list(argv), prog_name="dpest", standalone_mode=False)
    except click.ClickException as error:
        error.show(sys.stderr)
        return WRONG_USE
    except DpestError as error:
        click.echo(f"dpest: {error}", err=True)
        return WRONG_USE
    return status if isinstance(status, int) else 0
