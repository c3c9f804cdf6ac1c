"""What one place of the other outputs adds to delta, against two normal laws in 50 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from dpest.curves.fibres import _last


@pytest.mark.parametrize("epsilon", [-6.0, -0.5, 0.0, 0.5, 6.0])
@pytest.mark.parametrize("mu", [0.0, 3e-13, 4e-10, 9.9e-10, 1e-6, 0.3, 5.0])
def test_both_parts_lie_within_their_errors(epsilon: float, mu: float) -> None:
    """p N(mu / 2, 1) and q N(-mu / 2, 1): what lies above e^epsilon, and below, where p / q is next to it or far from it."""
    off = np.array([-3.0, -1e-3, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-3, 3.0])
    log_q = np.full(off.size, -2.0)
    log_p = log_q + epsilon + off
    values, errors = _last(log_p, log_q, np.full(off.size, mu), epsilon)
    with mpmath.workdps(50):
        for k in range(off.size):
            p, q, e = (mpmath.exp(mpmath.mpf(float(x))) for x in (log_p[k], log_q[k], epsilon))
            rest = mpmath.mpf(epsilon) - (mpmath.mpf(float(log_p[k])) - mpmath.mpf(float(log_q[k])))
            if mu:
                one, other = (s * mpmath.mpf(mu) / 2 - rest / mpmath.mpf(mu) for s in (1, -1))
                above = p * mpmath.ncdf(one) - e * q * mpmath.ncdf(other)
                below = q * mpmath.ncdf(-other) - p * mpmath.ncdf(-one) / e
            else:
                above, below = max(p - e * q, 0), max(q - p / e, 0)
            for part, truth, size in ((0, above, p + e * q), (1, below, q + p / e)):
                assert abs(truth - mpmath.mpf(float(values[part, k]))) <= errors[part, k] + mpmath.mpf(10) ** -40
                assert errors[part, k] <= (mu * 1.01 + 1e-12 if mu < 1e-8 else 1e-12) * size
