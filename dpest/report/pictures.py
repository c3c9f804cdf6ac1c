"""The pictures of one mechanism as inline SVG, each with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpest.report.data import Entry, OutputTable
from dpest.report.numbers import number
from dpest.report.plots import plot_outputs, plot_pairs, plot_points
from dpest.report.svg import figure_svg, label_svg


@dataclass(frozen=True)
class Picture:
    """An inline SVG and the words under it."""

    svg: str
    caption: str


def pictures(entry: Entry, key: str) -> Iterator[Picture]:
    """What there is to draw of the loss: the outputs, the pairs, delta(epsilon)."""
    if entry.outputs is not None:
        yield _outputs(entry, entry.outputs, f"{key}-outputs")
    if len(entry.result.pairs) > 1:
        yield _pairs(entry, f"{key}-pairs")
    if entry.profile:
        yield _profile(entry, f"{key}-profile")


def graph_picture(entry: Entry, key: str) -> Picture | None:
    """The dependence graph, which stands beside the source."""
    if not entry.graph:
        return None
    svg = label_svg(entry.graph, f"Dependence graph of {entry.name}", f"{key}-graph")
    return Picture(svg, "Which values share noise, on the longest way through the program: from draws to what is released.")


def _outputs(entry: Entry, outputs: OutputTable, key: str) -> Picture:
    svg = figure_svg(plot_outputs(outputs, entry.result), outputs_words(outputs, entry.name), key)
    caption = "The output under both inputs of the worst pair; below, the log ratio. A triangle marks the witness"
    caption += ", a heavy line where it goes on." if outputs.ray else "."
    part = f" One of {outputs.parts} independent parts of the output." if outputs.parts > 1 else ""
    fixed = " The other coordinates are held where the loss is largest." if outputs.slice else ""
    stars = " * is any number." if any("*" in label for label in outputs.labels) else ""
    missing = " – is NaN." if any(label.startswith("[") and "nan" in label for label in outputs.labels) else ""
    return Picture(svg, caption + part + fixed + stars + missing)


def _pairs(entry: Entry, key: str) -> Picture:
    words = f"Loss of {entry.name} for each pair; the table below holds the numbers"
    return Picture(figure_svg(plot_pairs(entry.result), words, key), "The loss per pair, in both directions.")


def _profile(entry: Entry, key: str) -> Picture:
    start = number(entry.profile[0].delta, 3)
    words = f"delta as a function of epsilon for {entry.name}, falling from {start} at epsilon 0"
    svg = figure_svg(plot_points(entry.profile, entry.result.epsilon, entry.result), words, key)
    return Picture(svg, "delta(epsilon): on and above the curve the worst pair is (epsilon, delta)-close.")


def outputs_words(outputs: OutputTable, name: str) -> str:
    """The picture of the outputs in a sentence."""
    parts = []
    if outputs.labels:
        parts.append(f"probabilities of {len(outputs.labels)} outputs")
    if outputs.y:
        parts.append(f"density of the {outputs.axis} from {number(outputs.y[0], 3)} to {number(outputs.y[-1], 3)}")
    return f"Output of {name} under D and D': {' and '.join(parts)}, with the log ratio"
