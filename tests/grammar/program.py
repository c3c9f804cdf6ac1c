"""A random program: Python source of `mechanism(x)`, a pair of inputs, and the kind that says which oracle knows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import stats


class Named:
    """scipy.stats for plain runs: a distribution by its name and numbers, made in no time."""

    @staticmethod
    def t(df: float) -> Any:
        return SimpleNamespace(dist=SimpleNamespace(name="t"), args=(df,), kwds={})

    @staticmethod
    def cauchy(scale: float = 1.0) -> Any:
        return SimpleNamespace(dist=SimpleNamespace(name="cauchy"), args=(), kwds={"scale": scale})


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

    def two_sided(self) -> Callable[[Any, Any], Any]:
        """The mechanism as a function of the data and of a plain `d`, compiled once."""
        names: dict[str, Any] = {"math": math, "np": np, "stats": Named}
        exec(compile(self.source, "<random program>", "exec"), names)

        def mechanism(x: Any, d: Any) -> Any:
            names["d"] = d
            return names["mechanism"](x)

        return mechanism

    def __str__(self) -> str:
        return f"{self.source.rstrip()}\n# pair {self.pair!r}, kind {self.kind}"
