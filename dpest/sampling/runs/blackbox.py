"""Any callable as a source of outputs: which arguments it takes, and how one chunk of runs is drawn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import DpestError, InvalidInput, MechanismRaised, NotReplayable
from dpest.inputs.pairs import as_parameters
from dpest.inputs.shown import brief, one_line
from dpest.lang.handed import all_handed, handed
from dpest.run.streams import stream
from dpest.sampling.runs.copies import restored, snapshot
from dpest.sampling.runs.outputs import Batch, Raised, encode_array, encode_columns, encode_rows
from dpest.sampling.runs.randomness import in_turn, kept_globals, own_caches, own_generators, seed_all
from dpest.sampling.runs.rows import Rows
from dpest.sampling.runs.sources import PathTree, SampleRun, Spot, TracedSampler
from dpest.sampling.runs.step import CallByCall, Stepping
from dpest.sampling.runs.watch import MechanismHangs, deadline
from dpest.trace.execute import execute_as_it_stands
from dpest.trace.plain_run import PlainProgram

_RNG_NAMES = frozenset({"rng", "generator", "gen", "random", "random_state", "prng"})
_SIZE_NAMES = frozenset({"size", "count", "n_samples", "samples", "runs"})


class Form(Enum):
    """How a mechanism is called."""

    PLAIN = "mechanism(data)"
    RNG = "mechanism(data, rng)"
    VECTORISED = "mechanism(data, size, rng)"
    TRACED = "a mechanism of dpest draws"


@dataclass(frozen=True)
class Sampler:
    """A mechanism together with the way to call it."""

    mechanism: Callable[..., Any]
    form: Form
    params: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None  # seconds for one call
    rng_keyword: str | None = None  # an optional argument that takes the generator
    tracer: TracedSampler | None = None
    pristine: bytes | None = None  # the mechanism as it was handed over
    fresh: bool = False  # each block of runs starts from such a copy
    width: int = 1  # columns of an output, as far as they are known
    columns: NDArray[np.intp] | None = None  # of very wide outputs: those that are kept
    errors: str | None = None  # "outcome": a hang, or an error of a whole call, is an output like any other

    @property
    def name(self) -> str:
        """What to call the mechanism in a report."""
        inner = getattr(self.mechanism, "func", self.mechanism)
        return str(getattr(inner, "__name__", type(inner).__name__))

    def draw(self, data: Any, count: int, rng: np.random.Generator) -> Batch:
        """The outputs of `count` runs on one input; randomness comes from `rng` as far as dpest can see to it."""
        return self.draw_blocks(data, [(count, rng)])[0]

    def draw_blocks(self, data: Any, blocks: Sequence[tuple[int, np.random.Generator]]) -> list[Batch]:
        """The outputs of some blocks of runs on one input, each with a stream of its own."""
        return self.draw_in_turn([(data, count, rng) for count, rng in blocks])

    def draw_in_turn(self, blocks: Sequence[tuple[Any, int, np.random.Generator]]) -> list[Batch]:
        """The outputs of some blocks of runs, in this order, each on its input and with a stream of its own."""
        if self.columns is not None:
            whole = replace(self, columns=None)
            return [whole.draw_in_turn([block])[0].taken(self.columns) for block in blocks]
        if self.form is Form.TRACED:
            return [self._traced(data, count, rng) for data, count, rng in blocks]
        if self.fresh and self.pristine is not None:
            copies = (replace(self, mechanism=restored(self.pristine), fresh=False) for _ in blocks)
            return [copy.draw_in_turn([block])[0] for copy, block in zip(copies, blocks, strict=True)]
        batches = []
        generators, caches = own_generators(self.mechanism), own_caches(self.mechanism)
        with in_turn(self.form is Form.PLAIN or bool(generators)), kept_globals():
            for data, count, rng in blocks:
                seed_all(generators, rng)
                for cache in caches:
                    cache.cache_clear()
                batches.append(self._called(data, count, rng))
        return batches

    def _called(self, data: Any, count: int, rng: np.random.Generator) -> Batch:
        match self.form:
            case Form.VECTORISED:
                return self._at_once(data, count, CallByCall(rng.bit_generator))
            case Form.RNG:
                return encode_rows(list(self._one_by_one(data, count, Stepping(rng.bit_generator))))
            case _:
                return encode_rows([self._once(data, (), self.params) for _ in range(count)])

    def failure(self, data: Any, rng: np.random.Generator) -> BaseException | None:
        """What one run raises, with its message; None where it returns, or where many runs are one call."""
        if self.form not in (Form.PLAIN, Form.RNG):
            return None
        more, arguments = ((), self.params) if self.form is Form.PLAIN else self._with(Stepping(rng.bit_generator))
        try:
            with kept_globals(), deadline(self.timeout, data):
                self.mechanism(handed(data), *more, **all_handed(arguments))
        except (Exception, SystemExit) as error:
            return error
        return None

    def _with(self, rng: Stepping) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """The arguments of a call that takes the generator."""
        return ((rng,), self.params) if self.rng_keyword is None else ((), {**self.params, self.rng_keyword: rng})

    def _one_by_one(self, data: Any, count: int, rng: Stepping) -> Iterator[Any]:
        more, arguments = self._with(rng)
        for _ in range(count):
            rng.step()
            yield self._once(data, more, arguments)

    def _once(self, data: Any, more: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
        try:
            with deadline(self.timeout, data):
                return self.mechanism(handed(data), *more, **all_handed(arguments))
        except MechanismHangs as hang:
            if self.errors is None:
                raise
            return Raised(f"no answer within {hang.seconds:g} s")
        except DpestError:
            raise
        except (Exception, SystemExit) as error:  # a mechanism that ends the program ends this run alone
            return Raised(type(error).__name__)

    def _at_once(self, data: Any, count: int, rng: np.random.Generator) -> Batch:
        try:
            with deadline(self.timeout, data):
                outputs = self.mechanism(handed(data), count, rng, **all_handed(self.params))
        except MechanismHangs as hang:
            if self.errors is None:
                raise
            return encode_rows([Raised(f"no answer within {hang.seconds:g} s")] * count)
        except DpestError:
            raise
        except (Exception, SystemExit) as error:
            if self.errors is None:
                raise raised(data, error) from error
            return encode_rows([Raised(type(error).__name__)] * count)
        if isinstance(outputs, tuple):
            return encode_columns(outputs, count)
        if isinstance(outputs, list) and len(outputs) == count and not all(isinstance(x, int | float) for x in outputs):
            return encode_rows(outputs)
        return encode_array(np.asarray(outputs), count)

    def _traced(self, data: Any, count: int, rng: np.random.Generator) -> Batch:
        assert self.tracer is not None
        return self.tracer.draw(data, count, rng)


def raised(data: Any, error: BaseException) -> MechanismRaised:
    """The error that names the input on which a mechanism raised."""
    return MechanismRaised(f"the mechanism raised {type(error).__name__} on the input {brief(data)}: {one_line(str(error))}")


def sampler(
    mechanism: Callable[..., Any] | Sampler,
    *,
    form: str | None = None,
    params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
    errors: str | None = None,
) -> Sampler:
    """A mechanism with its way of being called, for `dpest.audit`.

    Args:
        mechanism: any callable.
        form: "plain" (data), "rng" (data, generator), "vectorised" (data, size, generator) or "traced" (dpest draws); None reads
            it off the signature.
        params: parameters of the mechanism.
        timeout: seconds that one call may take.
        errors: "outcome" makes an exception an output; None ends the audit.

    Returns:
        What `dpest.audit` takes in place of the mechanism.

    Example:
        >>> import dpest
        >>> many = dpest.sampler(lambda x, size, rng: x + rng.laplace(size=size), form="vectorised")
        >>> r = dpest.audit(many, (0, 1), samples=2000, seed=1, progress=False)
        >>> 0.5 < r.lower <= 1
        True
    """
    if isinstance(mechanism, Sampler):
        return mechanism
    if not callable(mechanism):
        raise InvalidInput(f"the mechanism must be callable, got {mechanism!r}")
    if timeout is not None and not timeout > 0:
        raise InvalidInput(f"timeout must be a number of seconds > 0, got {timeout!r}")
    if errors not in (None, "outcome"):
        raise InvalidInput(f'errors must be None or "outcome", got {errors!r}')
    chosen, keyword = _said(form) if form is not None else _found(mechanism)
    tracer = TracedSampler(mechanism, params) if chosen is Form.TRACED else None
    return Sampler(mechanism, chosen, as_parameters(params, {}), timeout, keyword, tracer, snapshot(mechanism), errors=errors)


def as_traced(plain: Sampler, data: Any) -> Sampler:
    """The same mechanism sampled by its trace, if it is written with dpest draws; otherwise as it is."""
    if plain.form is not Form.PLAIN:
        return plain
    run = SampleRun(Rows.start(1, stream(0)), Spot(), [], PathTree())
    try:
        with kept_globals():
            seed_all((), stream(0))
            # A copy: a mechanism that keeps its first answer must not keep one of stand-ins.
            mechanism = plain.mechanism if plain.pristine is None else restored(plain.pristine)
            execute_as_it_stands(run, mechanism, data, plain.params)
    except DpestError:
        if run.drawn:
            raise
    if not run.drawn:
        return plain
    tracer = TracedSampler(plain.mechanism, plain.params)
    try:
        with kept_globals():
            tracer.check(data)
    except NotReplayable:  # state or randomness of its own: the program itself is run, one output at a time
        kept = None if plain.pristine is None else snapshot(PlainProgram(restored(plain.pristine)))
        return replace(plain, mechanism=PlainProgram(plain.mechanism), form=Form.RNG, pristine=kept)
    return replace(plain, form=Form.TRACED, tracer=tracer)


def _said(form: str) -> tuple[Form, None]:
    names = {f.name.lower(): f for f in Form}
    if form not in names:
        raise InvalidInput(f"form must be one of {', '.join(names)}, got {form!r}")
    return names[form], None


def _found(mechanism: Callable[..., Any]) -> tuple[Form, str | None]:
    try:
        parameters = list(inspect.signature(mechanism).parameters.values())
    except (TypeError, ValueError):
        return Form.PLAIN, None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in positional if p.default is p.empty]
    if not positional and not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise InvalidInput("the mechanism takes no input: write mechanism(data), (data, rng) or (data, size, rng)")
    match needed[1:]:
        case []:
            keyword = next((p.name for p in parameters[1:] if p.name in _RNG_NAMES and p.kind is not p.POSITIONAL_ONLY), None)
            return (Form.PLAIN, None) if keyword is None else (Form.RNG, keyword)
        case [name] if name in _RNG_NAMES:
            return Form.RNG, None
        case [size, rng] if size in _SIZE_NAMES or rng in _RNG_NAMES:
            return Form.VECTORISED, None
        case names:
            raise InvalidInput(
                f"cannot tell how to call the mechanism: it needs {', '.join(names)} besides its input; write mechanism(data), "
                "mechanism(data, rng) or mechanism(data, size, rng), give other arguments as params={...}, or say which with "
                'dpest.sampler(mechanism, form="plain" | "rng" | "vectorised")'
            )
