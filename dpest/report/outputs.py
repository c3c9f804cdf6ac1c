"""The output of a mechanism under both inputs of a pair, as a table to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpest.inputs import Pair
from dpest.report.data import OutputTable


def output_table(mechanism: Callable[..., Any], pair: Pair, params: Mapping[str, Any]) -> OutputTable | None:
    """Both laws of the output; None where there is no picture of them."""
    return None
