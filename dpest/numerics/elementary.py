"""Elementary functions of one number: strictly monotone on their domain, with inverse, slope and exact values.

Values at rationals are rationals: exact where the function has an exact value that is easily told (exp(0), log(1), whole
powers), else rounded to 256 bits. Whether a bound has moved past another one is then decided far below what a double shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import gmpy2
import numpy as np
import numpy.typing as npt
from scipy import special

from dpest.errors import ExactRefused
from dpest.numerics.rationals import ONE, ZERO, Rational, exact

Floats = npt.NDArray[np.float64]
_BITS = 256  # of the multiple-precision value whose rounding to a double is then right beyond doubt
_MOST_BITS = 20_000  # of a value next to an end of its range, beyond which it has more digits than anything here needs
_UNSURE_BITS = 96  # the last ones of a value, of which some may be wrong: far more than are, also in a difference of two others
_FAR = 5000  # arguments of exp, sinh, ...: beyond, the same
_LOG_2PI = math.log(2 * math.pi)


class Kind(Enum):
    """Which function; the comment says on which domain, where that is not the whole line."""

    EXP = "exp"
    LOG = "log"  # x > 0
    EXPM1 = "expm1"
    LOG1P = "log1p"  # x > -1
    POWER = "power"  # x >= 0, any exponent but 0
    ODD = "odd power"  # an odd whole exponent, or one over it
    TANH = "tanh"
    ARCTANH = "arctanh"  # -1 < x < 1
    ARCTAN = "arctan"
    TAN = "tan"  # |x| < pi / 2
    SINH = "sinh"
    ARCSINH = "arcsinh"
    EXPIT = "expit"
    LOGIT = "logit"  # 0 < x < 1
    NDTR = "ndtr"
    NDTRI = "ndtri"  # 0 < x < 1
    ERF = "erf"
    ERFINV = "erfinv"  # -1 < x < 1
    ERFC = "erfc"
    ERFCINV = "erfcinv"  # 0 < x < 2
    RECIPROCAL = "reciprocal"  # x != 0; falling on either side of it
    FOLDED_LOG = "sign(x) * -log(1 - abs(x))"  # -1 < x < 1
    UNFOLDED = "sign(x) * (1 - exp(-abs(x)))"


_PAIRS = (
    (Kind.EXP, Kind.LOG),
    (Kind.EXPM1, Kind.LOG1P),
    (Kind.TANH, Kind.ARCTANH),
    (Kind.ARCTAN, Kind.TAN),
    (Kind.SINH, Kind.ARCSINH),
    (Kind.EXPIT, Kind.LOGIT),
    (Kind.NDTR, Kind.NDTRI),
    (Kind.ERF, Kind.ERFINV),
    (Kind.ERFC, Kind.ERFCINV),
    (Kind.FOLDED_LOG, Kind.UNFOLDED),
)
_INVERSE = {**dict(_PAIRS), **{b: a for a, b in _PAIRS}, Kind.RECIPROCAL: Kind.RECIPROCAL}

_UNIT = (ZERO, ONE)
_SYMMETRIC = (-ONE, ONE)
_HALF_PI = exact(math.pi) / 2
Ends = tuple[Rational | None, Rational | None]
_DOMAINS: dict[Kind, Ends] = {
    Kind.LOG: (ZERO, None),
    Kind.LOG1P: (-ONE, None),
    Kind.POWER: (ZERO, None),
    Kind.ARCTANH: _SYMMETRIC,
    Kind.TAN: (-_HALF_PI, _HALF_PI),
    Kind.LOGIT: _UNIT,
    Kind.NDTRI: _UNIT,
    Kind.ERFINV: _SYMMETRIC,
    Kind.ERFCINV: (ZERO, exact(2)),
    Kind.FOLDED_LOG: _SYMMETRIC,
}


def _not_at_all(x: float) -> float:
    return 0.0


# How many bits a value is away from a finite end of the range: 1 - tanh(x) is about 2 e^(-2x).
_PER_NAT = 1 / math.log(2)
_APPROACH: dict[Kind, Callable[[float], float]] = {
    Kind.EXP: lambda x: -math.log2(min(max(abs(x), 1e-300), 1.0)),  # from 1, next to which other functions have an end
    Kind.EXPM1: lambda x: max(-x, 0.0) * _PER_NAT,
    Kind.TANH: lambda x: 2 * abs(x) * _PER_NAT,
    Kind.ARCTAN: lambda x: math.log2(max(abs(x), 1.0)),
    Kind.EXPIT: lambda x: max(x, 0.0) * _PER_NAT,
    Kind.NDTR: lambda x: max(x, 0.0) ** 2 * 0.5 * _PER_NAT,
    Kind.ERF: lambda x: x * x * _PER_NAT,
    Kind.ERFC: lambda x: min(x, 0.0) ** 2 * _PER_NAT,
    Kind.UNFOLDED: lambda x: abs(x) * _PER_NAT,
}


class TooFar(ExactRefused):
    """An argument at which the value has more digits than are worth keeping."""


@dataclass(frozen=True)
class Elementary:
    """One function; `parameter` is the base of an exponential or a logarithm (None: e), or the exponent of a power."""

    kind: Kind
    parameter: Rational | None = None

    def words(self, inner: str) -> str:
        """The function around a text."""
        p = self.parameter
        plain = f"{self.kind.value}({inner})" if p is None else f"{self.kind.value}{float(p):g}({inner})"
        return {
            Kind.RECIPROCAL: f"1/{inner}",
            Kind.EXP: f"exp({inner})" if p is None else f"{float(p):g}**{inner}",
            Kind.POWER: f"{inner}**{float(p or 0):g}",
            Kind.ODD: f"{inner}**{float(p or 0):g}",
        }.get(self.kind, plain)

    @property
    def domain(self) -> Ends:
        """The ends of the interval on which it is defined; None for an infinite one."""
        return _DOMAINS.get(self.kind, (None, None))

    @property
    def range(self) -> Ends:
        """The ends of its values."""
        return self.inverse().domain

    @property
    def rising(self) -> bool:
        """Whether it grows."""
        match self.kind:
            case Kind.RECIPROCAL | Kind.ERFC | Kind.ERFCINV:
                return False
            case Kind.POWER | Kind.ODD:
                return bool(self._parameter > 0)
            case Kind.EXP | Kind.LOG if self.parameter is not None:
                return bool(self.parameter > 1)
        return True

    @property
    def _parameter(self) -> Rational:
        assert self.parameter is not None
        return self.parameter

    def inverse(self) -> Elementary:
        """The function that undoes it."""
        if self.kind in (Kind.POWER, Kind.ODD):
            return Elementary(self.kind, 1 / self._parameter)
        return Elementary(_INVERSE[self.kind], self.parameter)

    def inside(self, x: Rational) -> bool:
        """Whether x lies strictly inside the domain."""
        low, high = self.domain
        return (low is None or x > low) and (high is None or x < high) and not (self.kind is Kind.RECIPROCAL and not x)

    def defined(self, x: Any) -> bool:
        """Whether a plain number lies in the domain or at an end of it, where NumPy has a value."""
        low, high = self.domain
        return (low is None or not x < low) and (high is None or not x > high)

    # -- rationals -------------------------------------------------------------------------------------------------

    def at(self, x: Rational) -> Rational:
        """The value at a number inside the domain; raises `TooFar` where it would have thousands of digits."""
        simple = self._simple(x)
        if simple is not None:
            return simple
        bits = _BITS + self._bits_next_to_ends(x)
        if bits > _MOST_BITS or (self.kind in (Kind.EXP, Kind.EXPM1, Kind.SINH, Kind.EXPIT) and abs(x) > _FAR):
            raise TooFar(f"{self.kind.value} of {float(x):.6g}")
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            return gmpy2.mpq(self._precise(gmpy2.mpfr(x)))

    def beyond(self, x: Rational, side: int) -> Rational:
        """A number that is surely not above the value at x (side 0), or not below it (side 1), and nearly equal to it."""
        value = self.at(x)
        if self._simple(x) is not None:
            return value
        room = abs(value) / 2 ** (_BITS + self._bits_next_to_ends(x) - _UNSURE_BITS)
        end = self.range[side]
        moved = value + room if side else value - room
        return moved if end is None else (min if side else max)(moved, end)

    def _bits_next_to_ends(self, x: Rational) -> int:
        """How many more bits keep a value apart from a finite end of the range, and x apart from a finite end of the domain."""
        ends = [end for end in self.domain if end is not None]
        if self.kind in (Kind.LOG, Kind.POWER):
            ends.append(ONE)  # next to which other functions have an end
        nearest = min((abs(x - end) for end in ends if x != end), default=ONE)
        bits = max(0, nearest.denominator.bit_length() - nearest.numerator.bit_length())
        return int(bits) + int(min(_APPROACH.get(self.kind, _not_at_all)(float(x)), float(_MOST_BITS)))

    def _simple(self, x: Rational) -> Rational | None:
        """Values that are rational."""
        match self.kind:
            case Kind.EXP:
                whole = self.parameter is not None and x.denominator == 1 and abs(x) <= 64
                return ONE if not x else self._parameter ** int(x) if whole else None
            case Kind.LOG:
                return ZERO if x == 1 else None
            case Kind.POWER | Kind.ODD:
                return self._power(x)
            case Kind.RECIPROCAL:
                return 1 / x
            case Kind.EXPIT | Kind.NDTR:
                return ONE / 2 if not x else None
            case Kind.LOGIT | Kind.NDTRI:
                return ZERO if 2 * x == 1 else None
            case Kind.ERFC:
                return ONE if not x else None
            case Kind.ERFCINV:
                return ZERO if x == 1 else None
        return None if x else ZERO  # all others are odd, or zero at zero

    def _power(self, x: Rational) -> Rational | None:
        p = self._parameter
        if not x or x == 1:
            return x if p > 0 or x else None
        if p.denominator == 1 and abs(p) <= 64:
            return x ** int(p)
        if p.numerator == 1 and p.denominator <= 64:
            top, exactly = gmpy2.iroot(abs(x.numerator), int(p.denominator))
            bottom, both = gmpy2.iroot(x.denominator, int(p.denominator))
            if exactly and both:
                return gmpy2.mpq(top, bottom) * (1 if x > 0 else -1)
        return None

    def _precise(self, x: gmpy2.mpfr) -> gmpy2.mpfr:
        match self.kind:
            case Kind.EXP:
                return gmpy2.exp(x if self.parameter is None else x * gmpy2.log(gmpy2.mpfr(self.parameter)))
            case Kind.LOG:
                return gmpy2.log(x) if self.parameter is None else gmpy2.log(x) / gmpy2.log(gmpy2.mpfr(self.parameter))
            case Kind.POWER | Kind.ODD:
                size = gmpy2.exp(gmpy2.log(abs(x)) * gmpy2.mpfr(self._parameter))
                return size if x > 0 else -size
        return _FORMS[self.kind].precise(x)

    # -- floats ----------------------------------------------------------------------------------------------------

    def values(self, x: npt.ArrayLike) -> Floats:
        """The values at numbers; NaN outside the domain, and what NumPy gives at its ends."""
        x = np.asarray(x, float)
        with np.errstate(all="ignore"):
            return np.asarray(self._values(x), float)

    def _values(self, x: Floats) -> npt.ArrayLike:
        p = None if self.parameter is None else float(self.parameter)
        match self.kind:
            case Kind.EXP:
                return np.exp(x) if p is None else np.power(p, x)
            case Kind.LOG:
                return np.log(x) if p is None else np.log(x) / math.log(p)
            case Kind.POWER:
                return np.power(x, float(self._parameter))
            case Kind.ODD:
                return np.sign(x) * np.power(np.abs(x), float(self._parameter))
            case Kind.RECIPROCAL:
                return 1.0 / x
            case Kind.FOLDED_LOG:
                return -np.sign(x) * np.log1p(-np.abs(x))
            case Kind.UNFOLDED:
                return -np.sign(x) * np.expm1(-np.abs(x))
            case Kind.EXPIT | Kind.LOGIT | Kind.NDTR | Kind.NDTRI | Kind.ERF | Kind.ERFINV | Kind.ERFC | Kind.ERFCINV:
                return np.asarray(getattr(special, self.kind.value)(x))
        return np.asarray(getattr(np, self.kind.value)(x))

    def log_from_end(self, y: npt.ArrayLike) -> Floats | None:
        """ln of how far the number with value y is from the end of the domain, other than zero, that is on its side.

        Of numbers next to such an end, doubles lose the digits of that distance; None where it is not known better.
        """
        form = _LOG_FROM_END.get(self.kind)
        with np.errstate(all="ignore"):
            return None if form is None else np.asarray(form(np.asarray(y, float)), float)

    def log_slope(self, x: npt.ArrayLike) -> Floats:
        """ln of the absolute value of the derivative."""
        x = np.asarray(x, float)
        with np.errstate(all="ignore"):
            return np.asarray(self._log_slope(x), float)

    def _log_slope(self, x: Floats) -> npt.ArrayLike:
        base = 1.0 if self.parameter is None else math.log(float(self.parameter)) if self.parameter > 0 else 1.0
        match self.kind:
            case Kind.EXP:
                return x * base + math.log(abs(base))
            case Kind.LOG:
                return -np.log(x) - math.log(abs(base))
            case Kind.POWER | Kind.ODD:
                p = float(self._parameter)
                return math.log(abs(p)) + ((p - 1) * np.log(np.abs(x)) if p != 1 else 0.0 * x)
        return _FORMS[self.kind].log_slope(x)


def _log_cosh(x: Floats) -> Floats:
    return np.asarray(np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - math.log(2))


def _ndtri(p: gmpy2.mpfr) -> gmpy2.mpfr:
    """The Gaussian quantile: Newton's steps from the double that SciPy gives."""
    lower = p <= 0.5
    log_tail = gmpy2.log(p if lower else 1 - p)
    x = gmpy2.mpfr(float(special.ndtri_exp(float(log_tail))))
    root, norm = gmpy2.sqrt(gmpy2.mpfr(2)), gmpy2.sqrt(2 * gmpy2.const_pi())
    for _ in range(6):  # each doubles the digits: 15 from SciPy, 80 are wanted
        below = gmpy2.erfc(-x / root) / 2
        x -= (gmpy2.log(below) - log_tail) * below * norm * gmpy2.exp(x * x / 2)
    return x if lower else -x


def _erfcinv(p: gmpy2.mpfr) -> gmpy2.mpfr:
    return -_ndtri(p / 2) / gmpy2.sqrt(gmpy2.mpfr(2))


def _log_bell(x: Floats) -> Floats:
    """ln of the slope of erf."""
    return np.asarray(math.log(2 / math.sqrt(math.pi)) - x * x)


class _Parameterless(NamedTuple):
    """A function without a parameter: its value in many digits, and ln of the size of its derivative."""

    precise: Callable[[gmpy2.mpfr], gmpy2.mpfr]
    log_slope: Callable[[Floats], npt.ArrayLike]


_FORMS = {
    Kind.EXPM1: _Parameterless(gmpy2.expm1, lambda x: x),
    Kind.LOG1P: _Parameterless(gmpy2.log1p, lambda x: -np.log1p(x)),
    Kind.TANH: _Parameterless(gmpy2.tanh, lambda x: -2 * _log_cosh(x)),
    Kind.ARCTANH: _Parameterless(gmpy2.atanh, lambda x: -np.log1p(-x * x)),
    Kind.ARCTAN: _Parameterless(gmpy2.atan, lambda x: -np.log1p(x * x)),
    Kind.TAN: _Parameterless(gmpy2.tan, lambda x: -2 * np.log(np.cos(x))),
    Kind.SINH: _Parameterless(gmpy2.sinh, _log_cosh),
    Kind.ARCSINH: _Parameterless(gmpy2.asinh, lambda x: -np.log(np.hypot(1.0, x))),
    Kind.EXPIT: _Parameterless(lambda x: 1 / (1 + gmpy2.exp(-x)), lambda x: -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x)))),
    Kind.LOGIT: _Parameterless(lambda x: gmpy2.log(x) - gmpy2.log1p(-x), lambda x: -np.log(x) - np.log1p(-x)),
    Kind.NDTR: _Parameterless(lambda x: gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2))) / 2, lambda x: -0.5 * (x * x + _LOG_2PI)),
    Kind.NDTRI: _Parameterless(_ndtri, lambda x: 0.5 * (special.ndtri(x) ** 2 + _LOG_2PI)),
    Kind.ERF: _Parameterless(gmpy2.erf, _log_bell),
    Kind.ERFINV: _Parameterless(lambda x: _erfcinv(1 - x), lambda x: -_log_bell(special.erfinv(x))),
    Kind.ERFC: _Parameterless(gmpy2.erfc, _log_bell),
    Kind.ERFCINV: _Parameterless(_erfcinv, lambda x: -_log_bell(special.erfcinv(x))),
    Kind.RECIPROCAL: _Parameterless(lambda x: 1 / x, lambda x: -2 * np.log(np.abs(x))),
    Kind.FOLDED_LOG: _Parameterless(lambda x: -gmpy2.log1p(-abs(x)) * gmpy2.sign(x), lambda x: -np.log1p(-np.abs(x))),
    Kind.UNFOLDED: _Parameterless(lambda x: -gmpy2.expm1(-abs(x)) * gmpy2.sign(x), lambda x: -np.abs(x)),
}

_ROOT_2 = math.sqrt(2)
# ln (1 - |x|) where y = arctanh(x), and so on; of those with one end that is not zero, the distance from it.
_LOG_FROM_END: dict[Kind, Callable[[Floats], npt.ArrayLike]] = {
    Kind.ARCTANH: lambda y: math.log(2) + special.log_expit(-2 * np.abs(y)),
    Kind.TAN: lambda y: np.log(np.arctan2(1.0, np.abs(y))),
    Kind.LOGIT: lambda y: special.log_expit(-y),
    Kind.NDTRI: lambda y: special.log_ndtr(-y),
    Kind.ERFINV: lambda y: math.log(2) + special.log_ndtr(-_ROOT_2 * np.abs(y)),
    Kind.ERFCINV: lambda y: math.log(2) + special.log_ndtr(_ROOT_2 * y),
    Kind.FOLDED_LOG: lambda y: -np.abs(y),
    Kind.LOG1P: lambda y: y,
}

_SHORT = 128  # bits of sums and products of a few doubles; what differs from such a number by less than the precision is one


def nearby_short(x: Rational) -> Rational:
    """A number that came back from a function and its inverse, without the rounding on the way: 90.46 is 90.46 again."""
    short = gmpy2.mpq(gmpy2.mpfr(x, _SHORT))
    return short if abs(short - x) <= abs(x) / (1 << (_BITS - 16)) else x


EXP, LOG = Elementary(Kind.EXP), Elementary(Kind.LOG)
SQUARE, SQRT = Elementary(Kind.POWER, exact(2)), Elementary(Kind.POWER, exact(0.5))
RECIPROCAL = Elementary(Kind.RECIPROCAL)
