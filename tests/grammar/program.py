"""A random program: Python source of `mechanism(x)`, a pair of inputs, and the kind that says which oracle knows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Program:
    """The source calls draws and functions as `d.laplace(...)`; `d` is dpest, or plain numbers."""

    kind: str
    source: str
    pair: tuple[Any, Any]

    def on(self, d: Any) -> Callable[[Any], Any]:
        """The mechanism with one meaning of `d`."""
        names: dict[str, Any] = {"d": d, "math": math, "np": np, "stats": stats}
        exec(compile(self.source, "<random program>", "exec"), names)
        run: Callable[[Any], Any] = names["mechanism"]
        return run

    def run(self, x: Any, d: Any) -> Any:
        """One run on data x; compiled once for each meaning of `d`."""
        return self.on(d)(x)

    def two_sided(self) -> Callable[[Any, Any], Any]:
        """The mechanism as a function of the data and of `d`, compiled once."""
        code = compile(self.source, "<random program>", "exec")

        def mechanism(x: Any, d: Any) -> Any:
            names: dict[str, Any] = {"d": d, "math": math, "np": np, "stats": stats}
            exec(code, names)
            return names["mechanism"](x)

        return mechanism

    def __str__(self) -> str:
        return f"{self.source.rstrip()}\n# pair {self.pair!r}, kind {self.kind}"
