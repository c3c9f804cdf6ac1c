"""Figures: the output under both inputs, the loss per pair, delta(epsilon). Black ink, told apart by line and hatch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpest.errors import MissingExtra, NotCovered
from dpest.report.data import OutputTable, ProfilePoint, profile_points
from dpest.report.numbers import loss
from dpest.results import Direction, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpest.sampling.audit_result import AuditResult
    from dpest.sampling.scores.choose import ScoreLaws

WIDTH = 6.0  # inches: the width of a page's text
MAX_BARS = 16  # beyond, labels overlap
RARE = 7.0  # ln of how much rarer than the likeliest an output is that a bar no longer shows: a thousand times
SMALLEST = 1e-15  # a delta below this is drawn as zero: doubles do not resolve it beside 1
LONGEST_TITLE = 76  # letters that fit above a picture
LEFT: dict[str, Any] = {"color": "#1b4965", "linestyle": "-", "label": "D"}
RIGHT: dict[str, Any] = {"color": "#c1440e", "linestyle": "--", "label": "D'"}


def plot_result(result: Result) -> Figure:
    """The output under both inputs of the worst pair with the log ratio under it; where it is not known, the loss per pair."""
    from dpest.report.outputs import output_table

    outputs = output_table(result)
    return plot_pairs(result) if outputs is None else plot_outputs(outputs, result)


def plot_outputs(outputs: OutputTable, result: Result | None = None) -> Figure:
    """Both laws side by side, the log ratio below, the largest marked."""
    columns = [draw for draw, there in ((_bars, outputs.labels), (_curves, outputs.y)) if there]
    if not columns:
        raise NotCovered("there is no output to draw: the table holds neither masses nor a density")
    figure = new_figure(4.0 + _label_room(outputs))
    axes = figure.subplots(2, len(columns), squeeze=False, height_ratios=[3, 2])
    for column, draw in enumerate(columns):
        draw(axes[0][column], axes[1][column], outputs)
        axes[1][column].axhline(0, color="black", linewidth=0.8)
        if result is not None and outputs.parts == 1 and not outputs.slice:
            _loss_lines(axes[1][column], result)
    _title(figure, result, "output under D and D', and the log ratio")
    axes[0][0].legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, borderpad=0)
    axes[1][0].set_ylabel("ln(D / D')")
    return figure


def plot_pairs(result: Result) -> Figure:
    """The loss of each pair that was looked at, in both directions."""
    names = [p.pair.name or f"pair {i + 1}" for i, p in enumerate(result.pairs)]
    figure = new_figure(1.2 + 0.42 * len(names))
    ax = figure.subplots()
    rows = range(len(names))
    cap = _cap([v for p in result.pairs for v in (p.forward, p.backward)])
    left = {"facecolor": LEFT["color"], "edgecolor": LEFT["color"], "label": "D over D'"}
    right = {"facecolor": "white", "edgecolor": RIGHT["color"], "hatch": "////", "label": "D' over D"}
    _row_bars(ax, [r - 0.2 for r in rows], [p.forward for p in result.pairs], cap, left)
    _row_bars(ax, [r + 0.2 for r in rows], [p.backward for p in result.pairs], cap, right)
    ax.set_yticks(list(rows), names)
    ax.invert_yaxis()
    ax.set_xlabel("loss (largest log ratio)")
    ax.set_xlim(0, 1.22 * cap)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    _title(figure, result, "loss of each pair", name_pair=False)
    return figure


def plot_profile(result: Result) -> Figure:
    """delta(epsilon) of the worst pair."""
    points = profile_points(result)
    if not points:
        raise NotCovered("delta(eps) is not known here, or takes too long to draw: ask result.delta(eps) at single points")
    return plot_points(points, result.epsilon, result)


def plot_points(points: Sequence[ProfilePoint], epsilon: float, result: Result | None = None) -> Figure:
    """delta(epsilon) through points on a logarithmic axis, with its bracket as a band and the loss as a line."""
    figure = new_figure(2.9)
    ax = figure.subplots()
    tiny = 0.3 * min((p.delta for p in points if p.delta > SMALLEST), default=SMALLEST)
    xs = [p.epsilon for p in points]
    ax.plot(xs, [max(p.delta, 0.1 * tiny) for p in points], color="black")  # what is zero leaves at the bottom
    low, high = [max(p.lower, 0.1 * tiny) for p in points], [max(p.upper, 0.1 * tiny) for p in points]
    ax.fill_between(xs, low, high, color="0.8", linewidth=0)
    top = max(max(high), 10 * tiny)  # a curve that hardly falls lies inside the frame, not on it
    ax.set(yscale="log", ylim=(tiny, 2 * top))
    if epsilon < math.inf:
        ax.axvline(epsilon, color="black", linestyle=":", linewidth=1)
        place: dict[str, Any] = {"xytext": (-4, -4), "textcoords": "offset points", "ha": "right", "va": "top"}
        ax.annotate(f"loss {epsilon:.4g}", (epsilon, ax.get_ylim()[1]), **place)
    ax.set_xlim(left=0)
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta(epsilon)")
    _title(figure, result, "delta(epsilon)")
    return figure


def _title(figure: Figure, result: Result | None, what: str, name_pair: bool = True) -> None:
    """Mechanism, pair and what is drawn, above the picture."""
    if result is not None:
        pair = f" on {result.pair.name}" if name_pair and result.pair.name else ""
        words = f"{result.mechanism}{pair}: {what}"
        figure.suptitle(words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1] + "…", fontsize="medium")


def plot_audit(result: AuditResult) -> Figure:
    """Both laws along the score with the event; the log ratio of ever larger events with its bound; claims that are refuted."""
    if result.laws is None:
        figure = new_figure(3.2)
        events, claims = figure.subplots(1, 2)
    else:
        figure = new_figure(5.4)
        panels = figure.subplot_mosaic([["laws", "laws"], ["events", "claims"]])
        _score(panels["laws"], result.laws)
        events, claims = panels["events"], panels["claims"]
    _events(events, result)
    _claims(claims, result)
    figure.suptitle(f"{result.mechanism}: audit, epsilon >= {result.lower:.4g}", fontsize="medium")
    return figure


def _score(ax: Axes, laws: ScoreLaws) -> None:
    """Both laws along the score, the event shaded; outputs beyond the edges are drawn in the outermost bins."""
    edges = list(laws.edges)
    for shares, style in ((laws.left, LEFT), (laws.right, RIGHT)):
        inner = list(shares[1:-1])
        inner[0] += shares[0]
        inner[-1] += shares[-1]
        ax.stairs(inner, edges, color=style["color"], linestyle=style["linestyle"], label=style["label"])
    cut = min(max(laws.cut, edges[0]), edges[-1])
    ax.axvspan(*((cut, edges[-1]) if laws.above else (edges[0], cut)), color="0.9", linewidth=0, zorder=0, label="the event")
    ax.set(xlabel="score of an output: by it the event is chosen", ylabel="share of outputs")
    ax.legend(frameon=False, fontsize="small")


def _events(ax: Axes, result: AuditResult) -> None:
    for direction, style in ((Direction.LEFT, LEFT), (Direction.RIGHT, RIGHT)):
        both = [(p.left, p.right) for p in result.points if p.direction is direction and min(p.left, p.right) > 0]
        sizes = [(max(p, q), (1 if direction is Direction.LEFT else -1) * math.log(p / q)) for p, q in both]
        ax.plot([s for s, _ in sizes], [r for _, r in sizes], **{**style, "label": direction.value})
    size = max(result.witness.left, result.witness.right)
    if math.isfinite(result.epsilon):
        ax.plot([size], [result.epsilon], marker="o", color="black", linestyle="none", label="the event")
    ax.plot([size], [result.lower], marker="_", markersize=14, color="black", linestyle="none", label="its bound")
    ax.set(xscale="log", xlabel="probability of the event", ylabel="log ratio")
    _few_ticks(ax)
    ax.legend(frameon=False, fontsize="small")


def _few_ticks(ax: Axes) -> None:
    """Powers of ten on a logarithmic axis, and plain numbers where there is hardly one power."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    low, high = ax.get_xlim()
    if high < 30 * low:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _claims(ax: Axes, result: AuditResult) -> None:
    """p-values of the claims around the bound, as StatDP draws them."""
    top = 2 * max(result.epsilon if math.isfinite(result.epsilon) else 0.0, result.lower, 1e-3)
    xs = [top * i / 60 for i in range(61)]
    ax.plot(xs, result.p_values(xs), color="black", label="p-value")
    ax.axvline(result.lower, color="black", linestyle=":", label=f"bound {result.lower:.4g}")
    if result.claim is not None:
        ax.axvline(result.claim, color="black", linestyle="--", label=f"claim {result.claim:g}")
    ax.set(xlabel="claimed epsilon", ylabel="p-value", ylim=(-0.02, 1.02))
    above: dict[str, Any] = {"bbox_to_anchor": (0.5, 1.0), "ncols": 3, "handlelength": 1.2, "columnspacing": 1.0}
    ax.legend(frameon=False, fontsize="x-small", loc="lower center", **above)


def new_figure(height: float) -> Figure:
    """An empty figure of that height in inches, which shows itself in a notebook."""
    try:
        from dpest.report.drawing import Drawing
    except ImportError as error:
        raise MissingExtra("plots need matplotlib: pip install matplotlib") from error
    return Drawing(figsize=(WIDTH, height), layout="constrained")


def _bars(top: Axes, bottom: Axes, outputs: OutputTable) -> None:
    """Outputs with mass of their own: the likeliest ones, and the one that gives the loss."""
    chosen = chosen_rows(outputs)
    xs = range(len(chosen))
    left = [math.exp(outputs.log_left[i]) for i in chosen]
    right = [math.exp(outputs.log_right[i]) for i in chosen]
    top.bar([x - 0.2 for x in xs], left, 0.38, color=LEFT["color"], label="D")
    top.bar([x + 0.2 for x in xs], right, 0.38, facecolor="white", edgecolor=RIGHT["color"], hatch="////", label="D'")
    ratios = [log_ratio(outputs.log_left[i], outputs.log_right[i]) for i in chosen]
    cap = _cap(ratios)
    bottom.bar(list(xs), [_clamp(r, cap) for r in ratios], 0.6, color="0.55", edgecolor="black")
    _signs(bottom, list(xs), ratios, cap)
    _mark_row(bottom, chosen, ratios, cap, outputs)
    _rare(top, outputs)
    top.set_ylabel("probability")
    top.set_xticks([])
    labels = [_short(outputs.labels[i]) for i in chosen]
    bottom.set_xticks(list(xs), labels, rotation=90 if _crowded(labels) else 0)
    bottom.set_xlabel("output")
    if len(chosen) < len(outputs.labels):
        top.set_title(f"{len(chosen)} of {len(outputs.labels)} outputs", fontsize="medium", loc="right")


def _rare(top: Axes, outputs: OutputTable) -> None:
    """A logarithmic axis where the witness is an output too rare to be seen beside the likeliest."""
    likeliest = [max(pair) for pair in zip(outputs.log_left, outputs.log_right, strict=True)]
    if outputs.marked is not None and -600 < likeliest[outputs.marked] < max(likeliest) - RARE:
        top.set_yscale("log")


def _curves(top: Axes, bottom: Axes, outputs: OutputTable) -> None:
    """One density on a grid."""
    top.plot(outputs.y, [math.exp(v) for v in outputs.log_density_left], **LEFT)
    top.plot(outputs.y, [math.exp(v) for v in outputs.log_density_right], **RIGHT)
    ratios = [log_ratio(a, b) for a, b in zip(outputs.log_density_left, outputs.log_density_right, strict=True)]
    cap = _cap(ratios)
    bottom.plot(outputs.y, [_clamp(r, cap) for r in ratios], color="black")
    _signs(bottom, outputs.y, ratios, cap)
    _mark_place(bottom, ratios, cap, outputs)
    top.set_ylabel("density")
    top.set_ylim(bottom=0)
    top.set_xticklabels([])
    bottom.set_xlabel(outputs.axis)


def chosen_rows(outputs: OutputTable, limit: int = MAX_BARS) -> list[int]:
    """The rows to draw, in table order: the largest log ratio both ways, then the likeliest."""
    every = range(len(outputs.labels))
    if len(every) <= limit:
        return list(every)
    ratios = [log_ratio(a, b) for a, b in zip(outputs.log_left, outputs.log_right, strict=True)]
    extremes = {max(every, key=ratios.__getitem__), min(every, key=ratios.__getitem__)}
    extremes |= set() if outputs.marked is None else {outputs.marked}
    likeliest = sorted(every, key=lambda i: -max(outputs.log_left[i], outputs.log_right[i]))
    return sorted([*extremes, *[i for i in likeliest if i not in extremes][: limit - len(extremes)]])


def log_ratio(left: float, right: float) -> float:
    """ln left - ln right; 0 where both are impossible."""
    return 0.0 if left == right else left - right


def _signs(ax: Axes, xs: Sequence[float], ratios: Sequence[float], cap: float) -> None:
    """A sign on infinite log ratios (on a curve, on the first)."""
    infinite = [i for i, ratio in enumerate(ratios) if math.isinf(ratio)]
    for i in infinite if len(ratios) <= MAX_BARS else infinite[:1]:
        ax.annotate("∞", (xs[i], _clamp(ratios[i], cap) / 2), ha="center", va="center", fontsize="x-large")


def _largest(ratios: Sequence[float], among: Sequence[int], sign: int) -> int:
    """Where the log ratio is largest in the direction of the witness."""
    return max(among, key=lambda i: sign * ratios[i] if sign else abs(ratios[i]))


def _triangle(ax: Axes, x: float, ratio: float, cap: float) -> None:
    if ratio:
        # A fill of its own: plain black is left out of SVG, and would not follow the colours of a page.
        look: dict[str, Any] = {"color": "black", "markerfacecolor": "#333333", "markersize": 8, "clip_on": False, "zorder": 5}
        ax.plot([x], [_clamp(ratio, cap)], marker="v" if ratio > 0 else "^", **look)


def _mark_row(ax: Axes, chosen: Sequence[int], ratios: Sequence[float], cap: float, outputs: OutputTable) -> None:
    """A triangle on the output that is the witness."""
    rows = [x for x, i in enumerate(chosen) if i == outputs.marked] or range(len(chosen))
    best = _largest(ratios, rows, outputs.sign)
    _triangle(ax, best, ratios[best], cap)


def _mark_place(ax: Axes, ratios: Sequence[float], cap: float, outputs: OutputTable) -> None:
    """A triangle where the witness lies; a heavy line where it goes on; an arrow where it lies beyond the picture."""
    y, place = outputs.y, outputs.place
    if place is None:
        best = _largest(ratios, range(len(y)), outputs.sign)
        _triangle(ax, y[best], ratios[best], cap)
        return
    if not y[0] <= place <= y[-1]:
        end, way = (0, "←") if place < y[0] else (len(y) - 1, "→")
        _triangle(ax, y[end], ratios[end], cap)
        height = _clamp(ratios[end], cap) * 0.55
        ax.annotate(f"{way} {place:.4g}".replace("inf", "∞"), (y[end], height), ha="right" if end else "left", va="center")
        return
    nearest = min(range(len(y)), key=lambda i: abs(y[i] - place))
    beside = [i for i in range(nearest - 2, nearest + 3) if 0 <= i < len(y) and abs(y[i] - place) <= 1e-6 * (y[-1] - y[0])]
    best = _largest(ratios, beside or [nearest], outputs.sign)
    _triangle(ax, place, ratios[best], cap)
    if outputs.ray:
        beyond = [i for i in range(len(y)) if (y[i] - place) * outputs.ray >= 0]
        ax.plot([y[i] for i in beyond], [_clamp(ratios[i], cap) for i in beyond], color="black", linewidth=3)


def _loss_lines(ax: Axes, result: Result) -> None:
    """The reported loss as a dotted line on each side that the picture reaches."""
    if result.epsilon < math.inf:
        text = loss(result.epsilon, result.lower, result.upper)
        for sign in (1, -1):
            ax.axhline(sign * result.epsilon, color="black", linestyle=":", linewidth=1)
        ax.set_title(f"dotted: ± {text[:8]}", fontsize="small", loc="right")
        ax.set_ylim(-1.25 * max(result.epsilon, 1e-12), 1.25 * max(result.epsilon, 1e-12))


def _row_bars(ax: Axes, ys: Sequence[float], values: Sequence[float], cap: float, style: dict[str, Any]) -> None:
    shown = [_clamp(v, cap) for v in values]
    ax.barh(ys, shown, 0.36, **style)
    for y, value, width in zip(ys, values, shown, strict=True):
        text = "∞" if math.isinf(value) else f"{value:.4g}"
        ax.annotate(text, (width, y), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")


def _cap(values: Sequence[float]) -> float:
    """Where bars of infinite loss end: above every finite one."""
    finite = [abs(v) for v in values if math.isfinite(v)]
    largest = max(finite, default=0.0) or 1.0
    return largest if len(finite) == len(values) else 1.5 * largest


def _clamp(value: float, cap: float) -> float:
    return max(-cap, min(cap, value))


def _crowded(labels: Sequence[str]) -> bool:
    """Whether the labels would run into each other side by side."""
    return len(labels) * max(map(len, labels)) > 64


def _label_room(outputs: OutputTable) -> float:
    """Inches that upright labels need below the picture."""
    labels = [_short(outputs.labels[i]) for i in chosen_rows(outputs)]
    return 0.07 * max(map(len, labels)) if labels and _crowded(labels) else 0.0


def _short(label: str, limit: int = 34) -> str:
    """An output in few letters: lists without their brackets, NaN as a dash."""
    text = label.replace("nan", "–").replace(", ", " ").replace("[", "").replace("]", "") if label.startswith("[") else label
    return text if len(text) <= limit else text[: limit - 1] + "…"
