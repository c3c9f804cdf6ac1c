"""Every call from a lower room to a higher one: a result that draws itself, a value that asks for its law.

Such a call is made by a method that users expect on the value itself (`print(result)`, `curve.plot()`, `dist.sample(10)`).
The module above is imported when the method is first called, so that lower rooms load without it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_HOMES = {
    "audit_html": "dpest.report.notebook",
    "curve_html": "dpest.report.notebook",
    "curve_text": "dpest.report.curves",
    "headline": "dpest.report.text",
    "joint_samples": "dpest.sampling.runs.joint_samples",
    "new_figure": "dpest.report.plots",
    "plot_audit": "dpest.report.plots",
    "plot_curve": "dpest.report.curves",
    "plot_profile": "dpest.report.plots",
    "plot_result": "dpest.report.plots",
    "read_audit": "dpest.sampling.audit_result",
    "read_certificate": "dpest.exact.proof.certificate",
    "result_html": "dpest.report.notebook",
    "result_text": "dpest.report.text",
    "sweep_html": "dpest.report.notebook",
    "value_law": "dpest.doors.law",
}


def upward(name: str) -> Callable[..., Any]:
    """A function of a higher room, by its name."""
    found: Callable[..., Any] = getattr(import_module(_HOMES[name]), name)
    return found
