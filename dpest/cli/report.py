"""`dpest report`: HTML, Markdown and JSON reports of several mechanisms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpest.cli.completing import complete_target
from dpest.cli.options import all_inputs, ask, check_claim, input_options, question, sampling_options
from dpest.cli.waiting import timeout_option
from dpest.errors import InvalidInput

if TYPE_CHECKING:
    from dpest.report.data import Entry, Report

SUFFIX = {"html": ".html", "markdown": ".md", "json": ".json"}


@click.command("report")
@click.argument("names", nargs=-1, metavar="[NAMES...] [FILES...]", shell_complete=complete_target)
@click.option("--html", "html", is_flag=True, help="A page that opens from disk (the default), as dpest-report.html.")
@click.option("--markdown", "markdown", is_flag=True, help="Markdown, on standard output.")
@click.option("--json", "json", is_flag=True, help="JSON, on standard output.")
@click.option("--claim", type=float, help="The claimed epsilon; the built-in algorithms bring their own.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claimed delta.")
@input_options
@sampling_options
@timeout_option
def command(names: tuple[str, ...], html: bool, markdown: bool, json: bool, **options: Any) -> None:
    """Report on NAMES (built-in algorithms or FILE.py:FUNCTION), or on all 21 built-in algorithms.

    A name that ends in .html, .md or .json is a file to write: dpest report SVT1 --html svt1.html

    With -n N, a mechanism of your own is looked at over all adjacent inputs too: dpest report mine.py:m -n 5 --claim 0.5
    """
    check_claim(options["claim"], options["delta"])
    files = {suffix: name for name in names for suffix in SUFFIX.values() if name.endswith(suffix)}
    asked = {"html": html, "markdown": markdown, "json": json}
    formats = [f for f in SUFFIX if asked[f] or SUFFIX[f] in files] or ["html"]
    targets = [_destination(f, files, formats) for f in formats]
    mechanisms = [name for name in names if not name.endswith(tuple(SUFFIX.values()))]
    if not mechanisms and options["claim"] is not None:
        raise InvalidInput("whose claim? write the mechanism, as in dpest report mine.py:m -n 5 --claim 0.5")
    entries = tuple(_entries(mechanisms, options))
    for form, path in zip(formats, targets, strict=True):
        _write(form, path, entries)


def _destination(form: str, files: dict[str, str], formats: Sequence[str]) -> Path | None:
    """Where a format goes: its file, standard output, or a file of that name here."""
    if SUFFIX[form] in files:
        path = Path(files[SUFFIX[form]])
    elif form == "html" or len(formats) > 1:
        path = Path(f"dpest-report{SUFFIX[form]}")
    else:
        return None
    if not path.parent.is_dir():
        raise InvalidInput(f"cannot write {path}: there is no folder {path.parent}; make it first")
    return path


def _entries(names: Sequence[str], options: dict[str, Any]) -> Iterator[Entry]:
    from dpest.algorithms import gallery
    from dpest.report.build import algorithm_entry, entry

    chosen = names or [a.name for a in gallery()]
    claim, delta = options["claim"], options["delta"]
    with click.progressbar(chosen, label="dpest", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:
        for name in bar:
            asked = question({**options, "target": name})
            if asked.target.algorithm is not None and not any((asked.pairs, asked.n, asked.adjacency, asked.params)):
                yield algorithm_entry(asked.target.algorithm, claim, delta, **asked.sampling)
            else:
                result = ask(asked, "auto")
                yield entry(asked.target.name, asked.target.function, result, asked.params, claim, delta, all_inputs(asked))


def _write(form: str, path: Path | None, entries: tuple[Entry, ...]) -> None:
    from dpest.report.build import report
    from dpest.report.document import report_json, report_markdown
    from dpest.report.html import report_html

    drawings: dict[str, Callable[[Report], str]] = {"html": report_html, "markdown": report_markdown, "json": report_json}
    text = drawings[form](report(entries))
    if path is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        path.write_text(text, encoding="utf-8")
        click.echo(str(path))
