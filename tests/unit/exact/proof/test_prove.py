"""Losses over all adjacent inputs: the gallery, the literature, adjacencies and domains, refusals.

The numbers are those of hand proofs (DESIGN section 10 and the papers), written as formulas where they are not whole.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpest
from dpest.algorithms import find
from dpest.errors import InvalidInput, UnknownName
from tests.published import PUBLISHED

INF = math.inf
EPS = 0.1
GALLERY = {
    "LaplaceMechanism": EPS,
    "LaplaceParallel": 20 * 0.005,
    "NoisyHist1": EPS,
    "NoisyHist2": 1 / EPS,
    "ReportNoisyMax1": EPS,
    "ReportNoisyMax2": EPS,
    "ReportNoisyMax3": 5 * EPS / 2,
    "ReportNoisyMax4": INF,
    "SVT1": EPS,
    "SVT2": EPS,
    "SVT3": 10 * EPS / 2,
    "SVT4": EPS / 4 + 2 * 3 * EPS / 4,
    "SVT5": INF,
    "SVT6": 10 * EPS / 2,
    "NumericalSVT": EPS,
    "PrefixSum": 10 * EPS,
}
LARGE = {"SVT34Parallel": 0.575, "NoisyMaxSum": 20 * EPS}


def check_gallery(name: str, loss: float) -> None:
    algorithm = find(name)
    p = dpest.prove(algorithm.function, n=algorithm.n, adjacency=algorithm.adjacency.value)
    assert p.lower <= loss * (1 + 1e-12)
    assert p.upper >= loss * (1 - 1e-12)
    assert p.tight
    assert p.epsilon == p.upper
    if loss < INF:
        assert p.upper == pytest.approx(loss, rel=1e-12)
        assert p.proof is not None
        assert p.proof.check()
        found = dpest.estimate(algorithm.function, (p.pair.left, p.pair.right), method="exact")
        assert found.upper >= p.lower * (1 - 1e-9)
    else:
        assert p.proof is None
        assert "infinite" in p.notes[0]


@pytest.mark.parametrize("name", GALLERY)
def test_the_gallery_has_the_losses_of_its_proofs(name: str) -> None:
    check_gallery(name, GALLERY[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_the_large_ones_too(name: str) -> None:
    check_gallery(name, LARGE[name])


def test_finite_domains_are_enumerated() -> None:
    one_time = dpest.prove(find("OneTimeRAPPOR").function, n=1, adjacency="replace", domain=range(12))
    # Eight bits differ at most, each with ln((1 - f / 2) / (f / 2)).
    assert one_time.upper == pytest.approx(8 * math.log(0.525 / 0.475), rel=1e-9)
    counts = dpest.prove(find("TruncatedGeometric").function, adjacency="l1", domain=range(6))
    assert counts.tight
    assert counts.upper == pytest.approx(0.117783035656, rel=1e-9)
    assert "5 adjacent pairs" in counts.reason


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_mechanisms(name: str) -> None:
    known = PUBLISHED[name]
    p = dpest.prove(known.mechanism, n=known.n, adjacency=known.adjacency, **known.params)
    assert p.lower <= known.loss * (1 + 1e-9)
    assert p.lower >= known.loss * (1 - 1e-6)
    assert p.upper == pytest.approx(known.loss, rel=1e-12)
    assert p.tight
    assert p.proof is None or p.proof.check()


def clipped(rows: Any, scale: float = 2.0) -> Any:
    return sum(dpest.clip(x, 0, 1) for x in rows) + dpest.laplace(scale)


def counted(rows: Any, scale: float = 2.0) -> Any:
    return sum(1 for x in rows if x > 3) + dpest.geometric(scale)


def total(rows: Any, scale: float = 2.0) -> Any:
    return sum(rows) + dpest.laplace(scale)


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (clipped, {"n": 3, "adjacency": "replace"}, 1 / 2),
        (clipped, {"n": 3, "adjacency": "add_remove"}, 1 / 2),
        (counted, {"n": 3, "adjacency": "replace"}, 1 / 2),
        (counted, {"n": 2, "adjacency": "add_remove"}, 1 / 2),
        (total, {"n": 3, "adjacency": "replace", "domain": (0, 5)}, 5 / 2),
        (total, {"n": 3, "adjacency": "add_remove", "domain": (0, 5)}, 5 / 2),
        (total, {"n": 3, "adjacency": "l1"}, 1 / 2),
        (total, {"n": 3, "adjacency": "linf", "sensitivity": 2}, 6 / 2),
        (total, {"n": 3, "adjacency": "monotone"}, 3 / 2),
        (lambda x: (5 if x > 3 else x) + dpest.laplace(1.0), {}, 3.0),
        (lambda x: (1 if x == 3 else 0) + dpest.laplace(1.0), {}, 1.0),
        (lambda x: 1 if x > 3 else 0, {}, INF),
        (lambda x: math.floor(x) + dpest.laplace(1.0), {}, 1.0),
        (lambda x: round(x) + dpest.laplace(1.0), {}, 2.0),  # halves go to the even side: 0.5 and 1.5 become 0 and 2
        (lambda x: round(x) + dpest.laplace(1.0), {"adjacency": "monotone"}, 2.0),
        (lambda x: x * x + dpest.laplace(1.0), {"domain": (-1, 3), "sensitivity": 9}, 9.0),
        (lambda x, rng: x + rng.laplace(0.0, 2.0), {}, 1 / 2),
        (lambda rows, rng: sum(rows) + rng.laplace(0.0, 2.0), {"n": 2, "adjacency": "add_remove", "domain": (0, 3)}, 3 / 2),
        (lambda x: x + dpest.geometric(2.0), {"domain": int}, 1 / 2),
        (lambda x: x + dpest.geometric(2.0), {}, INF),
        (lambda x: x + dpest.gaussian(2.0), {}, INF),
        (
            lambda rows: sum(r["a"] for r in rows) + dpest.laplace(2.0),
            {"n": 2, "adjacency": "replace", "domain": {"a": (0, 2)}},
            1.0,
        ),
        (lambda x: dpest.bernoulli(0.75 if x else 0.25), {"domain": [0, 1], "adjacency": "replace"}, math.log(3)),
        (lambda x: dpest.argmax([v + dpest.laplace(1.0) for v in x]), {"n": 4, "adjacency": "monotone"}, 1.0),
    ],
)
def test_adjacencies_and_domains(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    p = dpest.prove(mechanism, **options)
    assert p.lower <= loss * (1 + 1e-12)
    assert p.upper >= loss * (1 - 1e-12)
    assert p.tight
    assert p.proof is None or p.proof.check()


def test_cauchy_noise_has_its_closed_form() -> None:
    from scipy import stats

    p = dpest.prove(lambda x: x + dpest.from_scipy(stats.cauchy(scale=2.0)))
    assert p.upper == pytest.approx(2 * math.asinh(1 / 4), rel=1e-12)
    assert p.tight


def test_how_the_loss_grows() -> None:
    def above_threshold(queries: Any) -> Any:
        t = dpest.laplace(2.0)
        for i, q in enumerate(queries):
            if q + dpest.laplace(4.0) >= t:
                return i
        return None

    flat = dpest.prove(above_threshold, n=[1, 2, 5, 8])
    assert flat.trend == "constant from n = 5 on"
    rising = dpest.prove(lambda xs: [x + dpest.laplace(2.0) for x in xs], n=[1, 2, 4])
    assert rising.trend == "linear: 0.5 times n"
    assert "n" in str(rising)


def test_calibrate_meets_its_target() -> None:
    found = dpest.calibrate(lambda x, scale: x + dpest.laplace(scale), "scale", target=0.3)
    assert found.result.upper <= 0.3
    assert found.value == pytest.approx(1 / 0.3, rel=2e-6)
    assert found.bracket[0] <= 1 / 0.3 <= found.bracket[1]
    with pytest.raises(InvalidInput, match="at every"):
        dpest.calibrate(lambda x, scale: x + dpest.gaussian(scale), "scale", target=0.3)


def test_sweep_over_pairs_and_over_all_inputs() -> None:
    def mechanism(x: Any, scale: float) -> Any:
        return x + dpest.laplace(scale)

    assert [r.upper for r in dpest.sweep(mechanism, "scale", [1.0, 2.0])] == [1.0, 0.5]
    on_pair = dpest.sweep(mechanism, "scale", [1.0, 2.0], pairs=(0.0, 3.0))
    assert [r.epsilon for r in on_pair] == pytest.approx([3.0, 1.5])


def test_long_work_tells_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    def mechanism(xs: Any, scale: float = 2.0) -> Any:
        return dpest.argmax([x + dpest.laplace(scale) for x in xs])

    told: list[tuple[int, int, str]] = []

    def show(done: int, total: int, message: str) -> None:
        told.append((done, total, message))

    dpest.prove(mechanism, n=3, progress=show)
    assert {message for _, _, message in told} >= {"alignments", "looking for the worst pair"}
    for work in (
        lambda: dpest.prove(mechanism, n=[2, 3], progress=show),
        lambda: dpest.sweep(mechanism, "scale", [1.0, 2.0], n=2, progress=show),
        lambda: dpest.sweep(mechanism, "scale", [1.0, 2.0], pairs=([0.0, 0.0], [1.0, 0.0]), progress=show),
        lambda: dpest.calibrate(mechanism, "scale", target=0.5, n=2, progress=show),
    ):
        told.clear()
        work()
        assert len(told) >= 2
        assert all(0 <= done <= total for done, total, _ in told)
    for quiet in (None, False):  # None: no terminal here
        dpest.prove(mechanism, n=2, progress=quiet)
    assert capsys.readouterr().err == ""
    with pytest.raises(InvalidInput, match="progress must be None"):
        dpest.prove(mechanism, n=2, progress="yes")


@pytest.mark.parametrize(
    ("mechanism", "options", "words"),
    [
        (lambda x: x, {"adjacency": "l_inf"}, 'did you mean "linf"'),
        (lambda x: range(x)[0] + dpest.laplace(1.0), {}, "an unknown input cannot be used as an index or a range: give domain"),
        (lambda x: [dpest.laplace(1.0) for _ in range(x)], {}, "an unknown input cannot be used as an index or a range"),
        (lambda x: [1, 2][x] + dpest.laplace(1.0), {}, "an unknown input cannot be used as an index"),
        (lambda x: dpest.laplace(x), {}, "the scale of a draw or a factor cannot be an unknown input"),
        (lambda x: dpest.bernoulli(x), {}, "bernoulli\\(p\\) needs plain numbers, got an unknown input"),
        (lambda x: x, {"n": 0}, "n must be a whole number >= 1"),
        (lambda x: x, {"sensitivity": -1}, "sensitivity must be a positive finite number"),
        (lambda x: x, {"domain": (1, 0)}, "low < high"),
        (lambda x: x, {"domain": "all"}, "is not a domain"),
        (lambda x: x, {"adjacency": "add_remove"}, "give n="),
        (3, {}, "must be a function"),
    ],
)
def test_refusals_say_what_to_write(mechanism: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=words):
        dpest.prove(mechanism, **options)


def test_bounded_is_not_tight() -> None:
    # The first value inside a band. A value outside may lie on either side: that shows at most 0.58, and a shift costs 1.
    def first_inside(queries: Any) -> Any:
        for i, q in enumerate(queries):
            if -1 < q + dpest.laplace(1.0) < 1:
                return i
        return None

    p = dpest.prove(first_inside, n=2)
    assert not p.tight
    assert p.upper == pytest.approx(2.0)
    assert "not tight" in p.notes[0]

    def outside(q: float) -> float:
        return 0.5 * math.exp(-1) * (math.exp(q) + math.exp(-q)) if q < 1 else 1 - math.sinh(1) * math.exp(-q)

    truth = 1 + max(math.log(outside(k / 1000) / outside(k / 1000 - 1)) for k in range(1000, 3000))
    assert 1.58 < p.lower <= truth + 1e-6


def test_a_product_of_draws_is_no_product_with_the_input() -> None:
    p = dpest.prove(lambda x: x + dpest.laplace(1.0) * dpest.laplace(2.0))
    assert p.upper == INF
    assert p.notes[0].startswith("no proof found: a product of two random values")
    with pytest.raises(InvalidInput, match="cannot be an unknown input"):
        dpest.prove(lambda x: x * dpest.laplace(1.0))


def test_claims_over_all_inputs_in_tests() -> None:
    from dpest.testing import PrivacyViolation, assert_private

    def mechanism(xs: Any) -> Any:
        return xs[0] + dpest.laplace(2.0)

    assert assert_private(mechanism, 0.5, n=1, all_inputs=True).proof is not None
    with pytest.raises(PrivacyViolation, match="violated over all linf-adjacent inputs"):
        assert_private(mechanism, 0.4, n=1, all_inputs=True)

    def with_generator(xs: Any, rng: Any) -> Any:
        return xs[0] + rng.laplace(0.0, 2.0)

    assert assert_private(with_generator, 0.5, n=1, all_inputs=True).proof is not None
    with pytest.raises(InvalidInput, match="leave out pairs"):
        assert_private(mechanism, 0.5, ([0.0], [1.0]), all_inputs=True)


def count_above(rows: Any) -> Any:
    count = 0
    for row in rows:
        if row > 3:
            count += 1
    return count + dpest.geometric(2.0)


def clipped_by_hand(rows: Any) -> Any:
    total = 0.0
    for row in rows:
        total += min(max(row, 0.0), 2.0)
    return total + dpest.laplace(4.0)


def two_columns(rows: Any) -> Any:
    total = 0.0
    for row in rows:
        if row["age"] >= 18:
            total += row["hours"]
    return total + dpest.laplace(2.0)


@pytest.mark.parametrize(
    ("mechanism", "options", "loss"),
    [
        (count_above, {"n": 40, "adjacency": "add_remove"}, 1 / 2),  # 2^40 cells of inputs
        (clipped_by_hand, {"n": 12, "adjacency": "replace"}, 2 / 4),
        (two_columns, {"n": 9, "adjacency": "replace", "domain": {"age": (0, 100), "hours": (0, 1)}}, 1 / 2),
        (lambda x: int(x) + dpest.laplace(1.0), {}, 1.0),
        (lambda x: int(x) + dpest.laplace(1.0), {"adjacency": "monotone", "sensitivity": 1.5}, 2.0),
        (lambda rows: sum(int(r) for r in rows) + dpest.laplace(1.0), {"n": 2}, 2.0),
        (lambda x: (min(max(x, 0.0), 1.0) if x > 0.5 else 0.0) + dpest.laplace(1.0), {"adjacency": "replace"}, 1.0),
    ],
)
def test_what_inputs_alone_decide_need_not_be_listed(mechanism: Any, options: dict[str, Any], loss: float) -> None:
    p = dpest.prove(mechanism, **options)
    assert p.lower <= loss * (1 + 1e-12)
    assert p.upper == pytest.approx(loss, rel=1e-12)
    assert p.tight
    assert p.proof is not None
    assert p.proof.check()
    assert p.proof.rerun(20) == []
