"""`compile`: a function in, a callable out that maps inputs to the random values that the function returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpest.errors import ExactRefused, InvalidInput, UnsupportedOutput
from dpest.exact.inference.cases import expand
from dpest.exact.inference.paths import trace
from dpest.lang.dist import RUN, Dist, conjunction, wrap
from dpest.lang.nodes import Compare, Linear, Relation, Where, draws_of, is_node
from dpest.laws.grid import Sample
from dpest.numerics.links import Links
from dpest.run.settings import sampling_samples
from dpest.run.streams import stream
from dpest.sampling.runs.joint_samples import joint_samples
from dpest.trace.explore import Path
from dpest.trace.literal import Literal
from dpest.trace.outputs import Flat, rebuild


@dataclass(frozen=True)
class ExecutionPlan:
    """Which method the outputs get, why, and which of them share noise."""

    method: str  # "exact" or "sampling"
    reason: str
    paths: int
    outputs: int
    shared: tuple[tuple[int, ...], ...]  # positions of outputs that share noise

    def __str__(self) -> str:
        noise = "; ".join("{" + ", ".join(map(str, group)) + "}" for group in self.shared) or "none"
        return (
            f"method   {self.method}\nreason   {self.reason}\npaths    {self.paths}\noutputs  {self.outputs}\n"
            f"sharing  outputs with common noise: {noise}"
        )


class Compiled:
    """A compiled function: call it on numbers, arrays or random values; `plan` says how the last call was done."""

    def __init__(self, function: Callable[..., Any], samples: int, seed: int) -> None:
        self.function = function
        self.samples = samples
        self.seed = seed
        self.plan: ExecutionPlan | None = None
        self.joint_samples: npt.NDArray[Any] | None = None

    def __call__(self, *data: Any) -> Any:
        """The function's output on these inputs, with a `Dist` wherever it is random."""
        if RUN.get() is not None:  # inside another trace the run itself is what is asked for
            return self.function(*data)
        traced = trace(lambda inputs: self.function(*inputs), data, {})
        flat = merged(traced.paths)
        reason = _refusal(flat)
        self.plan = ExecutionPlan(
            "sampling" if reason else "exact",
            reason or f"{len(traced.paths)} path(s), every output is a case distinction over affine expressions of draws",
            len(traced.paths),
            len(flat.leaves),
            _sharing(flat),
        )
        leaves = [wrap(x) for x in flat.leaves]
        self.joint_samples = None
        if reason:
            self._sample(leaves)
        return rebuild(flat.structure, leaves)

    def _sample(self, leaves: list[Any]) -> None:
        """Joint samples of all outputs; each random one gets its column as its law."""
        table = joint_samples(leaves, self.samples, stream(self.seed, 0))
        self.joint_samples = table
        for j, x in enumerate(leaves):
            if isinstance(x, Dist):
                x._law = Sample(np.asarray(table[:, j], float))


class Engine:
    """Compiles functions with one number of samples and one seed for what must be sampled."""

    def __init__(self, samples: int | None = None, seed: int = 0) -> None:
        if samples is not None and (not isinstance(samples, int) or samples < 1):
            raise InvalidInput(f"Engine(samples=...) needs a whole number >= 1, got {samples!r}")
        self.samples = sampling_samples() if samples is None else samples
        self.seed = seed

    def compile(self, function: Callable[..., Any]) -> Compiled:
        """The function, ready to be called on inputs."""
        if not callable(function):
            raise InvalidInput(f"compile(function) needs a function, got {function!r}")
        return Compiled(function, self.samples, self.seed)


def compile(function: Callable[..., Any]) -> Compiled:
    """The function, ready to be called on inputs: `compile(svt1)([1.0, 1.0])` gives its outputs as random values."""
    return Engine().compile(function)


def merged(paths: Sequence[Path]) -> Flat:
    """All paths as one output whose leaves are case distinctions."""
    structures = {p.output.structure for p in paths}
    if len(structures) > 1:
        raise UnsupportedOutput(
            "the outputs of different paths have different shapes, so that no single position has a law: return containers of "
            "one length (pad with NaN or None), or ask dpest.estimate, which compares outputs of any shape"
        )
    return Flat(paths[0].output.structure, tuple(_choice(paths, i) for i in range(len(paths[0].output.leaves))))


def _choice(paths: Sequence[Path], leaf: int) -> Any:
    """What stands at one place: the decision tree of the paths, without the forks that do not matter to it."""
    return _tree([(p.steps, p.output.leaves[leaf]) for p in paths], 0)


def _tree(paths: list[tuple[tuple[tuple[Literal, ...], ...], Any]], depth: int) -> Any:
    if len(paths) == 1 or all(x is paths[0][1] for _, x in paths):
        return paths[0][1]
    step = paths[0][0][depth]
    here = [p for p in paths if p[0][depth] is step]
    rest = [p for p in paths if p[0][depth] is not step]
    yes = _tree(here, depth + 1)
    if not rest:
        return yes
    # The last way of a fork needs no condition; it is met one level further down.
    no = _tree(rest, depth + (len({id(p[0][depth]) for p in rest}) == 1))
    condition = conjunction(tuple(Compare(Relation.GE, Linear(x.terms, x.constant)) for x in step))
    same = not is_node(yes) and not is_node(no) and type(yes) is type(no) and (yes == no or (yes != yes and no != no))
    return yes if same else Where(condition, yes, no)


def _refusal(flat: Flat) -> str | None:
    """Why some output cannot be inferred exactly, if so."""
    for x in flat.leaves:
        if is_node(x):
            try:
                expand([x], (), [0])
            except ExactRefused as refusal:
                return str(refusal)
    return None


def _sharing(flat: Flat) -> tuple[tuple[int, ...], ...]:
    """The positions of outputs that share draws, group by group."""
    link = Links()
    drawn = [[("draw", id(d)) for d in draws_of(x)] for x in flat.leaves]
    for i, draws in enumerate(drawn):
        link.join([("output", i), *draws])
    groups: dict[object, list[int]] = {}
    for i in range(len(drawn)):
        groups.setdefault(link.root(("output", i)), []).append(i)
    return tuple(sorted(tuple(g) for g in groups.values() if len(g) > 1))
