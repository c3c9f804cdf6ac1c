"""`Dist`, the author's handle on one random value, and `Interval`, a closed enclosure."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partialmethod, reduce, wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import RandomTruth, UnsupportedOperation
from dpest.lang.bits import Bits, logical
from dpest.lang.chosen import is_text, same_text
from dpest.lang.division import of_arrays, quotient
from dpest.lang.elementary import ELEMENTARY, absolute, elementary, exponential, power, sign_bit, signed, square
from dpest.lang.extremes import clipped, extreme
from dpest.lang.has_law import HasLaw
from dpest.lang.kept_forms import tells_more
from dpest.lang.limits import in_range, overflows, rounded_steps
from dpest.lang.logic import compare, compared, conjunction, negate, truth
from dpest.lang.many_bits import multiplied
from dpest.lang.narrow import checked, is_narrow
from dpest.lang.nodes import (
    NODES,
    Apply,
    Compare,
    Draw,
    Linear,
    Product,
    Relation,
    Rounded,
    Rounding,
    Where,
    Written,
    combine,
    is_integral,
    is_whole_as_written,
    linear,
    moved,
    scaled,
    simplified,
    whole,
)
from dpest.lang.not_plain import NotPlain
from dpest.lang.plain_numbers import marked
from dpest.lang.points import has_listed_points
from dpest.lang.run import RUN, at_once, shown
from dpest.lang.scalars import OneNumber
from dpest.lang.spans import is_smooth
from dpest.lang.ufuncs import EXTREMES, OPERATORS, boxed
from dpest.lang.words import words
from dpest.laws.discrete import Atoms
from dpest.laws.law import Law
from dpest.numerics.interval import Interval
from dpest.numerics.rationals import common_measure, exact

_NUMBERS = (int, float, np.number, np.bool_, Fraction)
MOST = 1.7e308  # plain numbers below take the short way; what is close to overflow (1.798e308) takes the long one, which says so

__all__ = ["RUN", "Dist", "Interval", "compare", "conjunction", "negate", "rounded", "truth", "unwrap", "wrap"]


def wrap(x: Any) -> Any:
    """A node as the author sees it; constants stay plain."""
    if isinstance(x, Linear):
        x = x if x.written is not None and tells_more(x) else simplified(x)
    return Dist(x) if isinstance(x, NODES) else x


def typed(x: Any) -> Any:
    """The node behind a `Dist`; NumPy numbers keep their type."""
    return x.node if isinstance(x, Dist) else x


def unwrap(x: Any) -> Any:
    """The node behind a `Dist`; NumPy numbers become plain ones, everything else stays."""
    return x.node if isinstance(x, Dist) else x.item() if isinstance(x, np.generic) else x


def _number(x: Any, verb: str) -> Any:
    """An operand as a node or a finite number."""
    if isinstance(x, Dist):
        return x.node
    if isinstance(x, _NUMBERS):
        if not math.isfinite(x):
            raise UnsupportedOperation(f"cannot {verb} a random value and {x!r}: the operand must be a finite number")
        return x.item() if isinstance(x, np.generic) else x
    raise UnsupportedOperation(f"cannot {verb} a random value and {shown(x)} of type {type(x).__name__}: it must be a number")


# With NaN or an infinity, the sum is that, whatever was drawn: noise is finite.
_WITHOUT_NUMBER: dict[str, Callable[[Any, Any], Any]] = {
    "_plus": operator.add,
    "__sub__": operator.sub,
    "__rsub__": lambda value, other: other - value,
}


def _elementwise(operation: Callable[[Dist, Any], Any]) -> Callable[[Dist, Any], Any]:
    """The operation, element by element where the other operand is an array."""

    @wraps(operation)
    def applied(self: Dist, other: Any) -> Any:
        if isinstance(other, float) and not math.isfinite(other) and operation.__name__ in _WITHOUT_NUMBER:
            return _WITHOUT_NUMBER[operation.__name__](0.0, other)
        if not isinstance(other, np.ndarray):
            found = operation(self, other)
            return wrap(checked(unwrap(found), self.node, other)) if is_narrow(other) else found
        out = np.empty(other.shape, dtype=object)
        for at in np.ndindex(other.shape):
            out[at] = applied(self, other[at])
        return out

    return applied


class Dist(HasLaw, Bits, OneNumber, NotPlain):
    """One random value. Arithmetic and comparisons make new ones; `if` on one forks the run that it is in."""

    __slots__ = ()
    __array_priority__ = 1000

    # -- arithmetic ------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        kind, node = type(other), self.node
        if (kind is float or kind is int) and -MOST < other < MOST and type(node) is Draw and not node.law.discrete:
            # What nearly every mechanism does with its draws, done without detours.
            return Dist(moved(node, other)) if other else self
        return self._plus(other)

    @_elementwise
    def _plus(self, other: Any) -> Any:
        value = _number(other, "add")
        return wrap(combine(linear(self.node), linear(value), 1, (operator.add, (self.node, value))))

    @_elementwise
    def __sub__(self, other: Any) -> Any:
        value = _number(other, "subtract")
        return wrap(combine(linear(self.node), linear(value), -1, (operator.sub, (self.node, value))))

    @_elementwise
    def __rsub__(self, other: Any) -> Any:
        value = _number(other, "subtract")
        return wrap(combine(linear(value), linear(self.node), -1, (operator.sub, (value, self.node))))

    def __neg__(self) -> Any:
        return wrap(scaled(linear(self.node), -1, (operator.neg, (self.node,))))

    def __pos__(self) -> Dist:
        return self

    @_elementwise
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, str | bytes | list | tuple) and is_integral(self.node):  # which is repeated
            return other * self.__index__()
        value = _number(other, "multiply")
        if isinstance(value, NODES):
            return Dist(square(value) if value is self.node and not has_listed_points(value) else Product(self.node, value))
        return wrap(in_range(multiplied(self.node, exact(value), (operator.mul, (self.node, value)))))
    __rmul__ = __mul__

    @_elementwise
    def __truediv__(self, other: Any) -> Any:
        value = _number(other, "divide")
        if isinstance(value, NODES):
            return Dist(quotient(self.node, value))
        if value == 0:
            raise ZeroDivisionError("a random value was divided by zero")
        return wrap(in_range(multiplied(self.node, 1 / exact(value), (operator.truediv, (self.node, value)))))

    @_elementwise
    def __rtruediv__(self, other: Any) -> Any:
        return Dist(quotient(_number(other, "divide"), self.node))

    @_elementwise
    def __floordiv__(self, other: Any) -> Any:
        if type(other) is int and other == 1 and is_whole_as_written(self.node):
            return self
        return rounded(Rounding.FLOOR, self / other, (operator.floordiv, (self.node, unwrap(other))))

    def __rfloordiv__(self, other: Any) -> Any:
        return rounded(Rounding.FLOOR, other / self)

    @_elementwise
    def __mod__(self, other: Any) -> Any:
        left = self - other * (self // other)
        if not isinstance(left, Dist) or not isinstance(left.node, Linear):
            return left
        return Dist(replace(left.node, written=(operator.mod, (self.node, unwrap(other)))))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __pow__(self, exponent: Any) -> Any:
        value = _number(exponent, "raise to a power")
        if isinstance(value, NODES):
            return Dist(Apply(np.power, (self.node, value)))
        if value in (0, 1) or (isinstance(value, int) and 0 <= value <= 8 and has_listed_points(self.node)):
            return reduce(operator.mul, [self] * int(value)) if value else 1.0
        return Dist(power(self.node, value))

    def __rpow__(self, base: Any) -> Any:
        value = _number(base, "raise to the power of")
        if not value > 0:
            raise UnsupportedOperation(f"{shown(base)} ** x for a random x needs a positive base")
        return 1.0 if value == 1 else Dist(exponential(value, self.node))

    def __abs__(self) -> Dist:
        return Dist(absolute(self.node))

    def __floor__(self) -> Any:
        return rounded(Rounding.FLOOR, self)

    def __ceil__(self) -> Any:
        return rounded(Rounding.CEIL, self)

    def __trunc__(self) -> Any:
        return Dist(Where(compare(Relation.GE, self.node, 0), unwrap(math.floor(self)), unwrap(math.ceil(self))))

    def __round__(self, digits: int | None = None) -> Any:
        if digits is None or digits == 0:
            return rounded(Rounding.ROUND, self)
        factor = exact(10) ** digits
        steps = (rounded_steps, (self.node, digits))
        whole_part = rounded(Rounding.ROUND, wrap(scaled(linear(self.node), factor)), steps)
        return wrap(scaled(linear(unwrap(whole_part)), 1 / factor, (round, (self.node, digits))))

    # -- comparisons -----------------------------------------------------------------------------------------------

    def __ge__(self, other: Any) -> Any:
        return self._compare(Relation.GE, other, swap=False)

    def __gt__(self, other: Any) -> Any:
        return self._compare(Relation.GT, other, swap=False)

    def __le__(self, other: Any) -> Any:
        return self._compare(Relation.GE, other, swap=True)

    def __lt__(self, other: Any) -> Any:
        return self._compare(Relation.GT, other, swap=True)

    def __eq__(self, other: Any) -> Any:
        if other is None or isinstance(other, str) or is_text(self.node):
            return wrap(same_text(self.node, typed(other)))
        return self._compare(Relation.EQ, other, swap=False)

    @_elementwise
    def __ne__(self, other: Any) -> Any:
        equal = self == other
        return not equal if isinstance(equal, bool) else ~equal

    def _compare(self, relation: Relation, other: Any, *, swap: bool) -> Any:
        if type(other) is Dist:
            truth_value = compared(relation, other.node, self.node) if swap else compared(relation, self.node, other.node)
            return at_once(Dist(truth_value)) if type(truth_value) is Compare else truth_value
        if isinstance(other, np.ndarray):
            return _elementwise(lambda me, x: me._compare(relation, x, swap=swap))(self, other)
        if isinstance(other, _NUMBERS) and math.isnan(other):
            return False
        if isinstance(other, _NUMBERS) and math.isinf(other):
            if overflows(self.node) and (relation is Relation.EQ or not is_smooth(self.node)):
                raise UnsupportedOperation(f"cannot compare {self.words()} with {other}: rounding decides whether it overflows")
            return relation is not Relation.EQ and (other < 0) != swap
        sides = (self.node, _number(other, "compare"))
        return at_once(wrap(checked(compare(relation, *(reversed(sides) if swap else sides)), self.node, other)))

    __hash__ = NotPlain.__hash__  # a class that defines __eq__ has to say so

    def identity(self) -> int:
        """Two handles on one node are one value."""
        return id(self.node)

    def __bool__(self) -> bool:
        run = RUN.get()
        if run is None:
            raise RandomTruth(
                "a random value has no single truth value outside a mechanism: put the `if` inside the function that you "
                "give to dpest.estimate(...), or write dpest.where(condition, a, b)"
            )
        node = self.node
        return run.decide(node if type(node) is Compare else truth(node))

    def words(self) -> str:
        """The value as its author would write it."""
        return f"<random value {words(self.node)}>"

    # -- NumPy -----------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and [*options] == ["out"] and options["out"][0].dtype == object:  # v /= a random value
            options["out"][0][...] = self.__array_ufunc__(ufunc, method, *inputs)
            return options["out"][0]
        if method != "__call__" or options:
            raise UnsupportedOperation(f"numpy.{ufunc.__name__}.{method} cannot be used on a random value")
        if any(isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim) for x in inputs):
            arrays = [boxed(x) for x in inputs]
            with of_arrays():
                return np.frompyfunc(lambda *xs: _ufunc(ufunc, xs), len(inputs), 1)(*arrays)
        return _ufunc(ufunc, inputs)

    # -- the value's law (the older door) --------------------------------------------------------------------------

    @staticmethod
    def deterministic(value: float) -> Dist:
        """The value that is always `value`."""
        return Dist.from_atoms({value: 1.0})

    @staticmethod
    def from_atoms(atoms: Mapping[float, float] | list[tuple[float, float]]) -> Dist:
        """A value with finitely many points: {value: probability} or [(value, probability), ...]."""
        from dpest.laws.discrete import atoms as atoms_law

        pairs = list(atoms.items()) if isinstance(atoms, Mapping) else list(atoms)
        merged: dict[float, float] = {}
        for point, p in pairs:
            merged[point] = merged.get(point, 0.0) + p if p >= 0 else p
        value: Dist = on_lattice(atoms_law(merged))
        return value

    @staticmethod
    def from_density(x: npt.ArrayLike, density: npt.ArrayLike) -> Dist:
        """A value with a density that is linear between the given points."""
        from dpest.laws.grid import known_grid

        value: Dist = fresh(known_grid(np.asarray(x, float), np.asarray(density, float)))
        return value


def _ufunc(ufunc: Any, inputs: tuple[Any, ...]) -> Any:
    """The ufunc on scalars: its traced form, or an `Apply` that can only be sampled."""
    plain = tuple(x.item() if isinstance(x, np.generic | np.ndarray) else x for x in inputs)
    if not any(isinstance(x, Dist) for x in plain):
        return ufunc(*plain)
    found = _applied(ufunc, plain)
    return wrap(checked(unwrap(found), *map(typed, inputs))) if any(map(is_narrow, inputs)) else found


def _applied(ufunc: Any, plain: tuple[Any, ...]) -> Any:
    name, values = ufunc.__name__, tuple(unwrap(x) for x in plain)
    if name in OPERATORS:
        return OPERATORS[name](*plain)
    if name.startswith("logical"):
        return wrap(logical(name, values))
    if name in EXTREMES:
        return wrap(extreme(EXTREMES[name], values))
    if name in ELEMENTARY:
        return wrap(elementary(name, values[0], ufunc))
    if name in ("sign", "copysign"):
        return wrap(signed(values[0])) if name == "sign" else with_sign(*plain)
    return wrap(clipped(*values)) if name == "clip" else Dist(Apply(ufunc, values))


# numpy.exp and its like call a method of that name on each element of an array of objects.
for _name in ("rint", "fabs", "sin", "cos", "cosh", *(ELEMENTARY.keys() & set(dir(np)))):
    setattr(Dist, _name, partialmethod(lambda self, ufunc: _ufunc(ufunc, (self,)), getattr(np, _name)))


def with_sign(size: Any, value: Any) -> Any:
    """`copysign`: the size of one value with the sign of another."""
    sign = wrap(sign_bit(value.node)) if isinstance(value, Dist) else math.copysign(1.0, value)
    return abs(size) * sign


def rounded(rounding: Rounding, x: Any, written: Written | None = None) -> Any:
    """x rounded to a whole number; what is whole already stays as it is."""
    if not isinstance(x, Dist):
        return whole(rounding, x)
    return x if is_whole_as_written(x.node) else Dist(Rounded(rounding, x.node, written))


def fresh(law: Law) -> Any:
    """One new value with this law; in a replay, the value that stood here before; in a run on plain numbers, a number."""
    run = RUN.get()
    drawn = Draw(law) if run is None else run.draw(law)
    return Dist(drawn) if type(drawn) is Draw else drawn


_MOST_STEPS = 1_000_000  # a lattice that holds all points of a law is used up to this many steps across


def on_lattice(law: Atoms) -> Any:
    """One new value with finitely many points; those on a lattice are kept as whole numbers of its steps."""
    points = [exact(x) for x in law.points]
    step = common_measure(x - points[0] for x in points) or exact(1)
    if law.integral or (points[-1] - points[0]) / step > _MOST_STEPS:
        return fresh(law)
    steps = tuple(float((x - points[0]) / step) for x in points)
    value = fresh(replace(law, points=steps))
    if not isinstance(value, Dist):  # a run on plain numbers
        return marked(law.points[steps.index(float(value))])
    return Dist(combine(Linear((), points[0]), linear(value.node), step))
