"""delta(epsilon), epsilon at a delta and composition: what they cost, and dp_accounting on the same compositions.

python benchmarks/bench_curves.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import dpest


def laplace(x: float, b: float = 20.0) -> Any:
    """One count with Laplace noise."""
    return x + dpest.laplace(b)


def sgd_step(x: float, q: float = 0.1, sigma: float = 2.0) -> Any:
    """One step of stochastic gradient descent: a row takes part with probability q."""
    return (x if dpest.bernoulli(q) else 0) + dpest.gaussian(sigma)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came out."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def width(x: Any) -> float:
    """Relative width of a bracket."""
    return (x.upper - x.lower) / x.upper


def single_runs() -> None:
    """One run: the first delta, later ones, epsilon at a delta."""
    print("one run of one pair (seconds)")
    for name, mechanism in (("laplace", laplace), ("sgd_step", sgd_step)):
        curve = dpest.estimate(mechanism, (0, 1)).curve()
        first, _ = timed(lambda c=curve: c.delta(0.01))
        later, _ = timed(lambda c=curve: [c.delta(0.01 + 1e-4 * i) for i in range(1, 11)])
        root, _ = timed(lambda c=curve: c.epsilon_at(1e-4))
        times = f"first delta {first:.4f}, later {later / 10:.4f}, epsilon_at {root:.4f}"
        print(f"  {name:10} {times} ({10 * root / later:.0f} deltas)")


CASES = (
    ("Laplace b=20, 100 runs", laplace, {}, 100, (0.5, 1.0, 2.0)),
    ("q=.1, sigma=2, 100 steps", sgd_step, {}, 100, (0.5, 1.0, 2.0)),
    ("q=.01, sigma=1, 1000 steps", sgd_step, {"q": 0.01, "sigma": 1.0}, 1000, (0.5, 1.0, 2.0)),
)


def compositions() -> None:
    """Three epsilons each, at the default width and at the width that dp_accounting has on its default grid."""
    print("compositions, three epsilons each")
    for name, mechanism, parameters, k, epsilons in CASES:
        result = dpest.estimate(mechanism, (0, 1), params=parameters)
        theirs, low_high = timed(lambda m=mechanism, p=parameters, k=k: accountant(m, p, k))
        ends = [[d.get_delta_for_epsilon(e) for d in low_high] for e in epsilons] if low_high else []
        gaps = [(high - low) / high for low, high in ends]
        for tolerance in (1e-4, max(gaps, default=1e-4)):
            curve = result.compose(k, tolerance=min(0.5, tolerance))
            seconds, found = timed(lambda c=curve, es=epsilons: [c.delta(e) for e in es])
            print(f"  {name:28} dpest {seconds:6.2f} s, width {max(map(width, found)):.1e}")
        if gaps:
            print(f"  {name:28} dp_accounting {theirs:6.2f} s (both roundings, grid 1e-4), width {max(gaps):.1e}")


def accountant(mechanism: Any, parameters: dict[str, float], k: int) -> list[Any]:
    """The same composition by dp_accounting, rounded down and up; nothing where it is not installed."""
    try:
        from dp_accounting.pld import privacy_loss_distribution as distributions
    except ImportError:
        return []
    out = []
    for up in (False, True):
        options = {"pessimistic_estimate": up, "use_connect_dots": up, "value_discretization_interval": 1e-4}
        if mechanism is laplace:
            made = distributions.from_laplace_mechanism(20.0, **options)
        else:
            sigma, q = parameters.get("sigma", 2.0), parameters.get("q", 0.1)
            made = distributions.from_gaussian_mechanism(sigma, sampling_prob=q, **options)
        out.append(made.self_compose(k))
    return out


def many_runs() -> None:
    """Large k."""
    print("many runs, one delta (seconds, width)")
    coin = dpest.Curve.discrete([0.51, 0.49], [0.49, 0.51])
    for k, epsilon in ((10**4, 12.0), (10**6, 1000.0)):
        seconds, found = timed(lambda k=k, e=epsilon: coin.compose(k).delta(e))
        print(f"  randomised response, k = {k:>8}: {seconds:.3f} s, {width(found):.1e}")
    step = dpest.estimate(sgd_step, (0, 1), params={"q": 0.01, "sigma": 2.0})
    seconds, found = timed(lambda: step.compose(10**4).delta(2.0))
    print(f"  DP-SGD step q=.01, sigma=2, k = 10000: {seconds:.2f} s, {width(found):.1e}")


if __name__ == "__main__":
    single_runs()
    compositions()
    many_runs()
