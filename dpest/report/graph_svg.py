"""The dependence graph as SVG: draws, conditions and outputs in three columns, told apart by their borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from dpest.report.dependence import Dependence

ROW = 34  # pixels from one box to the next below it
BOX = 24  # pixels of height: one line of text with room around it
MARGIN = 10  # pixels around the picture
GAP = 90  # pixels between columns, for the lines that join them
LETTER = 6.6  # pixels that one letter of the font takes
Words = tuple[str, str, tuple[int, ...]]  # text, kind, the draws
LONGEST = 36  # letters of an output
ROWS = 16  # more than this many in one column are cut short


@dataclass(frozen=True)
class Rectangle:
    """A rectangle with words in it."""

    x: float
    y: float
    width: float
    text: str
    kind: str
    members: tuple[int, ...] = ()

    @property
    def middle(self) -> float:
        """The height at which arrows meet it."""
        return self.y + BOX / 2


def graph_svg(found: Dependence, title: str) -> str:
    """The whole picture as an SVG document."""
    draws, conditions, outputs = _columns(found)
    arrows = [*_arrows(draws, [*conditions, *outputs]), *_outcomes(conditions, outputs)]
    boxes = [*draws, *conditions, *outputs]
    width = max(b.x + b.width for b in boxes) + MARGIN
    height = max(b.y for b in boxes) + BOX + MARGIN + 22
    parts = [_arrow(a, b, a.kind == "shared") for a, b in arrows] + [_box(b) for b in boxes] + [_legend(height)]
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="11">\n<title>{escape(title)}</title>\n'
        f"{STYLE}\n" + "\n".join(parts) + "\n</svg>\n"
    )


STYLE = '<rect width="100%" height="100%" fill="white"/>'
BORDER = {
    "draw": 'fill="white" stroke="black" rx="12"',
    "shared": 'fill="#dddddd" stroke="black" stroke-width="2.5" rx="12"',
    "condition": 'fill="white" stroke="black" stroke-dasharray="5 3"',
    "output": 'fill="white" stroke="black" stroke-width="2"',
    "more": 'fill="white" stroke="white"',
}


def _columns(found: Dependence) -> tuple[list[Rectangle], list[Rectangle], list[Rectangle]]:
    conditions = [(c.text, "condition", c.draws) for c in found.conditions]
    outputs = [(_cut(o.text), "output", o.draws) for o in found.outputs]
    draws, late = _draw_words(found)
    cut = [_shortened(column) for column in (draws, [*conditions, *late], outputs)]
    rows = max(map(len, cut))
    placed: list[list[Rectangle]] = []
    x = float(MARGIN)
    for column in cut:
        placed.append(_stack(column, x, rows))
        x += max((b.width for b in placed[-1]), default=-GAP) + GAP
    late_boxes = [b for b in placed[1] if b.kind in ("draw", "shared")]
    return [*placed[0], *late_boxes], [b for b in placed[1] if b not in late_boxes], placed[2]


def _draw_words(found: Dependence) -> tuple[list[Words], list[Words]]:
    """The draws by where they are used; those that conditions do not use stand beside the conditions, nearer to the output."""
    users = [*found.conditions, *found.outputs]
    places = [[k for k, user in enumerate(users) if i in user.draws] for i in range(len(found.draws))]
    drawn: list[Words] = [(f"{d.name} = {d.law}", "shared" if d.shared else "draw", (i,)) for i, d in enumerate(found.draws)]
    drawn.sort(key=lambda d: _mean(places[d[2][0]]))
    if not found.conditions:
        return drawn, []
    early = [d for d in drawn if min(places[d[2][0]], default=0) < len(found.conditions)]
    return early, [d for d in drawn if d not in early]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _shortened(column: Sequence[Words]) -> list[Words]:
    if len(column) <= ROWS:
        return list(column)
    hidden = len(column) - ROWS + 1
    return [*column[: ROWS - 2], (f"… {hidden} more …", "more", ()), column[-1]]


def _stack(column: Sequence[Words], x: float, rows: int) -> list[Rectangle]:
    width = max((len(text) for text, _, _ in column), default=0) * LETTER + 18
    spare = (rows - len(column)) / (len(column) + 1) if column else 0
    return [
        Rectangle(x, MARGIN + ROW * (i + spare * (i + 1)), width, text, kind, members)
        for i, (text, kind, members) in enumerate(column)
    ]


def _mean(places: Sequence[int]) -> float:
    return sum(places) / len(places) if places else 0.0


def _arrows(draws: Sequence[Rectangle], users: Sequence[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    return [(draw, user) for user in users for draw in draws if draw.members and draw.members[0] in user.members]


def _outcomes(conditions: Sequence[Rectangle], outputs: Sequence[Rectangle]) -> list[tuple[Rectangle, Rectangle]]:
    """Every condition bears on what is released; one output stands for all where there are many."""
    return [(c, replace(outputs[0], kind="outcome")) for c in conditions] if outputs else []


def _arrow(start: Rectangle, end: Rectangle, heavy: bool) -> str:
    x1, y1, x2, y2 = start.x + start.width, start.middle, end.x, end.middle
    bend = (x2 - x1) / 2
    look = 'stroke-width="1.6"' if heavy else 'stroke-width="1"'
    dash = ' stroke-dasharray="2 3"' if end.kind == "outcome" else ""
    curve = f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    return f'<path d="{curve}" fill="none" stroke="#444444" {look}{dash}/>'


def _box(box: Rectangle) -> str:
    text = f'<text x="{box.x + box.width / 2:.1f}" y="{box.y + BOX / 2 + 4:.1f}" text-anchor="middle">{escape(box.text)}</text>'
    return f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{BOX}" {BORDER[box.kind]}/>{text}'


def _legend(height: float) -> str:
    words = "round: draw · grey: shared draw · dashed: condition · bold: released"
    return f'<text x="{MARGIN}" y="{height - 8:.0f}" font-size="10" fill="#333333">{words}</text>'
