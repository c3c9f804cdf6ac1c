"""A table of mistakes in Python: each raises an error of dpest's own, whose message is a sentence."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable
from typing import Any

import pytest

import dpest
from dpest.audit import AuditResult
from dpest.errors import DpestError
from dpest.testing import assert_private

NAN = math.nan


def noisy(x: Any, eps: float = 1.0) -> Any:
    return x + dpest.laplace(1 / eps)


def noisy_list(x: Any, eps: float = 1.0) -> Any:
    return [v + dpest.laplace(1 / eps) for v in x]


async def asynchronous(x: Any) -> Any:
    return x


def draws(draw: Callable[[], Any]) -> Callable[[], Any]:
    """A mistake in a draw, made inside a mechanism."""
    return lambda: dpest.estimate(lambda x: x + draw(), (0, 1))


RESULT = dpest.estimate(noisy, (0, 1))
PYTHON: dict[str, Callable[[], Any]] = {
    "no mechanism": lambda: dpest.estimate(None, (0, 1)),  # type: ignore[arg-type]
    "a number as mechanism": lambda: dpest.estimate(3, (0, 1)),  # type: ignore[arg-type]
    "a called mechanism": lambda: dpest.estimate(noisy(1), (0, 1)),
    "a name as mechanism": lambda: dpest.estimate("SVT1", (0, 1)),  # type: ignore[arg-type]
    "no pairs": lambda: dpest.estimate(noisy),
    "an empty list of pairs": lambda: dpest.estimate(noisy, []),
    "one input": lambda: dpest.estimate(noisy, 1),
    "three inputs": lambda: dpest.estimate(noisy, (0, 1, 2)),
    "a pair of kinds": lambda: dpest.estimate(noisy, (1, [1])),
    "text as pairs": lambda: dpest.estimate(noisy, "01"),
    "a set as pairs": lambda: dpest.estimate(noisy, {0, 1}),
    "a dict as pairs": lambda: dpest.estimate(noisy, {"D": 0, "D'": 1}),
    "pairs and n": lambda: dpest.estimate(noisy_list, ([0], [1]), n=2),
    "n = 0": lambda: dpest.estimate(noisy_list, n=0),
    "n = -1": lambda: dpest.estimate(noisy_list, n=-1),
    "n = 2.5": lambda: dpest.estimate(noisy_list, n=2.5),  # type: ignore[arg-type]
    "n = True": lambda: dpest.estimate(noisy_list, n=True),
    "n as text": lambda: dpest.estimate(noisy_list, n="2"),  # type: ignore[arg-type]
    "an adjacency": lambda: dpest.estimate(noisy_list, n=2, adjacency="l2"),
    "a method": lambda: dpest.estimate(noisy, (0, 1), method="magic"),
    "no method": lambda: dpest.estimate(noisy, (0, 1), method=None),  # type: ignore[arg-type]
    "confidence in per cent": lambda: dpest.estimate(noisy, (0, 1), confidence=95),
    "confidence 0": lambda: dpest.estimate(noisy, (0, 1), confidence=0),
    "no samples": lambda: dpest.estimate(noisy, (0, 1), samples=0),
    "samples as text": lambda: dpest.estimate(noisy, (0, 1), samples="many"),  # type: ignore[arg-type]
    "samples NaN": lambda: dpest.estimate(noisy, (0, 1), samples=NAN),  # type: ignore[arg-type]
    "a seed below 0": lambda: dpest.estimate(noisy, (0, 1), seed=-1),
    "a seed of text": lambda: dpest.estimate(noisy, (0, 1), seed="x"),  # type: ignore[arg-type]
    "no workers": lambda: dpest.estimate(noisy, (0, 1), method="sampling", executor=0),
    "an executor of text": lambda: dpest.estimate(noisy, (0, 1), method="sampling", executor="four"),  # type: ignore[arg-type]
    "a keyword that is not there": lambda: dpest.estimate(noisy, (0, 1), epss=1),
    "a keyword misspelt": lambda: dpest.estimate(noisy, (0, 1), sample=10),
    "params as a list": lambda: dpest.estimate(noisy, (0, 1), params=[1]),  # type: ignore[arg-type]
    "params as text": lambda: dpest.estimate(noisy, (0, 1), params="eps=1"),  # type: ignore[arg-type]
    "eps = 0": lambda: dpest.estimate(noisy, (0, 1), eps=0),
    "eps < 0": lambda: dpest.estimate(noisy, (0, 1), eps=-1),
    "eps NaN": lambda: dpest.estimate(noisy, (0, 1), eps=NAN),
    "eps as text": lambda: dpest.estimate(noisy, (0, 1), eps="1"),
    "no return": lambda: dpest.estimate(lambda x: print, (0, 1)),
    "noise of the operating system": lambda: dpest.estimate(lambda x: x + uuid.uuid4().bytes[0], (0, 1)),
    "bool of a random value": lambda: bool(dpest.laplace(1) > 0),
    "complex of a random value": draws(lambda: complex(dpest.laplace(1))),
    "math.gamma": draws(lambda: math.gamma(dpest.laplace(1))),
    "text of a random value": draws(lambda: len(str(dpest.laplace(1)))),
    "an index": draws(lambda: [1, 2][dpest.laplace(1)]),
    "a key": draws(lambda: {0: 1}[dpest.integers(0, 1)]),
    "a range": draws(lambda: len(range(dpest.laplace(3)))),
    "a random scale of a coin": draws(lambda: dpest.bernoulli(dpest.uniform())),
    "a scale of 0": draws(lambda: dpest.laplace(0)),
    "a scale below 0": draws(lambda: dpest.laplace(-1)),
    "a scale of NaN": draws(lambda: dpest.laplace(NAN)),
    "an infinite scale": draws(lambda: dpest.laplace(math.inf)),
    "a scale of text": draws(lambda: dpest.laplace("1")),
    "no scale": draws(lambda: dpest.laplace(None)),
    "a list of scales": draws(lambda: dpest.laplace([1, 2])),
    "location and scale": draws(lambda: dpest.laplace(0, 1)),  # type: ignore[call-arg]
    "sigma of 0": draws(lambda: dpest.gaussian(0)),
    "sigma below 0": draws(lambda: dpest.gaussian(-2)),
    "a probability above 1": draws(lambda: dpest.bernoulli(1.5)),
    "a probability below 0": draws(lambda: dpest.bernoulli(-0.5)),
    "probabilities that do not sum to 1": draws(lambda: dpest.categorical([0.5, 0.6])),
    "no probabilities": draws(lambda: dpest.categorical([])),
    "a table of probabilities": draws(lambda: dpest.categorical([[0.5, 0.5], [0.5, 0.5]])),
    "bounds the wrong way round": draws(lambda: dpest.uniform(1, 0)),
    "bounds that are equal": draws(lambda: dpest.uniform(1, 1)),
    "whole numbers the wrong way round": draws(lambda: dpest.integers(3, 0)),
    "whole numbers that are none": draws(lambda: dpest.integers(0.5, 2)),
    "a size below 0": draws(lambda: dpest.laplace(1, size=-1)),
    "a size of 1.5": draws(lambda: dpest.laplace(1, size=1.5)),  # type: ignore[arg-type]
    "a size of text": draws(lambda: dpest.laplace(1, size="3")),  # type: ignore[arg-type]
    "no frozen law": draws(lambda: dpest.from_scipy("norm")),
    "a law that is not frozen": draws(lambda: dpest.from_scipy(__import__("scipy.stats").stats.norm)),
    "a delta below 0": lambda: RESULT.epsilon_at(-1),
    "a delta above 1": lambda: RESULT.epsilon_at(2),
    "a delta of NaN": lambda: RESULT.epsilon_at(NAN),
    "a delta of text": lambda: RESULT.epsilon_at("1e-6"),  # type: ignore[arg-type]
    "an epsilon below 0": lambda: RESULT.delta(-1),
    "an epsilon of NaN": lambda: RESULT.delta(NAN),
    "an epsilon of text": lambda: RESULT.delta("1"),  # type: ignore[arg-type]
    "compose: nothing": lambda: dpest.compose(),
    "compose: a mechanism": lambda: dpest.compose(noisy),
    "compose: a number": lambda: dpest.compose(3),
    "compose: no runs": lambda: dpest.compose((RESULT, 0)),
    "compose: half a run": lambda: dpest.compose((RESULT, 0.5)),
    "compose: runs of text": lambda: dpest.compose((RESULT, "ten")),
    "compose: a tolerance of 0": lambda: dpest.compose(RESULT, tolerance=0),
    "compose: runs of a result": lambda: RESULT.compose(0),
    "renyi: an order of 1/2": lambda: RESULT.renyi(0.5),
    "renyi: an order of text": lambda: RESULT.renyi("two"),  # type: ignore[arg-type]
    "tradeoff: an error of 2": lambda: RESULT.tradeoff(2),
    "tradeoff: an error of text": lambda: RESULT.tradeoff("half"),  # type: ignore[arg-type]
    "a curve at an epsilon of text": lambda: RESULT.curve().delta("1"),  # type: ignore[arg-type]
    "a curve at a delta of text": lambda: RESULT.curve().epsilon_at("1"),  # type: ignore[arg-type]
    "a witness at an epsilon of text": lambda: RESULT.delta_witness("1"),  # type: ignore[arg-type]
    "JSON of something else": lambda: dpest.Result.from_json("[1, 2]"),
    "JSON that does not end": lambda: dpest.Result.from_json("{"),
    "JSON of an audit": lambda: AuditResult.from_json("{}"),
    "patterns for no query": lambda: dpest.generate_patterns(0),
    "patterns for text": lambda: dpest.generate_patterns("5"),  # type: ignore[arg-type]
    "prove: no mechanism": lambda: dpest.prove(None, 2),  # type: ignore[call-overload]
    "prove: n = 0": lambda: dpest.prove(noisy_list, 0),
    "prove: n = 1.5": lambda: dpest.prove(noisy_list, 1.5),  # type: ignore[call-overload]
    "prove: adjacency": lambda: dpest.prove(noisy_list, 2, adjacency="near"),
    "prove: sensitivity 0": lambda: dpest.prove(noisy_list, 2, sensitivity=0),
    "prove: sensitivity NaN": lambda: dpest.prove(noisy_list, 2, sensitivity=NAN),
    "prove: sensitivity of text": lambda: dpest.prove(noisy_list, 2, sensitivity="1"),  # type: ignore[call-overload]
    "prove: an empty domain": lambda: dpest.prove(noisy_list, 2, domain=[]),
    "prove: a domain the wrong way round": lambda: dpest.prove(noisy_list, 2, domain=(1, 0)),
    "prove: a keyword": lambda: dpest.prove(noisy_list, 2, epss=1),
    "prove: an empty list of sizes": lambda: dpest.prove(noisy_list, []),
    "calibrate: no parameter": lambda: dpest.calibrate(noisy, "nosuch", target=1),
    "calibrate: a target of 0": lambda: dpest.calibrate(noisy, "eps", target=0),
    "calibrate: a target below 0": lambda: dpest.calibrate(noisy, "eps", target=-1),
    "calibrate: a target of NaN": lambda: dpest.calibrate(noisy, "eps", target=NAN),
    "calibrate: a target of text": lambda: dpest.calibrate(noisy, "eps", target="1"),  # type: ignore[arg-type]
    "calibrate: a start of 0": lambda: dpest.calibrate(noisy, "eps", target=1, start=0),
    "calibrate: a tolerance of 0": lambda: dpest.calibrate(noisy, "eps", target=1, tolerance=0),
    "sweep: no values": lambda: dpest.sweep(noisy, "eps", []),
    "sweep: one value": lambda: dpest.sweep(noisy, "eps", 3),  # type: ignore[arg-type]
    "sweep: no name": lambda: dpest.sweep(noisy, 3, [1]),  # type: ignore[arg-type]
    "sweep: a name that is not there": lambda: dpest.sweep(noisy, "nosuch", [1, 2]),
    "audit: no mechanism": lambda: dpest.audit(None, (0, 1)),  # type: ignore[arg-type]
    "audit: no pairs": lambda: dpest.audit(noisy),
    "audit: no samples": lambda: dpest.audit(noisy, (0, 1), samples=0),
    "audit: samples of text": lambda: dpest.audit(noisy, (0, 1), samples="many"),  # type: ignore[arg-type]
    "audit: a claim below 0": lambda: dpest.audit(noisy, (0, 1), claim=-1),
    "audit: a claim of text": lambda: dpest.audit(noisy, (0, 1), claim="1"),  # type: ignore[arg-type]
    "audit: a delta of 2": lambda: dpest.audit(noisy, (0, 1), delta=2),
    "audit: confidence": lambda: dpest.audit(noisy, (0, 1), confidence=95),
    "audit: an attack": lambda: dpest.audit(noisy, (0, 1), attack="magic"),
    "audit: features": lambda: dpest.audit(noisy, (0, 1), features="magic"),
    "audit: a classifier": lambda: dpest.audit(noisy, (0, 1), classifier="magic"),
    "audit: a form of errors": lambda: dpest.audit(noisy, (0, 1), errors="magic"),
    "audit: a timeout below 0": lambda: dpest.audit(noisy, (0, 1), timeout=-1),
    "audit: a seed below 0": lambda: dpest.audit(noisy, (0, 1), seed=-1),
    "assert_private: a claim below 0": lambda: assert_private(noisy, -1, (0, 1)),
    "assert_private: a claim of text": lambda: assert_private(noisy, "1", (0, 1)),  # type: ignore[arg-type]
    "assert_private: no pairs": lambda: assert_private(noisy, 1),
    "assert_private: delta": lambda: assert_private(noisy, 1, (0, 1), delta=2),
    "assert_private: pairs of all inputs": lambda: assert_private(noisy, 1, (0, 1), all_inputs=True),
    "params of prove as a list": lambda: dpest.prove(noisy, params=[1]),  # type: ignore[call-overload]
    "an async mechanism": lambda: dpest.estimate(asynchronous, (0, 1)),
    "audit: confidence of text": lambda: dpest.audit(noisy, (0, 1), confidence="high"),  # type: ignore[arg-type]
    "audit: delta of text": lambda: dpest.audit(noisy, (0, 1), delta="small"),  # type: ignore[arg-type]
    "audit: c of text": lambda: dpest.audit(noisy, (0, 1), c="large"),
    "audit: params as a list": lambda: dpest.audit(noisy, (0, 1), params=[1]),  # type: ignore[arg-type]
    "audit: n and pairs": lambda: dpest.audit(noisy_list, ([0], [1]), n=2),
    "audit: n = 0": lambda: dpest.audit(noisy_list, n=0),
    "sampler: a form": lambda: dpest.sampler(noisy, form="magic"),
    "sampler: no mechanism": lambda: dpest.sampler(None),  # type: ignore[arg-type]
    "calibrate: no mechanism": lambda: dpest.calibrate(None, "eps", target=1),  # type: ignore[arg-type]
    "calibrate: a start of text": lambda: dpest.calibrate(noisy, "eps", target=1, start="1"),  # type: ignore[arg-type]
    "calibrate: a name of no text": lambda: dpest.calibrate(noisy, 3, target=1),  # type: ignore[arg-type]
    "sweep: text as values": lambda: dpest.sweep(noisy, "eps", "ab"),
    "clip: bounds that cross": lambda: dpest.estimate(lambda x: dpest.clip(x + dpest.laplace(1), None, None), (0, 1)),
    "max of nothing": lambda: dpest.estimate(lambda x: dpest.max([]), (0, 1)),
    "argmax of nothing": lambda: dpest.estimate(lambda x: dpest.argmax([]), (0, 1)),
    "apply of no function": lambda: dpest.estimate(lambda x: dpest.apply(3, dpest.laplace(1)), (0, 1)),
    "a mechanism of bytes": lambda: dpest.estimate(b"noisy", (0, 1)),  # type: ignore[arg-type]
    "a class as mechanism": lambda: dpest.estimate(dict, (0, 1)),
    "an algorithm that is not there": lambda: dpest.algorithms.find("SVT99"),
    "assert_private: epsilon missing": lambda: assert_private(noisy, None, (0, 1)),  # type: ignore[arg-type]
    "assert_private: method": lambda: assert_private(noisy, 1, (0, 1), method="magic"),
    "assert_private: a built-in name": lambda: assert_private("SVT1", 1, (0, 1)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("mistake", PYTHON.values(), ids=PYTHON)
def test_in_python(mistake: Callable[[], Any]) -> None:
    with pytest.raises(DpestError) as caught:
        mistake()
    said = str(caught.value)
    assert said
    assert len(said) < 1000
    assert "Traceback" not in said
