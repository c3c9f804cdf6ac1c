"""Hypothesis: small random mechanisms, input pairs, laws.

A mechanism is data (draws, and expressions of them), so that Hypothesis can shrink it, and a function
`mechanism(data, m)` of one of the meanings of `m` in `tests.oracles.enumeration`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

MOST_DRAWS = 3
INPUTS = 2


@dataclass(frozen=True)
class Call:
    """A draw: the function of `m` that makes it, and its parameters; `per` moves the first one with an input."""

    name: str
    parameters: tuple[Any, ...]

    def make(self, m: Any) -> Any:
        if self.name == "categorical":
            return m.categorical(list(self.parameters))
        return getattr(m, self.name)(*self.parameters)


@dataclass(frozen=True)
class Term:
    """An expression: an operation and its arguments, which are terms, numbers or positions."""

    operation: str
    arguments: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.operation}({', '.join(map(repr, self.arguments))})"


@dataclass(frozen=True)
class Program:
    """Draws are made first, in order; then the outputs are worked out. `lazy` says where(...) instead of `if`."""

    draws: tuple[Call, ...]
    outputs: tuple[Term, ...]
    lazy: bool

    def __call__(self, data: Any, m: Any) -> Any:
        values = [call.make(m) for call in self.draws]
        out = [evaluate(t, data, values, m, self.lazy) for t in self.outputs]
        return out[0] if len(out) == 1 else tuple(out)


def evaluate(term: Term, data: Any, draws: list[Any], m: Any, lazy: bool) -> Any:
    """The meaning of a term."""

    def of(x: Any) -> Any:
        return evaluate(x, data, draws, m, lazy)

    a = term.arguments
    match term.operation:
        case "constant":
            return a[0]
        case "input":
            return data[a[0]]
        case "draw":
            return draws[a[0] % len(draws)]
        case "add":
            return of(a[0]) + of(a[1])
        case "subtract":
            return of(a[0]) - of(a[1])
        case "scale":
            return a[0] * of(a[1])
        case "max":
            return m.max([of(a[0]), of(a[1])])
        case "min":
            return m.min([of(a[0]), of(a[1])])
        case "clip":
            return m.clip(of(a[0]), a[1], a[1] + a[2])
        case "argmax":
            return m.argmax([of(x) for x in a])
        case "if":
            return m.where(of(a[0]), of(a[1]), of(a[2])) if lazy else (of(a[1]) if of(a[0]) else of(a[2]))
        case "ge":
            return of(a[0]) >= of(a[1])
        case "gt":
            return of(a[0]) > of(a[1])
        case "eq":
            return of(a[0]) == of(a[1])
        case "and":
            return m.where(of(a[0]), of(a[1]), False) if lazy else bool(of(a[0]) and of(a[1]))
        case "not":
            return m.where(of(a[0]), False, True) if lazy else not of(a[0])
    raise AssertionError(term.operation)


def term(operation: str, *arguments: Any) -> Term:
    return Term(operation, arguments)


small = st.integers(-2, 2)


def numbers(depth: int) -> st.SearchStrategy[Term]:
    """Terms that are numbers."""
    leaves = st.one_of(
        st.builds(term, st.just("draw"), st.integers(0, MOST_DRAWS - 1)),
        st.builds(term, st.just("input"), st.integers(0, INPUTS - 1)),
        st.builds(term, st.just("constant"), small),
    )
    if depth == 0:
        return leaves
    inner = numbers(depth - 1)
    return st.one_of(
        leaves,
        st.builds(term, st.sampled_from(["add", "subtract", "max", "min"]), inner, inner),
        st.builds(term, st.just("scale"), st.sampled_from([-1, 2, 3]), inner),
        st.builds(term, st.just("clip"), inner, small, st.integers(0, 3)),
        st.builds(term, st.just("if"), truths(depth - 1), inner, inner),
    )


def truths(depth: int) -> st.SearchStrategy[Term]:
    """Terms that are true or false."""
    inner = numbers(max(depth - 1, 0))
    comparisons = st.builds(term, st.sampled_from(["ge", "gt"]), inner, inner)
    if depth == 0:
        return comparisons
    return st.one_of(
        comparisons,
        st.builds(term, st.just("not"), truths(depth - 1)),
        st.builds(term, st.just("and"), truths(depth - 1), truths(depth - 1)),
    )


probabilities = st.sampled_from([0.125, 0.25, 0.5, 0.75])
finite_draws = st.one_of(
    st.builds(Call, st.just("bernoulli"), st.tuples(probabilities)),
    st.builds(Call, st.just("integers"), st.tuples(st.integers(-2, 0), st.integers(0, 2))),
    st.builds(Call, st.just("categorical"), st.sampled_from([(0.5, 0.25, 0.25), (0.125, 0.875), (0.25, 0.0, 0.75)])),
)
scales = st.sampled_from([0.5, 1.0, 2.0])
continuous_draws = st.one_of(
    st.builds(
        Call,
        st.sampled_from(["laplace", "gaussian", "exponential", "gumbel", "logistic", "geometric"]),
        st.tuples(scales),
    ),
    st.builds(Call, st.just("uniform"), st.tuples(st.just(-1.0), st.sampled_from([0.5, 2.0]))),
)
pairs = st.tuples(st.tuples(small, small), st.tuples(small, small))
flags = st.booleans()


def finite_programs() -> st.SearchStrategy[Program]:
    """Mechanisms on finite draws, with one to three outputs of any kind."""
    outputs = st.one_of(numbers(2), truths(2), st.builds(term, st.just("argmax"), numbers(1), numbers(1), numbers(0)))
    return st.builds(
        Program,
        st.lists(finite_draws, min_size=1, max_size=MOST_DRAWS).map(tuple),
        st.lists(outputs, min_size=1, max_size=3).map(tuple),
        flags,
    )


def deciding_programs() -> st.SearchStrategy[Program]:
    """Mechanisms on continuous and discrete noise that return decisions: truth values, indices."""
    outputs = st.one_of(truths(2), st.builds(term, st.just("argmax"), numbers(1), numbers(1), numbers(0)))
    draws = st.one_of(continuous_draws, continuous_draws, finite_draws)
    return st.builds(
        Program,
        st.lists(draws, min_size=1, max_size=MOST_DRAWS).map(tuple),
        st.lists(outputs, min_size=1, max_size=2).map(tuple),
        flags,
    )


def releasing_programs() -> st.SearchStrategy[Program]:
    """Mechanisms that return numbers with a density."""
    draws = st.one_of(continuous_draws, continuous_draws, finite_draws)
    return st.builds(
        Program,
        st.lists(draws, min_size=1, max_size=MOST_DRAWS).map(tuple),
        st.lists(numbers(2), min_size=1, max_size=2).map(tuple),
        flags,
    )
