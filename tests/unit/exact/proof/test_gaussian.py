"""Curves over all adjacent inputs: Gaussian privacy that one shift proves, and pure losses (rung: closed forms)."""

from __future__ import annotations

import dataclasses
import json
import math
import random
from typing import Any

import mpmath
import pytest

import dpest
from dpest.curves.curve import Curve
from dpest.errors import NotCovered
from dpest.exact.proof.gaussian import GaussianProof, gaussian_proof
from dpest.exact.proof.upper import ProofQuestion, traced_question
from dpest.numerics.rationals import exact
from tests.oracles.compositions import gaussian, randomised_response


def both_sides(xs: Any) -> Any:
    """Noise of different deviations on one number."""
    return xs[0] + dpest.gaussian(3.0), xs[0] + dpest.gaussian(4.0)


CASES: list[tuple[Any, dict[str, Any], float]] = [
    (lambda x: x + dpest.gaussian(2.0), {}, 1 / 2),
    (lambda x: x + dpest.gaussian(2.0), {"sensitivity": 3}, 3 / 2),
    (lambda xs: [x + dpest.gaussian(2.0) for x in xs], {"n": 3}, math.sqrt(3) / 2),
    (lambda xs: [x + dpest.gaussian(2.0) for x in xs], {"n": 3, "adjacency": "l1"}, 1 / 2),
    (lambda xs: list(dpest.cumsum([x + dpest.gaussian(2.0) for x in xs])), {"n": 3}, math.sqrt(3) / 2),
    (lambda xs: sum(dpest.clip(x, 0, 1) for x in xs) + dpest.gaussian(2.0), {"n": 3, "adjacency": "replace"}, 1 / 2),
    (lambda xs: sum(dpest.clip(x, 0, 1) for x in xs) + dpest.gaussian(2.0), {"n": 3, "adjacency": "add_remove"}, 1 / 2),
    (lambda xs: sum(1 for x in xs if x > 3) + dpest.gaussian(2.0), {"n": 2, "adjacency": "replace"}, 1 / 2),
    (lambda xs: sum(1 for x in xs if x > 3) + dpest.gaussian(2.0), {"n": 2, "adjacency": "add_remove"}, 1 / 2),
    (lambda xs: sum(xs) + dpest.gaussian(2.0), {"n": 3, "domain": (0, 5), "sensitivity": 2}, 3.0),
    (lambda x: x + dpest.gaussian(3.0) + dpest.gaussian(4.0), {}, 1 / 5),  # deviations 3 and 4 make 5
    (both_sides, {"n": 1}, math.sqrt(1 / 9 + 1 / 16)),
]


@pytest.mark.parametrize(("mechanism", "options", "mu"), CASES)
def test_gaussian_noise_has_its_curve_over_all_adjacent_inputs(mechanism: Any, options: dict[str, Any], mu: float) -> None:
    p = dpest.prove(mechanism, **options)
    assert p.epsilon == math.inf
    assert isinstance(p.proof, GaussianProof)
    assert p.proof.check()
    assert mu <= p.proof.mu * (1 + 1e-15)
    assert p.proof.mu == pytest.approx(mu, rel=1e-15)
    for epsilon in (0.0, 0.5, 2.0):
        truth, found = gaussian(mpmath.mpf(mu), epsilon), p.delta(epsilon)
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.upper * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-6 * found.upper  # the pair that was found reaches it
    many, found = gaussian(10 * mpmath.mpf(mu), 3.0), p.compose(100).delta(3.0)
    assert found.lower * (1 - 1e-6) <= many <= found.upper * (1 + 1e-12)
    again = dpest.Result.from_json(p.to_json())
    assert again.proof is not None
    assert again.proof.check()


def test_post_processing_is_bounded_not_tight() -> None:
    p = dpest.prove(lambda x: 1 if x + dpest.gaussian(1.0) > 0 else 0)
    assert isinstance(p.proof, GaussianProof)
    assert p.delta(0.2).upper >= dpest.estimate(lambda x: 1 if x + dpest.gaussian(1.0) > 0 else 0, (-0.5, 0.5)).delta(0.2).lower
    most = dpest.prove(lambda xs: dpest.argmax([x + dpest.gaussian(1.0) for x in xs]), n=3)
    assert isinstance(most.proof, GaussianProof)
    # Of inputs that move by 1, the shift without its mean is what the index sees: (1, 1, -1) leaves 4/3 + 4/9 + 16/9 = 8/3.
    assert most.proof.mu == pytest.approx(math.sqrt(8 / 3), rel=1e-15)


@pytest.mark.parametrize("thresholds", [(0,), (0, 1), (0, 1, 3)])
def test_conditions_on_noise_are_kept_where_the_program_decides_differently(thresholds: tuple[int, ...]) -> None:
    """Beyond 3, each noisy value is larger by 1: every draw is shifted by 1, and no draw less would keep its condition."""

    def passed(x: Any) -> Any:
        large = 1 if x > 3 else 0
        return [large + dpest.gaussian(2.0) > t for t in thresholds]

    question = ProofQuestion(passed, {}, None, "linf", 1.0, None)
    proof = gaussian_proof(question, traced_question(question))
    assert proof is not None
    assert proof.check()
    assert proof.mu == pytest.approx(math.sqrt(len(thresholds)) / 2, rel=1e-15)


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: (x if dpest.bernoulli(0.1) else 0) + dpest.gaussian(1.0),  # no one shift: the coin decides
        lambda x: (x + dpest.gaussian(1.0), x + dpest.laplace(1.0)),
        lambda x: (x, x + dpest.gaussian(1.0)),
        lambda x: x + dpest.gaussian(1.0) if x > 0 else dpest.gaussian(2.0),
    ],
)
def test_what_no_one_shift_serves_has_no_curve(mechanism: Any) -> None:
    p = dpest.prove(mechanism)
    assert p.proof is None
    with pytest.raises(NotCovered, match="ask estimate"):
        p.delta(0.5)


def test_wrong_gaussian_proofs_are_refused() -> None:
    proof = dpest.prove(lambda xs: list(dpest.cumsum([x + dpest.gaussian(2.0) for x in xs])), n=2).proof
    assert isinstance(proof, GaussianProof)
    assert not dataclasses.replace(proof, squared=proof.squared / 2).check()
    text = json.dumps(proof.to_dict())
    rng = random.Random(0)
    for _ in range(100):
        data = json.loads(text)
        case = rng.choice(data["cases"])
        shift = rng.choice([s for s in case["shifts"] if s])
        entry = rng.choice(shift)
        entry[2] = str(exact(entry[2]) * rng.choice([2, -1, exact("1/3")]) + rng.choice([0, 1, 5]))
        if json.dumps(data) != text:
            assert not GaussianProof.from_dict(data).check()


def test_a_pure_loss_composes_for_all_adjacent_inputs() -> None:
    p = dpest.prove(lambda x: x + dpest.laplace(2.0))
    pure = math.exp(0.5) / (1 + math.exp(0.5))
    truth = pure - math.exp(0.2) * (1 - pure)
    assert p.delta(0.2).upper == pytest.approx(truth, rel=1e-12)
    assert p.delta(0.2).lower == pytest.approx(-math.expm1((0.2 - 0.5) / 2), rel=1e-9)  # of one Laplace draw
    assert p.epsilon_at(0) == p.epsilon
    together = dpest.compose((p, 10), dpest.prove(lambda x: x + dpest.gaussian(5.0)))
    plain = dpest.compose((dpest.estimate(lambda x: x + dpest.laplace(2.0), (0, 1)), 10))
    assert plain.epsilon_at(1e-5).lower <= together.epsilon_at(1e-5).upper
    assert "all linf-adjacent inputs" in str(together)
    assert p.tradeoff(0.1).lower <= dpest.estimate(lambda x: x + dpest.laplace(2.0), (0, 1)).tradeoff(0.1).upper


def test_coins_dominate_pure_losses() -> None:
    from fractions import Fraction

    curve = Curve.pure(math.log(3)).compose(7)
    for epsilon in (0.0, 2.0, 7.6):
        truth, found = randomised_response(Fraction(3, 4), 7, epsilon), curve.delta(epsilon)
        assert found.lower <= truth * (1 + 1e-12)
        assert truth <= found.upper * (1 + 1e-12)
    assert Curve.pure(0.0).delta(0.0) <= 1e-15
    assert Curve.pure(800.0).epsilon.upper == pytest.approx(800.0)


def test_a_finite_domain_has_its_own_curve() -> None:
    p = dpest.prove(lambda k: k + dpest.geometric(2.0), domain=range(4), adjacency="l1")
    pair = dpest.estimate(lambda k: k + dpest.geometric(2.0), (0, 1))
    assert p.delta(0.2).upper == pytest.approx(pair.delta(0.2).upper, rel=1e-9)


def test_claims_with_a_delta_over_all_inputs() -> None:
    from dpest.testing import PrivacyViolation, assert_private

    def noisy(xs: Any) -> Any:
        return xs[0] + dpest.gaussian(4.0)

    assert_private(noisy, 1.0, n=1, delta=1e-5, all_inputs=True)
    with pytest.raises(PrivacyViolation, match="violated over all"):
        assert_private(noisy, 0.5, n=1, delta=1e-5, all_inputs=True)
