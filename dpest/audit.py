"""Black-box audits: `dpest.audit(mechanism, pairs)` bounds the privacy loss of any callable from below.

The module is itself callable, so that `dpest.audit(...)` asks the question and `from dpest.audit import ...` finds the parts.
"""

from __future__ import annotations

import sys
from inspect import signature
from types import ModuleType
from typing import Any

from dpest.doors.audit import audit
from dpest.inputs.neighbours import all_pairs, neighbouring_pairs, scaled_patterns
from dpest.sampling.audit_result import AuditResult
from dpest.sampling.audit_witness import AuditWitness, Verification
from dpest.sampling.runs.blackbox import Sampler, sampler
from dpest.sampling.scores.sniper import optimality_gap, sample_size
from dpest.sampling.scores.statdp import p_values

__all__ = [
    "AuditResult",
    "AuditWitness",
    "Sampler",
    "Verification",
    "all_pairs",
    "audit",
    "neighbouring_pairs",
    "optimality_gap",
    "p_values",
    "sample_size",
    "sampler",
    "scaled_patterns",
]


class _Callable(ModuleType):
    """A module that answers a call with `audit`."""

    def __call__(self, *args: Any, **kwargs: Any) -> AuditResult:
        return audit(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
__signature__ = signature(audit)  # what `help` and editors show for `dpest.audit(`
