"""Sides of an `if` that are kept together: thirty independent choices, and programs for which it must not be done.

Every truth here is by fractions or by a closed form; none of them is the engine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import MechanismRaised
from dpest.run.settings import Sides, sides_kept
from dpest.trace.explore import trace

ZEROS, ONE = [0] * 30, [1] + [0] * 29
RESPONSE = math.log(3)  # randomised response that is honest with probability 3/4


def poisson_binomial(chances: list[Fraction]) -> list[Fraction]:
    """P(k of the independent events happen)."""
    law = [Fraction(1)]
    for p in chances:
        law = [(law[k] if k < len(law) else 0) * (1 - p) + (law[k - 1] * p if k else 0) for k in range(len(law) + 1)]
    return law


def largest(p: list[Any], q: list[Any]) -> float:
    """The loss of two laws on the same finitely many outputs."""
    return max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))


def between(mechanism: Callable[..., Any], pair: Any, truth: float, width: float = 1e-9) -> dpest.Result:
    """The exact answer, which must enclose the truth closely."""
    found = dpest.estimate(mechanism, pair, method="exact")
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower <= width
    return found


def paths_of(mechanism: Callable[..., Any], data: Any) -> int:
    return len(trace(mechanism, data, {}, sides=Sides.TOGETHER).paths)


# -- thirty independent choices ----------------------------------------------------------------------------------------


def by_expression(xs):
    return [x if dpest.bernoulli(0.75) else 1 - x for x in xs]


def by_append(xs):
    out = []
    for x in xs:
        if dpest.bernoulli(0.75):
            out.append(x)
        else:
            out.append(1 - x)
    return out


def by_name(xs):
    out = []
    for x in xs:
        y = x
        if not dpest.bernoulli(0.75):
            y = 1 - x
        out.append(y)
    return out


def by_item(xs):
    out = list(xs)
    for i in range(len(out)):
        if dpest.bernoulli(0.25):
            out[i] = 1 - out[i]
    return out


def by_coin(xs, rng):
    return [x if rng.random() < 0.5 else rng.integers(0, 2) for x in xs]


def by_where(xs, rng):
    return np.where(rng.random(len(xs)) < 0.75, xs, 1 - np.array(xs))


def by_elements(xs, rng):
    honest = rng.random(len(xs)) < 0.75
    return [x if h else 1 - x for x, h in zip(xs, honest, strict=True)]


def by_elif(xs):
    out = []
    for x in xs:
        u = dpest.uniform()
        if u < 0.5:
            y = x
        elif u < 0.75:
            y = 0
        else:
            y = 1
        out.append(y)
    return out


def respond(x):
    return x if dpest.bernoulli(0.75) else 1 - x


def by_function(xs):
    return list(map(respond, xs)) if len(xs) > 99 else [respond(x) for x in xs]


class Responder:
    def __init__(self, p):
        self.p = p

    def __call__(self, xs):
        return [self.one(x) for x in xs]

    def one(self, x):
        if dpest.bernoulli(self.p):  # noqa: SIM108
            return_value = x
        else:
            return_value = 1 - x
        return return_value


ways = [by_expression, by_append, by_name, by_item, by_coin, by_where, by_elements, by_elif, by_function, Responder(0.75)]


@pytest.mark.parametrize("mechanism", ways)
def test_thirty_responses_are_thirty_small_questions(mechanism):
    # Rung: closed form. Only one row differs, and its report is right with probability 3/4.
    between(mechanism, (ZEROS, ONE), RESPONSE)


@pytest.mark.parametrize("mechanism", ways)
def test_sampled_responses_do_not_follow_every_path(mechanism):
    found = dpest.estimate(mechanism, (ZEROS, ONE), method="sampling", samples=4_000, seed=1, progress=False)
    assert found.lower <= RESPONSE


# -- sums of choices ---------------------------------------------------------------------------------------------------


def total(xs):
    return sum([x if dpest.bernoulli(0.75) else 1 - x for x in xs])


def nested_total(xs):
    count = 0
    for x in xs:
        if dpest.bernoulli(0.75):
            if x == 1:
                count += 1
        elif x == 0:
            count = count + 1
    return count


def votes(xs):
    yes = no = 0
    for x in xs:
        if (x == 1) == dpest.bernoulli(0.75):
            yes += 1
        else:
            no += 1
    return yes, no


@pytest.mark.parametrize("mechanism", [total, nested_total, votes])
def test_forty_shuffled_responses(mechanism):
    # Rung: fractions. The sum of the reports is binomial but for one row.
    three, one = Fraction(3, 4), Fraction(1, 4)
    truth = largest(poisson_binomial([one] * 40), poisson_binomial([three] + [one] * 39))
    between(mechanism, ([0] * 40, [1] + [0] * 39), truth)


def test_the_reports_in_order_say_as_much_as_their_sum():
    truth = largest(poisson_binomial([Fraction(1, 4)] * 8), poisson_binomial([Fraction(3, 4)] + [Fraction(1, 4)] * 7))
    between(lambda xs: sorted(x if dpest.bernoulli(0.75) else 1 - x for x in xs), ([0] * 8, [1] + [0] * 7), truth)


def counted_in_a_loop(xs):
    c = 0
    for x in xs:
        c += 1 if x + dpest.laplace(1) > 0.25 else 0
    return c


def counted_by_filter(xs):
    return sum(1 for x in xs if x + dpest.laplace(1) > 0.25)


def counted_as_ints(xs):
    return sum(int(x + dpest.laplace(1) > 0.25) for x in xs)


def counted_by_numpy(xs):
    return np.sum(np.array(xs) + dpest.laplace(1, size=len(xs)) > 0.25)


@pytest.mark.parametrize("mechanism", [counted_in_a_loop, counted_by_filter, counted_as_ints, counted_by_numpy])
def test_a_count_of_noisy_values(mechanism):
    # Rung: closed form. P(x + Lap > 1/4) is e^(-1/4) / 2 for x = 0 and 1 - e^(-3/4) / 2 for x = 1.
    low, high = math.exp(-0.25) / 2, 1 - math.exp(-0.75) / 2
    truth = largest(poisson_binomial([low] * 30), poisson_binomial([high] + [low] * 29))
    between(mechanism, (ZEROS, ONE), truth)


def test_a_sum_of_three_valued_choices():
    def mechanism(xs):
        s = 0
        for x in xs:
            u = dpest.integers(1, 4)
            if u == 1:
                s += 2
            elif u == 2:
                s += 0
            else:
                s += x
        return s

    def law(xs):
        out = {0: Fraction(1)}
        for x in xs:
            new: dict[int, Fraction] = {}
            for k, p in out.items():
                for step, q in ((2, Fraction(1, 4)), (0, Fraction(1, 4)), (x, Fraction(1, 2))):
                    new[k + step] = new.get(k + step, Fraction(0)) + p * q
            out = new
        return out

    pair = [1] * 12, [0] + [1] * 11
    p, q = map(law, pair)
    assert p.keys() == q.keys()
    between(mechanism, pair, largest(list(p.values()), [q[k] for k in p]))


def test_ten_subsampled_steps():
    # Rung: closed form. Each step releases w + 1 [with probability 0.1] + Lap(1): the ratio is largest far to the right or left.
    def mechanism(x):
        w, out = 0.0, []
        for _ in range(10):
            if dpest.bernoulli(0.1):
                w += x
            w = w + dpest.laplace(1)
            out.append(w)
        return out

    between(mechanism, (0, 1), 10 * math.log(0.9 + 0.1 * math.e))


# -- what must stay a fork, or stay as it was written ------------------------------------------------------------------


def early_return(xs):
    for i, x in enumerate(xs):
        if x + dpest.laplace(1) > 0:
            return i
    return None


def test_an_early_return_is_a_path_of_its_own():
    assert paths_of(early_return, [0] * 5) == 6


def test_an_if_that_changes_nothing():
    def mechanism(x):
        y = x
        for _ in range(30):
            if dpest.bernoulli(0.5):
                y = y + 0
            else:
                pass
        return y + dpest.laplace(1)

    between(mechanism, (0, 1), 1.0)


def test_a_side_that_raises_where_it_is_not_taken():
    def mechanism(xs):
        # 1 / x would raise for x = 0, and is never taken there.
        return [(1 / x if dpest.bernoulli(0.5) else 0) if x else (2 if dpest.bernoulli(0.5) else 0) for x in xs]

    between(mechanism, ([1] * 20, [1] * 20), 0.0)

    def worse(xs):
        out = []
        for x in xs:
            d = 0 if dpest.bernoulli(0.5) else 1
            out.append(1 / x if x > 0 else d)
        return out

    between(worse, ([0] * 20, [0] * 20), 0.0)


def test_a_side_that_raises_where_it_is_taken():
    def mechanism(xs):
        return [1 / x if dpest.bernoulli(0.5) else 0 for x in xs]

    with pytest.raises(MechanismRaised, match="ZeroDivisionError"):
        dpest.estimate(mechanism, ([0] * 20, [1] * 20), method="exact")


def test_a_list_that_is_changed_in_a_side():
    def mechanism(xs):
        seen, out = [], []
        for x in xs:
            if dpest.bernoulli(0.75):
                seen.append(x)
            out.append(len(seen))
        return out[-1]

    law = poisson_binomial([Fraction(3, 4)] * 8)
    assert sum(law) == 1
    between(mechanism, ([0] * 8, [1] * 8), 0.0)


def test_state_that_is_changed_in_a_side():
    class Counter:
        def __init__(self):
            self.n = 0

        def add(self):
            self.n += 1
            return 1

    def mechanism(xs):
        c, out = Counter(), []
        for x in xs:
            out.append(c.add() if dpest.bernoulli(0.75) == x else 0)
        return c.n

    truth = largest(poisson_binomial([Fraction(1, 4)] * 8), poisson_binomial([Fraction(3, 4)] + [Fraction(1, 4)] * 7))
    between(mechanism, ([0] * 8, [1] + [0] * 7), truth)


def test_aliases_of_what_is_changed_in_place():
    def mechanism(x):
        w = np.array([0, 0], dtype=object)
        alias = w
        for _ in range(8):
            if dpest.bernoulli(0.5):
                w += x
        return int(alias[0]) + 0

    law = poisson_binomial([Fraction(1, 2)] * 8)
    # x = 0 gives 0 always: outputs above it are possible under x = 1 only.
    assert law[1] > 0
    assert dpest.estimate(mechanism, (0, 1), method="exact").epsilon == math.inf


def test_a_name_that_only_one_side_gives_a_value():
    def mechanism(x):
        for _ in range(6):
            if dpest.bernoulli(0.5):
                y = x
            else:
                z = 1 - x
        return y if dpest.bernoulli(0.5) else z

    # Where y or z has no value the program raises, and so it does here.
    with pytest.raises(MechanismRaised, match="UnboundLocalError|NameError"):
        dpest.estimate(mechanism, (0, 1), method="exact")


def test_walrus_generators_recursion_and_short_circuits():
    def walrus(xs):
        return [y if (y := x) == dpest.bernoulli(0.75) else 1 - y for x in xs]

    def generated(xs):
        def each():
            for x in xs:
                yield x if dpest.bernoulli(0.75) else 1 - x

        return list(each())

    def recursive(xs):
        return [] if not xs else [*recursive(xs[:-1]), xs[-1] if dpest.bernoulli(0.75) else 1 - xs[-1]]

    def both(xs):
        a = [dpest.bernoulli(0.5) for _ in xs]
        b = [dpest.bernoulli(0.5) for _ in xs]
        return [1 - x if p and q else x for x, p, q in zip(xs, a, b, strict=True)]

    def either(xs):
        return [x if dpest.bernoulli(0.5) or dpest.bernoulli(0.5) else 1 - x for x in xs]

    for mechanism in (generated, recursive, both, either):
        between(mechanism, (ZEROS[:20], ONE[:20]), RESPONSE)
    # y == coin: x where the coin shows x. For x = 0 the report is 0 w.p. 1/4; for x = 1 it is 1 w.p. 3/4: both say 1 w.p. 3/4.
    between(walrus, (ZEROS[:12], ONE[:12]), 0.0)


def test_texts_are_kept_together_and_compared():
    def mechanism(xs):
        words = ["yes" if dpest.bernoulli(0.75) == x else "no" for x in xs]
        return [w == "yes" for w in words], words

    between(mechanism, (ZEROS, ONE), RESPONSE)


def test_texts_that_are_put_together_fork():
    def mechanism(xs):
        word = ""
        for x in xs:
            word += "a" if dpest.bernoulli(0.75) == x else "b"
        return word

    between(mechanism, (ZEROS[:8], ONE[:8]), RESPONSE)


def test_conditions_on_plain_values_are_as_they_were():
    def mechanism(xs, flip=True):
        out = []
        for x in xs:
            if flip and x is not None:  # noqa: SIM108
                y = x if dpest.bernoulli(0.75) else 1 - x
            else:
                y = missing_name  # noqa: F821
            out.append(y)
        return out

    between(mechanism, (ZEROS, ONE), RESPONSE)


def test_two_lambdas_on_one_line():
    first, second = (lambda xs: [x if dpest.bernoulli(0.75) else 1 - x for x in xs]), (lambda xs: [x for x in xs if x > 5])
    between(first, (ZEROS, ONE), RESPONSE)
    assert second([7]) == [7]


def test_functions_without_source_fork():
    space: dict[str, Any] = {"dpest": dpest}
    exec("def mechanism(xs):\n    return [x if dpest.bernoulli(0.75) else 1 - x for x in xs]", space)
    between(space["mechanism"], (ZEROS[:6], ONE[:6]), RESPONSE)


def test_it_can_be_switched_off():
    with sides_kept(Sides.APART):
        apart = trace(by_expression, [0] * 5, {})
    assert len(apart.paths) == 32
    assert len(trace(by_expression, [0] * 5, {}).paths) == 1


def test_the_authors_function_is_left_alone():
    code, held = respond.__code__, dict(respond.__globals__)
    dpest.estimate(by_function, (ZEROS, ONE))
    assert respond.__code__ is code
    assert {k: v for k, v in respond.__globals__.items() if k in held} == held


def test_a_survey_of_four_hundred() -> None:
    """A sum of more steps than Python's stack holds."""

    def survey(rows):
        return sum(x if dpest.bernoulli(0.75) else 1 - x for x in rows)

    left = [1] * 200 + [0] * 200
    between(survey, (left, [0, *left[1:]]), RESPONSE)


# -- both ways agree ---------------------------------------------------------------------------------------------------


def thresholds(xs):
    t, out, seen = dpest.laplace(1), [], 0
    for x in xs:
        if x + dpest.laplace(2) > t and seen < 2:
            out.append(1)
            seen += 1
        else:
            out.append(0)
    return out


def geometric_votes(xs):
    best, count = 0, 0
    for x in xs:
        k = x + dpest.geometric(1)
        if k >= best:
            best = best + 1
            count += 2
    return best, count


@pytest.mark.parametrize("mechanism", [thresholds, geometric_votes, nested_total, by_elif, votes])
def test_with_and_without_paths_that_come_together(mechanism):
    pair = [0, 1, 0], [1, 1, 0]
    with sides_kept(Sides.APART):
        apart = dpest.estimate(mechanism, pair, method="exact")
    with sides_kept(Sides.TOGETHER):
        joined = dpest.estimate(mechanism, pair, method="exact")
    assert joined.lower <= apart.upper
    assert apart.lower <= joined.upper
    assert math.isclose(joined.epsilon, apart.epsilon, rel_tol=1e-9)
