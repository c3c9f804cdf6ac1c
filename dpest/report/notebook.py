"""A result in a notebook: a table with a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from dpest.errors import MissingExtra
from dpest.report.text import loss_text, summary_rows
from dpest.results import Result

if TYPE_CHECKING:
    from dpest.sampling.audit.result import AuditResult


def result_html(result: Result) -> str:
    """The lines of the printed result as an HTML table, with the loss per pair drawn under it."""
    return _card(result.mechanism, [("epsilon", loss_text(result)), *summary_rows(result)], _picture(result))


def audit_html(result: AuditResult) -> str:
    """The bound of an audit, its claim, pair and witness as an HTML table, with the trade-off curve drawn under it."""
    from dpest.report.plots import plot_audit

    rows = [("bound", result.headline.removeprefix(f"{result.mechanism}: ")), *result.rows()]
    return _card(result.mechanism, rows, _drawn(lambda: plot_audit(result), f"Trade-off curve of {result.mechanism}"))


def _card(title: str, rows: Iterable[tuple[str, str]], picture: str) -> str:
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{escape(label)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for label, text in rows
    )
    caption = f'<caption style="text-align:left"><b>{escape(title)}</b></caption>'
    return f"<div><table>{caption}<tbody>{cells}</tbody></table>{picture}</div>"


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
