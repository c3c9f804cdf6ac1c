"""The proof of an upper bound as data: regions, differences, shifts, costs; `check` verifies it in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dpest.errors import NotCovered
from dpest.exact.proof.adjacency import Box
from dpest.exact.proof.corners import Corners
from dpest.exact.proof.cross import Crossing
from dpest.exact.proof.policy import Policy
from dpest.exact.proof.pools import PooledRegions
from dpest.exact.proof.regions import Region
from dpest.exact.proof.symbols import UnknownInput
from dpest.laws.law import Law
from dpest.numerics.rationals import Rational

if TYPE_CHECKING:
    from dpest.exact.proof.gaussian import GaussianProof


@dataclass(frozen=True)
class PairKind:
    """One kind of adjacent pair: which program the two inputs run (they differ in length at most), and how they differ."""

    source: int
    target: int
    box: Box


@dataclass(frozen=True)
class ProofStep:
    """A region of the source is carried to a region of the target, at a cost; or the two cells never meet."""

    case: int
    source: int
    target: int  # a region of the target program; of a cell that is never reached, any of its regions
    policy: Policy | None  # the region goes to itself
    crossing: Crossing | None
    apart: tuple[tuple[int, Rational], ...] | None  # multipliers that show that no adjacent pair joins the two cells
    cost: Rational
    corners: Corners | None = None  # the region goes to itself, by shifts for each corner of the differences
    pool: PooledRegions | None = None  # the region and others are bounded together; the step speaks for all of them


@dataclass(frozen=True)
class Certificate:
    """Why the loss of every adjacent pair is at most `bound`."""

    mechanism: str
    adjacency: str
    inputs: tuple[tuple[str, UnknownInput], ...]  # what each unknown is, in words
    programs: tuple[tuple[Region, ...], ...]  # the regions of the mechanism, for each length of data
    cases: tuple[PairKind, ...]
    steps: tuple[ProofStep, ...]
    bound: Rational
    digest: str
    runs: Callable[[Certificate, int, int], list[str]] | None = field(default=None, compare=False, repr=False)

    @property
    def input_laws(self) -> Mapping[int, Law]:
        """The range of each unknown input, by its variable."""
        return {-1 - i: law for i, (_, law) in enumerate(self.inputs)}

    def check(self) -> bool:
        """Whether the proof is right: every shift, every condition and every cost, in rational arithmetic."""
        from dpest.exact.proof.checking import check

        return check(self)

    def faults(self) -> list[str]:
        """What is wrong with the proof; empty where it is right."""
        from dpest.exact.proof.checking import faults

        return faults(self)

    def rerun(self, runs: int = 100, seed: int = 0) -> list[str]:
        """What random runs of the mechanism say against the proof: each is shifted and must release the same again.

        Empty where all agree. A certificate that was read from JSON has no mechanism to run.
        """
        if self.runs is None:
            raise NotCovered("this certificate does not hold the mechanism: call rerun on the proof that prove(...) returned")
        return self.runs(self, runs, seed)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[str, Any]]]:
        return read_certificate, (self.to_dict(),)  # without the mechanism to run, which may be a function inside another

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: rationals as text."""
        from dpest.exact.proof.storage import to_dict

        return to_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """The certificate as JSON text."""
        import json

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Certificate:
        """The inverse of `to_dict`."""
        from dpest.exact.proof.storage import from_dict

        return from_dict(data)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The inverse of `to_json`."""
        import json

        return cls.from_dict(json.loads(text))

    def __str__(self) -> str:
        from dpest.exact.proof.wording import proof_text

        return proof_text(self)


def read_certificate(data: Mapping[str, Any]) -> Certificate | GaussianProof:
    """A proof that was stored with a result."""
    if data.get("kind") == "gaussian":
        from dpest.exact.proof.gaussian import GaussianProof

        return GaussianProof.from_dict(data)
    return Certificate.from_dict(data)
