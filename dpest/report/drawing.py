"""A figure that shows itself in a notebook, whatever backend is set; imported when something is drawn."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Drawing(Figure):
    """A matplotlib figure with the pictures that a notebook asks for: SVG in the colours of the page, and PNG for print."""

    def _repr_html_(self) -> str:
        from dpest.report.notebook import themed
        from dpest.report.svg import figure_svg

        title = self._suptitle.get_text() if getattr(self, "_suptitle", None) is not None else "Figure of dpest"  # type: ignore[attr-defined]
        return themed(figure_svg(self, title, "dpest-figure"))

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144)
        return buffer.getvalue()
