"""What every door returns."""

from dpest.results.pair import CountedBound, DeltaWitness, Direction, PairResult, Profile, Witness
from dpest.results.result import PAIRS, TIGHT, Evidence, Proof, Result

__all__ = [
    "PAIRS",
    "TIGHT",
    "CountedBound",
    "DeltaWitness",
    "Direction",
    "Evidence",
    "PairResult",
    "Profile",
    "Proof",
    "Result",
    "Witness",
]
