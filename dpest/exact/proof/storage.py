"""Certificates as plain data, and back: rationals are text, laws are the calls that make them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpest.errors import InvalidInput
from dpest.exact.inference.expressions import expr
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.corners import Corners
from dpest.exact.proof.cross import Crossing
from dpest.exact.proof.pools import PooledRegions
from dpest.exact.proof.regions import Region, Released, Row
from dpest.exact.proof.symbols import UnknownInput
from dpest.laws import continuous as c
from dpest.laws import discrete as d
from dpest.laws.law import Law, Rng
from dpest.laws.scipy_law import ScipyContinuous, from_frozen
from dpest.numerics.logspace import Floats
from dpest.numerics.ranges import Range
from dpest.numerics.rationals import Rational, exact

if TYPE_CHECKING:
    from dpest.exact.proof.certificate import Certificate

_SCALED: dict[str, Callable[[float], Law]] = {
    "laplace": c.Laplace,
    "exponential": c.Exponential,
    "gumbel": c.Gumbel,
    "logistic": c.Logistic,
    "gaussian": c.Gaussian,
    "geometric": d.Geometric,
}


@dataclass(frozen=True)
class FixedLaw(Law):
    """A law that a certificate only names: its draws are never shifted."""

    call: str
    discrete: bool  # type: ignore[misc]
    ends: tuple[float, float]

    @property
    def support(self) -> tuple[float, float]:
        return self.ends

    def words(self) -> str:
        return self.call

    def log_density(self, x: npt.ArrayLike) -> Floats:
        raise AssertionError("a law that is only named has no density")

    def sample(self, rng: Rng, size: int) -> npt.NDArray[np.generic]:
        raise AssertionError("a law that is only named cannot be sampled")


def to_dict(certificate: Certificate) -> dict[str, Any]:
    """Plain data for JSON."""
    return {
        **_statement(certificate),
        "mechanism": certificate.mechanism,
        "adjacency": certificate.adjacency,
        "steps": [_step(s) for s in certificate.steps],
        "bound": str(certificate.bound),
        "digest": certificate.digest,
    }


def digest_of(certificate: Certificate) -> str:
    """A fingerprint of what the proof is about: the regions, the inputs and how they differ."""
    text = json.dumps(_statement(certificate), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _statement(certificate: Certificate) -> dict[str, Any]:
    laws: dict[int, list[str]] = {}  # by id: one law stands in many regions
    return {
        "inputs": [
            {"words": words, "name": law.name, "low": str(law.low), "high": str(law.high), "whole": law.integral}
            for words, law in certificate.inputs
        ],
        "programs": [[_region(r, laws) for r in regions] for regions in certificate.programs],
        "cases": [{"source": x.source, "target": x.target, "box": _box(x.box)} for x in certificate.cases],
    }


def _region(region: Region, laws: dict[int, list[str]]) -> dict[str, Any]:
    for _, law in region.laws:
        if id(law) not in laws:
            laws[id(law)] = _law(law)
    return {
        "key": region.key if isinstance(region.key, str) else repr(region.key),
        "rows": [r.stored for r in region.rows],
        "released": [[_terms(r.terms), str(r.constant), None if r.offset is None else str(r.offset)] for r in region.released],
        "laws": {str(v): laws[id(law)] for v, law in region.laws},
        "group": region.group,
    }


def _law(law: Law) -> list[str]:
    """[family, scale] of a law that can be shifted; anything else by its words, and then it never moves."""
    for name, make in _SCALED.items():
        if type(law) is make:
            return [name, repr(law.sigma if isinstance(law, c.Gaussian) else law.b)]  # type: ignore[attr-defined]
    if isinstance(law, ScipyContinuous) and law.shift_cost()[0] is not None:
        return ["scipy", law.name, repr(law.spread), *map(repr, law.shapes)]
    return ["fixed", law.words(), "discrete" if law.discrete else "continuous", *map(str, law.support)]


def _terms(terms: Iterable[tuple[int, Rational]]) -> list[list[Any]]:
    return [[v, str(x)] for v, x in terms]


def _box(box: Box) -> dict[str, Any]:
    out: dict[str, Any] = {"name": box.name, "moves": _ranges(box.moves)}
    return out | {"within": _ranges(box.within)} if box.within else out


def _ranges(listed: Iterable[tuple[int, Range]]) -> list[Any]:
    return [[v, _end(low), _end(high)] for v, (low, high) in listed]


def _end(x: Rational | None) -> str | None:
    return None if x is None else str(x)


def _step(step: Any) -> dict[str, Any]:
    out: dict[str, Any] = {"case": step.case, "source": step.source, "target": step.target, "cost": str(step.cost)}
    if step.policy is not None:
        out["shifts"] = {str(v): [str(s.constant), _terms(s.terms)] for v, s in step.policy.items() if s.constant or s.terms}
    if step.apart is not None:
        out["apart"] = _terms(step.apart)
    if step.corners is not None:
        out["corners"] = _corners(step.corners)
    if step.pool is not None:
        pool = step.pool
        out["pool"] = {"members": list(pool.members), "shared": list(pool.shared), "corners": _corners(pool.corners)}
    if step.crossing is not None:
        x = step.crossing
        out["crossing"] = {
            "shifts": [[v, _terms(terms), str(constant)] for v, terms, constant in x.shifts],
            "prices": _terms(x.prices),
            "conditions": [_terms(m) for m in x.conditions],
            "pricing": [[_terms(m or ()) for m in pair] for pair in x.pricing],
        }
    return out


def _corners(corners: Corners) -> list[Any]:
    return [[_terms(corner), _terms(shifts), str(cost)] for corner, shifts, cost in corners]


def from_dict(data: Mapping[str, Any]) -> Certificate:
    """The certificate that plain data stands for."""
    from dpest.exact.proof.certificate import Certificate, PairKind

    try:
        return Certificate(
            data["mechanism"],
            data["adjacency"],
            tuple((i["words"], UnknownInput(i["name"], float(i["low"]), float(i["high"]), i["whole"])) for i in data["inputs"]),
            tuple(tuple(_read_region(r) for r in regions) for regions in data["programs"]),
            tuple(PairKind(x["source"], x["target"], _read_box(x["box"])) for x in data["cases"]),
            tuple(_read_step(s) for s in data["steps"]),
            exact(data["bound"]),
            data["digest"],
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InvalidInput(f"this is not a certificate as dpest writes it: {type(error).__name__}: {error}") from error


def _read_region(data: Mapping[str, Any]) -> Region:
    return Region(
        data["key"],
        tuple(Row(_read_terms(terms), exact(constant), strict) for terms, constant, strict in data["rows"]),
        tuple(
            Released(_read_terms(terms), exact(constant), None if offset is None else exact(offset))
            for terms, constant, offset in data["released"]
        ),
        tuple((int(v), _read_law(law)) for v, law in data["laws"].items()),
        int(data["group"]),
    )


def _read_law(data: list[str]) -> Law:
    if data[0] in _SCALED:
        return _SCALED[data[0]](float(data[1]))
    if data[0] == "scipy":
        from scipy import stats

        law = from_frozen(getattr(stats, data[1])(*map(float, data[3:]), scale=float(data[2])))[1]
        if law.shift_cost()[0] is None:
            raise ValueError(f"no cost of a shift is known for {data[1]}")
        return law
    return FixedLaw(data[1], data[2] == "discrete", (float(data[3]), float(data[4])))


def _read_terms(data: Iterable[Iterable[Any]]) -> tuple[tuple[int, Rational], ...]:
    return tuple((int(v), exact(x)) for v, x in data)


def _read_box(data: Mapping[str, Any]) -> Box:
    return Box(data["name"], _read_ranges(data["moves"]), _read_ranges(data.get("within", ())))


def _read_ranges(data: Iterable[Any]) -> tuple[tuple[int, Range], ...]:
    ends = [(v, (None if low is None else exact(low), None if high is None else exact(high))) for v, low, high in data]
    return tuple((int(v), pair) for v, pair in ends)


def _read_step(data: Mapping[str, Any]) -> Any:
    from dpest.exact.proof.certificate import ProofStep

    policy = None
    if "shifts" in data:
        policy = {int(v): expr(_read_terms(s[1]), exact(s[0])) for v, s in data["shifts"].items()}
    crossing = None
    if "crossing" in data:
        x = data["crossing"]
        crossing = Crossing(
            tuple((int(v), _read_terms(terms), exact(constant)) for v, terms, constant in x["shifts"]),
            _read_terms(x["prices"]),
            tuple(_read_terms(m) for m in x["conditions"]),
            tuple((_read_terms(up), _read_terms(down)) for up, down in x["pricing"]),
        )
    apart = _read_terms(data["apart"]) if "apart" in data else None
    corners = _read_corners(data["corners"]) if "corners" in data else None
    pool = None
    if "pool" in data:
        x = data["pool"]
        pool = PooledRegions(tuple(map(int, x["members"])), tuple(map(int, x["shared"])), _read_corners(x["corners"]))
    return ProofStep(data["case"], data["source"], data["target"], policy, crossing, apart, exact(data["cost"]), corners, pool)


def _read_corners(data: Iterable[Any]) -> Corners:
    return tuple((_read_terms(corner), _read_terms(shifts), exact(cost)) for corner, shifts, cost in data)
