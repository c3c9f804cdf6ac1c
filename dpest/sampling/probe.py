"""A few runs before the audit: does the mechanism run, is it random, and whose randomness is it?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import cloudpickle
import numpy as np

from dpest.errors import DependentRuns, MechanismError, MechanismRaised
from dpest.inputs.shown import brief
from dpest.lang.handed import all_handed, handed
from dpest.run.executors import Automatic
from dpest.sampling.runs.blackbox import Form, Sampler
from dpest.sampling.runs.blackbox import raised as mechanism_raised
from dpest.sampling.runs.outputs import Batch, symbol_bits
from dpest.sampling.runs.randomness import own_generators
from dpest.sampling.runs.workers import must_be_deterministic, must_differ
from dpest.sampling.supply import DrawChunk, Stage

_RUNS = 32  # to see whether outputs differ: a coin of 1/2 gives 32 equal ones once in 10^9


def width(sampler: Sampler, data: Any, seed: int) -> int:
    """How many columns outputs have, as far as two runs show."""
    return _drawn(sampler, data, 2, seed, 999).width


def _drawn(sampler: Sampler, data: Any, count: int, seed: int, key: int) -> Batch:
    """Some outputs; a failure that is not the rule costs its runs."""
    return DrawChunk(sampler, data, count, seed, (int(Stage.PROBE), key))(0, count)[0]


def probe(sampler: Sampler, inputs: Sequence[Any], seed: int, pool: Executor | Automatic | None) -> tuple[str, ...]:
    """What there is to say about the mechanism before it is audited; raises where it cannot be."""
    for place, data in enumerate(inputs):
        _must_run(sampler, data, _drawn(sampler, data, _RUNS, seed, place))
    if sampler.form is Form.TRACED:
        return ()
    data = inputs[0]
    first, again, other = (_fresh(sampler, data, seed, key) for key in (0, 0, 1))
    notes = []
    constant = not _varies(first) and all(not _varies(_fresh(sampler, x, seed, 2)) for x in inputs)
    if _alike(first, other) and constant:
        must_be_deterministic(sampler, data, first)
        notes.append(f"the mechanism gave the same output in each of {_RUNS} runs: is it deterministic?")
    elif _alike(first, other) and _varies(first):
        _must_go_on(sampler, data, seed)
        notes.append(_own_generator(pool))
    elif not _alike(first, again):
        notes.append("the mechanism draws from a source that dpest cannot seed: another run with this seed gives other counts")
    if own_generators(sampler.mechanism):
        notes.append("the mechanism carries its own generator: dpest reseeds it for every chunk")
    if _uses_globals(sampler, data):
        notes.append("the mechanism uses global random state: dpest seeds it for every chunk and puts it back")
    if isinstance(pool, Executor) and not constant:
        must_differ(sampler, data, seed, pool)
    return tuple(notes)


def _must_go_on(sampler: Sampler, data: Any, seed: int) -> None:
    """Refuse a mechanism whose calls repeat the noise of earlier ones: it is seeded anew in each call, by the clock perhaps."""
    here, next_ = (_drawn(sampler, data, _RUNS, seed, 2000 + key) for key in (0, 1))
    if _alike(here, next_):
        raise DependentRuns(
            "calls of the mechanism repeat the noise of earlier calls: it seeds a generator of its own in each call, with a "
            "constant or by the clock; make the generator once, or write mechanism(data, rng) and draw from rng"
        )


def _must_run(sampler: Sampler, data: Any, batch: Batch) -> None:
    names = [batch.names.get(int(bits)) for bits in np.unique(symbol_bits(batch.values[:, 0]))]
    raised = [n for n in names if n is not None and n.startswith("raised ")]
    if sampler.errors is None and raised and np.isnan(batch.values[:, 0]).all():
        cause = sampler.failure(data, np.random.Generator(np.random.SFC64(0)))
        if cause is not None:
            raise mechanism_raised(data, cause) from cause
        raise MechanismRaised(f"the mechanism {raised[0]} in each of {len(batch)} runs on the input {brief(data)}")


def _fresh(sampler: Sampler, data: Any, seed: int, key: int) -> Batch:
    """Outputs of a copy of the mechanism, as a worker would have it, with a stream of its own."""
    try:
        copy: Sampler = cloudpickle.loads(cloudpickle.dumps(sampler))
    except Exception:  # a mechanism that cannot be copied (an open connection, say) is asked as it is
        copy = sampler
    return _drawn(copy, data, _RUNS, seed, 1000 + key)


def _alike(a: Batch, b: Batch) -> bool:
    return a.values.shape == b.values.shape and bool(np.all(a.values.view(np.uint64) == b.values.view(np.uint64)))


def _varies(batch: Batch) -> bool:
    return bool(np.any(batch.values.view(np.uint64) != batch.values.view(np.uint64)[:1]))


def _own_generator(pool: Executor | Automatic | None) -> str:
    if isinstance(pool, Executor):
        raise MechanismError(
            "two copies of the mechanism draw the same noise: it carries a generator that dpest cannot find, so that all workers "
            "would count the same samples; write mechanism(data, rng) and draw from rng, or run it without an executor"
        )
    return "copies of the mechanism draw the same noise: it carries a generator that dpest cannot seed"


def _uses_globals(sampler: Sampler, data: Any) -> bool:
    if sampler.form is not Form.PLAIN:
        return False
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    try:
        sampler.mechanism(handed(data), **all_handed(sampler.params))
    except Exception:
        return False
    numpy_after, python_after = np.random.get_state(), random.getstate()  # noqa: NPY002
    np.random.set_state(numpy_before)  # noqa: NPY002
    random.setstate(python_before)
    return repr(numpy_before) != repr(numpy_after) or python_before != python_after
