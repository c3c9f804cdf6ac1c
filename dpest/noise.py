"""The older path to noise: the draws, and their classes with `to_dist`."""

from __future__ import annotations

from dpest.lang.noise import (
    Exponential,
    Gaussian,
    Gumbel,
    Laplace,
    Logistic,
    Noise,
    bernoulli,
    categorical,
    create_exponential_noise,
    create_laplace_noise,
    exponential,
    from_scipy,
    gaussian,
    geometric,
    gumbel,
    integers,
    laplace,
    logistic,
    uniform,
)

__all__ = [
    "Exponential",
    "Gaussian",
    "Gumbel",
    "Laplace",
    "Logistic",
    "Noise",
    "bernoulli",
    "categorical",
    "create_exponential_noise",
    "create_laplace_noise",
    "exponential",
    "from_scipy",
    "gaussian",
    "geometric",
    "gumbel",
    "integers",
    "laplace",
    "logistic",
    "uniform",
]
