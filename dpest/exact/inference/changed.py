"""Factors with the expressions in them changed: variables renamed, replaced or left out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from dpest.exact.inference.expressions import Expr, substituted
from dpest.exact.inference.factors import Between, Density, Factor, Identity, Indicator, Integral, WholeIndicator


def changed(f: Factor, change: Callable[[Expr], Expr]) -> Factor:
    """The factor with every expression in it changed."""
    match f:
        case Density():
            return replace(f, place=change(f.place))
        case Indicator():
            return Indicator(replace(f.bound, expression=change(f.bound.expression)))
        case Between():
            return replace(f, lowers=tuple(map(change, f.lowers)), uppers=tuple(map(change, f.uppers)))
        case Integral():
            lowers, uppers = tuple(map(change, f.lowers)), tuple(map(change, f.uppers))
            return Integral(f.draw, f.law, lowers, uppers, tuple(changed(g, change) for g in f.factors))
        case Identity() | WholeIndicator():
            return replace(f, expression=change(f.expression))
    return f  # a number


def fixed(f: Factor, v: int, value: Expr) -> Factor:
    """The factor with one variable replaced."""
    return changed(f, lambda e: substituted(e, v, value)) if v in f.scope else f


def without(e: Expr, gone: Collection[int]) -> Expr:
    """The expression where some variables are zero."""
    return Expr(tuple((v, c) for v, c in e.terms if v not in gone), e.constant)
