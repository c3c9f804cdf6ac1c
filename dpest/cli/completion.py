"""`dpest completion`: the script that teaches a shell the Tab key."""

from __future__ import annotations

import click

from dpest.cli.main import COMPLETE


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL: commands, options, algorithm names, Python files and their functions.

    bash: eval "$(dpest completion bash)" in ~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: dpest completion fish | source
    """
    from click.shell_completion import get_completion_class

    from dpest.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "dpest", COMPLETE).source())
