"""The example notebook: its code runs, and executed with nbconvert its output holds figures and cards."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "first_steps.ipynb"
HAS_JUPYTER = all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel"))


def cells() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [c for c in found if c["cell_type"] == "code"]


def test_the_notebook_is_kept_without_outputs() -> None:
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells())


def test_every_cell_ends_with_something_that_shows_itself() -> None:
    names: dict[str, Any] = {}
    for cell in cells():
        lines = "".join(cell["source"]).splitlines()
        exec("\n".join(lines[:-1]), names)
        html = eval(lines[-1], names)._repr_html_()
        assert "<svg" in html
        assert "prefers-color-scheme: dark" in html


def test_a_figure_has_a_picture_for_print() -> None:
    import dpest

    figure = dpest.estimate(lambda x: x + dpest.laplace(1), (0, 1)).plot()
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.skipif(not HAS_JUPYTER, reason="nbconvert and ipykernel are not installed: make notebook")
def test_executed_with_nbconvert(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", str(tmp_path), str(NOTEBOOK)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    executed = json.loads((tmp_path / NOTEBOOK.name).read_text(encoding="utf-8"))["cells"]
    outputs = [out["data"] for c in executed if c["cell_type"] == "code" for out in c["outputs"] if "data" in out]
    assert len(outputs) == len(cells())
    assert all("<svg" in "".join(out["text/html"]) for out in outputs)
