"""The group of commands, and what happens to errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from dpest.errors import DpestError

COMMANDS = {
    "estimate": "The privacy loss of a mechanism, with bracket and witness.",
    "prove": "The privacy loss over all adjacent inputs, with a proof.",
    "check": "Does a claim hold? Exit status 0 yes, 1 no, 2 wrong use.",
    "compose": "What many runs lose together: epsilon at a delta, delta at an epsilon.",
    "audit": "Search a black box for a violation, by sampling.",
    "explain": "Which values share noise, and how the loss is found.",
    "graph": "Draw the dependence graph as SVG.",
    "report": "HTML, Markdown and JSON reports of several mechanisms.",
    "list": "The built-in algorithms.",
}
WRONG_USE = 2
INTERRUPTED = 130


class LazyGroup(click.Group):
    """Imports a command's module when that command runs, so that `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command from its module, `dpest.cli.<name>`."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"dpest.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest command in the message."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; the commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpest-loss", prog_name="dpest")
def cli() -> None:
    """The privacy loss of a mechanism: exact where its structure allows it, bounded everywhere else."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 is success, 1 a violated claim, 2 wrong use."""
    try:
        status = cli.main(args=None if argv is None else list(argv), prog_name="dpest", standalone_mode=False)
    except click.exceptions.Abort:
        return _say("interrupted", INTERRUPTED)
    except click.NoSuchOption as error:
        guesses = [p for p in error.possibilities or () if p != "--help"]
        near = f" (did you mean {guesses[0]}?)" if guesses else ""
        name = error.option_name.lstrip("-")
        hint = f"a parameter of the mechanism is given as --param {name}=..."
        return _say(f"no option {error.option_name}{near}; {hint}", WRONG_USE)
    except click.ClickException as error:
        error.show(sys.stderr)
        return WRONG_USE
    except DpestError as error:
        return _say(str(error), WRONG_USE)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: the flush at exit must not fail
        return 0
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else str(error), WRONG_USE)
    return status if isinstance(status, int) else 0


def _say(message: str, status: int) -> int:
    click.echo(f"dpest: {message}", err=True)
    return status
