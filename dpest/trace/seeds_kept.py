"""Seeds that a mechanism draws for its generators: nobody may learn of them but through what the generators give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpest.lang.generators.seeds import check_unused
from dpest.lang.nodes import Draw, draws_of


def check_seeds_kept(secret: list[Draw], paths: Sequence[Any]) -> None:
    """Refuses paths of which an output or a decision tells more of a generator's seed than the generator does."""
    if secret:
        told = ((*path.output.leaves, *(t for c in path.conditions for t, _ in c.terms)) for path in paths)
        check_unused(secret, draws_of(*(x for leaves in told for x in leaves)))
