"""The laws of SciPy's families by their names: loops draw from one again and again, and SciPy takes a millisecond to make it."""

from __future__ import annotations

from functools import lru_cache

from dpest.laws.law import Law


@lru_cache(maxsize=256)
def stock_law(family: str, *shapes: float) -> tuple[float, Law]:
    """(location, law) of a family with these shapes."""
    import scipy.stats

    from dpest.laws.scipy_law import from_frozen

    return from_frozen(getattr(scipy.stats, family)(*shapes))
