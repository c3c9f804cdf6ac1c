"""What every door returns."""

from dpest.results.pair import CountedBound, DeltaWitness, Direction, Hits, PairResult, Profile, Witness
from dpest.results.result import PAIRS, TIGHT, Evidence, Proof, Result

__all__ = [
    "PAIRS",
    "TIGHT",
    "CountedBound",
    "DeltaWitness",
    "Direction",
    "Evidence",
    "Hits",
    "PairResult",
    "Profile",
    "Proof",
    "Result",
    "Witness",
]
