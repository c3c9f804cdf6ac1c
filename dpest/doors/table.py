"""A table of results for several values of one parameter, and what the loss does over them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dpest.results import Result
from dpest.upward import upward


@dataclass(frozen=True)
class Sweep:
    """Results for several values of one parameter."""

    parameter: str
    rows: tuple[tuple[Any, Result], ...]

    def __iter__(self) -> Iterator[Result]:
        return (result for _, result in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, value: Any) -> Result:
        for given, result in self.rows:
            if given == value:
                return result
        raise KeyError(value)

    @property
    def values(self) -> list[Any]:
        """The values of the parameter."""
        return [value for value, _ in self.rows]

    @property
    def trend(self) -> str:
        """What the loss does: constant, linear, or what else the numbers show."""
        points = [(float(v), r.epsilon) for v, r in self.rows if isinstance(v, int | float)]
        if len(points) < 2 or any(math.isinf(e) for _, e in points):
            return "infinite" if points and all(math.isinf(e) for _, e in points) else "unclear"
        if _constant([e for _, e in points]):
            return "constant"
        first = next((k for k in range(1, len(points) - 1) if _constant([e for _, e in points[k:]])), None)
        if first is not None:
            return f"constant from {self.parameter} = {points[first][0]:g} on"
        ratios = [e / v for v, e in points if v]
        if len(ratios) == len(points) and _constant(ratios):
            return f"linear: {ratios[0]:.6g} times {self.parameter}"
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[1:], strict=False) if b[0] != a[0]]
        if len(slopes) > 1 and _constant(slopes):
            return f"affine: grows by {slopes[0]:.6g} for each unit of {self.parameter}"
        if all(b <= a for (_, a), (_, b) in zip(points, points[1:], strict=False)):
            return "falling"
        return (
            "growing" if all(b >= a for (_, a), (_, b) in zip(points, points[1:], strict=False)) else "neither rising nor falling"
        )

    def __str__(self) -> str:
        head = f"{self.parameter:>12}  {'lower':>14}  {'upper':>14}  tight"
        lines = [f"{value!s:>12}  {r.lower:14.9g}  {r.upper:14.9g}  {'yes' if r.tight else 'no'}" for value, r in self.rows]
        return "\n".join([head, *lines, f"{self.rows[0][1].mechanism if self.rows else ''}: {self.trend}"])

    def __repr__(self) -> str:
        return f"<Sweep over {self.parameter}, {len(self.rows)} values: {self.trend}>"

    def _repr_html_(self) -> str:
        return str(upward("sweep_html")(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"parameter": self.parameter, "trend": self.trend, "rows": [[v, r.to_dict()] for v, r in self.rows]}

    def plot(self) -> Any:
        """The loss against the parameter, with its bracket: a matplotlib figure."""
        figure = upward("new_figure")(3.6)
        axes = figure.add_subplot()
        finite = [(v, r) for v, r in self.rows if math.isfinite(r.upper)]
        at = [v for v, _ in finite]
        if all(r.tight for _, r in finite):
            axes.plot(at, [r.epsilon for _, r in finite], "o-", color="black", label="epsilon, both ends")
        else:
            axes.plot(at, [r.upper for _, r in finite], "o-", color="black", label="upper end")
            axes.plot(at, [r.lower for _, r in finite], "s--", color="black", markerfacecolor="white", label="lower end")
        axes.set(xlabel=self.parameter, ylabel="epsilon")
        axes.set_ylim(bottom=0)
        name = f"{self.rows[0][1].mechanism}: " if self.rows else ""
        axes.set_title(f"{name}{self.trend}", fontsize="medium")
        axes.legend(frameon=False)
        return figure


def _constant(numbers: list[float]) -> bool:
    return max(numbers) - min(numbers) <= 1e-6 * max(map(abs, numbers))
