"""A result in a notebook: a table with a picture."""

from __future__ import annotations

from html import escape

from dpest.errors import MissingExtra
from dpest.report.text import loss_text, summary_rows
from dpest.results import Result


def result_html(result: Result) -> str:
    """The lines of the printed result as an HTML table, with the loss per pair drawn under it."""
    rows = [("epsilon", loss_text(result)), *summary_rows(result)]
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{escape(label)}</th>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for label, text in rows
    )
    caption = f'<caption style="text-align:left"><b>{escape(result.mechanism)}</b></caption>'
    return f"<div><table>{caption}<tbody>{cells}</tbody></table>{_picture(result)}</div>"


def _picture(result: Result) -> str:
    from dpest.report.plots import plot_result
    from dpest.report.svg import figure_svg

    try:
        return figure_svg(plot_result(result), f"Loss of {result.mechanism} per pair", "dpest")
    except MissingExtra:
        return ""
