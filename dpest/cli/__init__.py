"""The command line: one file per subcommand, imported when it is used."""

from __future__ import annotations

from dpest.cli.main import main

__all__ = ["main"]
