"""The group of commands, and what happens to errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from dpest.errors import DpestError

COMMANDS = {
    "estimate": "The privacy loss of a mechanism, with bracket and witness.",
    "prove": "The privacy loss over all adjacent inputs, with a proof.",
    "check": "Does a claim hold? Exit status 0 yes, 1 no, 2 wrong use.",
    "compare": "Two mechanisms side by side on the same inputs.",
    "compose": "What many runs lose together: epsilon at a delta, delta at an epsilon.",
    "sweep": "The loss against the values of a parameter.",
    "calibrate": "The value of a parameter at which the loss meets a target.",
    "audit": "Search a black box for a violation, by sampling.",
    "explain": "Which values share noise, and how the loss is found.",
    "graph": "Draw the dependence graph as SVG.",
    "report": "HTML, Markdown and JSON reports of several mechanisms.",
    "list": "The built-in algorithms.",
    "init": "Write an example mechanism and its test into an empty folder.",
    "completion": "The script for tab completion in bash, zsh or fish.",
}
VERDICTS = ("check", "audit")  # their exit status is an answer: 0 may come from nothing else
COMPLETE = "_DPEST_COMPLETE"  # set by the completion scripts of the shells
WRONG_USE = 2
LONGEST = 300  # characters of an error of somebody else's
INTERRUPTED = 130  # as shells say it: 128 and the number of the signal


class NobodyReads(Exception):
    """The reader of standard output has gone away; click itself would exit with 1, which is a verdict."""


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

            if args[0] in ("help", "version"):
                raise click.UsageError(f"there is no command {args[0]!r}; write dpest --{args[0]}", ctx)
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; the commands are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does; a broken pipe is left to `main`."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise NobodyReads(ctx.invoked_subcommand) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dpest-loss", prog_name="dpest")
def cli() -> None:
    """The privacy loss of a mechanism: exact where its structure allows it, bounded everywhere else."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 is success, 1 a violated claim, 2 wrong use or no answer, 130 interrupted."""
    from dpest.run.sudden_exit import no_sudden_exit

    if COMPLETE in os.environ and argv is None:  # the shell asks for completions: click prints them and exits
        cli.main(prog_name="dpest", complete_var=COMPLETE)
    _show_what_can_be_shown()
    try:
        with no_sudden_exit():
            args = None if argv is None else list(argv)
            status = cli.main(args=args, prog_name="dpest", standalone_mode=False, color=_colour())
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _say("interrupted: there is no answer", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return WRONG_USE
    except click.ClickException as error:
        return _say(_wrong_use(error), WRONG_USE)
    except DpestError as error:
        return _say(str(error), WRONG_USE)
    except NobodyReads as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: the flush at exit must not fail
        return WRONG_USE if error.args[0] in VERDICTS else 0
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else str(error), WRONG_USE)
    except BaseException as leaving:
        return _say(_no_answer(leaving), WRONG_USE)
    return status if isinstance(status, int) else 0


def _wrong_use(error: click.ClickException) -> str:
    """What click has to say, in the form of every other error: one sentence, and where to read on."""
    if isinstance(error, click.NoSuchOption):
        guesses = [p for p in error.possibilities or () if p != "--help"]
        near = f" (did you mean {guesses[0]}?)" if guesses else ""
        name = error.option_name.lstrip("-")
        takes = error.ctx is not None and any(p.name == "params" for p in error.ctx.command.params)
        hint = f"a parameter of the mechanism is given as --param {name}=..." if takes else f"see {_path(error)} --help"
        return f"no option {error.option_name}{near}; {hint}"
    said = " ".join(error.format_message().split()).rstrip(".")
    said = said[:1].lower() + said[1:] if said[1:2].islower() else said
    ctx = getattr(error, "ctx", None)
    return f"{said}; see {ctx.command_path} --help" if ctx is not None and ctx.parent is not None else said


def _path(error: click.UsageError) -> str:
    return "dpest" if error.ctx is None else error.ctx.command_path


def _no_answer(leaving: BaseException) -> str:
    """Why the command ended without an answer, and where: an exit status of 0 or 1 would read as a verdict."""
    import traceback

    from dpest.run.sudden_exit import SuddenExit

    frames = traceback.extract_tb(leaving.__traceback__)
    if frames and frames[-1].filename.endswith("sudden_exit.py"):
        frames.pop()
    where = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    said = f"{type(leaving).__name__}({', '.join(map(repr, leaving.args))})"
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]} ..."
    sudden = isinstance(leaving, SuddenExit)
    if sudden:
        said = str(leaving)
    if isinstance(leaving, SystemExit) or sudden:
        return f"there is no answer: the mechanism ended the program with {said}{where}; let it return its output instead"
    return f"there is no answer: {said} was raised{where}"


def _say(message: str, status: int) -> int:
    name = click.style("dpest:", fg="red", bold=True)
    click.echo(f"{name} {message}", err=True, color=_colour())
    return status


def _colour() -> bool | None:
    """No colour where it is not wanted or not known; None leaves it to click, which colours terminals only."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def _show_what_can_be_shown() -> None:
    """A terminal that has no sign for a character (✓, ±) gets a question mark in its place, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and getattr(stream, "errors", None) == "strict":
            stream.reconfigure(errors="replace")
