"""A result in a notebook: a table with a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from dpest.errors import MissingExtra
from dpest.report.svg import DARK, LIGHT, ink_css, variables
from dpest.report.text import loss_text, summary_rows
from dpest.results import Result

if TYPE_CHECKING:
    from dpest.curves.curve import Curve
    from dpest.doors.table import Sweep
    from dpest.sampling.audit_result import AuditResult


def result_html(result: Result) -> str:
    """The lines of the printed result as an HTML table, with the loss per pair drawn under it."""
    return _card(result.mechanism, [("epsilon", loss_text(result)), *summary_rows(result)], _picture(result))


def audit_html(result: AuditResult) -> str:
    """The bound of an audit, its claim, pair and witness as an HTML table, with the trade-off curve drawn under it."""
    from dpest.report.plots import plot_audit

    rows = [("bound", result.headline.removeprefix(f"{result.mechanism}: ")), *result.rows()]
    return _card(result.mechanism, rows, _drawn(lambda: plot_audit(result), f"Trade-off curve of {result.mechanism}"))


def curve_html(curve: Curve) -> str:
    """The largest loss and epsilon at a few deltas as an HTML table, with delta(epsilon) drawn under it."""
    from dpest.report.curves import curve_rows, curve_title, plot_curve

    title = curve_title(curve)
    return _card(title, curve_rows(curve), _drawn(lambda: plot_curve(curve), f"delta(epsilon): {title}"))


def sweep_html(table: Sweep) -> str:
    """The loss for each value of a parameter, drawn and as an HTML table."""
    rows = [(f"{table.parameter} = {value}", loss_text(result)) for value, result in table.rows]
    name = table.rows[0][1].mechanism if table.rows else "sweep"
    return _card(name, [*rows, ("trend", table.trend)], _drawn(table.plot, f"Loss of {name} against {table.parameter}"))


# JupyterLab and VS Code say on the body which theme is on; a plain page leaves it to the system.
DARK_PAGES = ('body[data-jp-theme-light="false"]', "body.vscode-dark")
CARD = "dpest-card"


def themed(body: str) -> str:
    """HTML in light or dark colours, as the page around it has them."""
    dark = "\n".join(f"{page} .{CARD} {{ {variables(DARK)} }}" for page in DARK_PAGES)
    style = (
        f".{CARD} {{ {variables(LIGHT)} color: var(--ink); background: var(--paper); padding: .4em; overflow-x: auto; }}\n"
        f".{CARD} table {{ color: inherit; background: none; border-collapse: collapse; min-width: min(100%, 36em); }}\n"
        # Jupyter's own rules align cells to the right and stripe the rows.
        f".{CARD} th, .{CARD} td {{ text-align: left !important; vertical-align: top; padding: .1em .8em .1em 0; }}\n"
        f".{CARD} tr, .{CARD} th, .{CARD} td {{ background: none !important; }}\n"
        f".{CARD} th {{ white-space: nowrap; }}\n"
        f".{CARD} caption {{ text-align: left; font-weight: bold; color: inherit; }}\n"
        f".{CARD} svg {{ max-width: 100%; height: auto; }}\n"
        f"@media (prefers-color-scheme: dark) {{ body:not([data-jp-theme-light]) .{CARD} {{ {variables(DARK)} }} }}\n{dark}\n"
    )
    return f'<div class="{CARD}"><style>{style}{ink_css(f".{CARD}")}</style>{body}</div>'


def _card(title: str, rows: Iterable[tuple[str, str]], picture: str) -> str:
    cells = "".join(f'<tr><th scope="row">{escape(label)}</th><td>{escape(text)}</td></tr>' for label, text in rows)
    return themed(f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>{picture}")


def _picture(result: Result) -> str:
    from dpest.report.plots import plot_result

    return _drawn(lambda: plot_result(result), f"Loss of {result.mechanism} per pair")


def _drawn(plot: Callable[[], Any], title: str) -> str:
    """The figure as SVG; nothing where matplotlib is not installed."""
    from dpest.report.svg import figure_svg

    try:
        return figure_svg(plot(), title, "dpest")
    except MissingExtra:
        return ""
