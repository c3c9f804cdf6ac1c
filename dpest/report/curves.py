"""Curves as text and as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpest.report.numbers import bracket, loss, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpest.curves.curve import Curve
    from dpest.numerics.bracket import Bracketed

DELTAS = (1e-3, 1e-5, 1e-8, 1e-12)  # from what a demonstration uses to what a large release needs


def value_text(x: Bracketed) -> str:
    """A number with its bracket, in the digits that it supports."""
    inside = bracket(float(x), x.lower, x.upper)
    return loss(float(x), x.lower, x.upper) + (f" ({inside})" if inside else "")


def curve_title(curve: Curve) -> str:
    """What the curve is about, in a few words."""
    counts = [k for _, k in curve.ways[0].parts]
    runs = "Gaussian noise" if not counts else "one run" if counts == [1] else f"{' + '.join(map(str, counts))} runs"
    return f"privacy loss of {runs}, the worse of both directions"


def curve_rows(curve: Curve, deltas: Sequence[float] = DELTAS) -> list[tuple[str, str]]:
    """The largest loss, epsilon at a few deltas, and the total variation: label and text."""
    rows = [("epsilon", value_text(curve.epsilon))]
    rows += [(f"at delta {delta:g}", value_text(curve.epsilon_at(delta))) for delta in deltas]
    return [*rows, ("total variation", number(curve.total_variation()))]


def curve_text(curve: Curve, deltas: Sequence[float] = DELTAS) -> str:
    """The largest loss, and epsilon at a few deltas."""
    return "\n".join([curve_title(curve), *(f"  {label:<15} {text}" for label, text in curve_rows(curve, deltas))])


def plot_curve(curve: Curve, *others: Curve, labels: Sequence[str] = ()) -> Figure:
    """delta(epsilon) on a logarithmic axis, the bracket as a band; several curves in one picture."""
    from dpest.report.plots import new_figure

    figure = new_figure(3.2)
    ax = figure.subplots()
    styles: list[Any] = ["-", "--", ":", "-."]
    for i, one in enumerate((curve, *others)):
        points = [(e, d) for e, d in one.points() if d.upper > 0]
        xs, tiny = [e for e, _ in points], 1e-15
        name = labels[i] if i < len(labels) else None
        ax.plot(xs, [max(float(d), tiny) for _, d in points], color="black", linestyle=styles[i % 4], label=name)
        low, high = [max(d.lower, tiny) for _, d in points], [max(d.upper, tiny) for _, d in points]
        ax.fill_between(xs, low, high, color="0.8", linewidth=0)
    ax.set(xlabel="epsilon", ylabel="delta(epsilon)", yscale="log")
    ax.set_xlim(left=0)
    if labels:
        ax.legend(frameon=False)
    if not others:
        ax.set_title(curve_title(curve), fontsize="medium")
    return figure
