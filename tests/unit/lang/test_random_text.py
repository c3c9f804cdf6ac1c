"""Texts that random values without listed points are written into: they tell what the values tell."""

from __future__ import annotations

import json
import logging
import math
import random
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import DpestError, ExactRefused, NoText, RandomTruth

_NUMPY = np.random.default_rng(0)
_LOG = logging.getLogger(__name__)


def _noisy(x: float) -> Any:
    return x + _NUMPY.laplace(0, 2.0)


def _with_a_class(x: int) -> str:
    class Report:
        def __init__(self, n: int) -> None:
            self.n = n

        def line(self) -> str:
            return f"count: {self.n}"

    return Report(round(_noisy(x))).line()


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: f"approximately {round(_noisy(x))} people",
        lambda x: f"{int(round(_noisy(x), 0))}",
        lambda x: f"{max(0, round(_noisy(x))):04d}",
        lambda x: f"{_noisy(x):.1%} of all",
        lambda x: f"{_noisy(x):07.2f}",
        lambda x: str(round(_noisy(x), 1)),
        lambda x: f"{round(float(_noisy(x)), 2)} Euro",
        lambda x: f"{math.floor(_noisy(x) + 0.5):d}",
        lambda x: f"{1000 * round(_noisy(x)):,} people",
        lambda x: f"[{_noisy(x):+10.1f}] of {round(x - x):>5}",
        lambda x: f"<td>{_noisy(x):,.2f}</td>",
        lambda x: f"{_noisy(x):,} people",
        lambda x: str(f"{_noisy(x):.1f}") + " Euro",
        lambda x: f"{round(_noisy(x), 2):,} or so",
        lambda x: f"{_noisy(x):+}",
        lambda x: "{:_^15,.1%}".replace("_^", "^").format(_noisy(x)),
        lambda x: "%d years" % _noisy(x),  # noqa: UP031
        lambda x: f"{x + random.choice([-1, 1]) * random.expovariate(0.5):.2f}",
        lambda x: f"{_noisy(x)}",
        lambda x: f"{_noisy(x)!s} years",
        lambda x: "count: " + str(_noisy(x)),
        lambda x: "count: {}".format(_noisy(x)),  # noqa: UP032
        lambda x: "{1}: {0}".format(round(_noisy(x)), "count"),  # noqa: UP030
        lambda x: "count: {n}".format(n=_noisy(x)),  # noqa: UP032
        lambda x: "count: %s" % _noisy(x),  # noqa: UP031
        lambda x: "%s: %d (100 %%)" % ("count", round(_noisy(x))),  # noqa: UP031
        lambda x: format(_noisy(x)),
        lambda x: json.dumps({"n": round(_noisy(x)), "name": "a", "of": [1, None]}),
        lambda x: json.dumps([_noisy(x)]),
        lambda x: json.dumps({"of": OrderedDict(b=round(_noisy(x)), a=None)}, sort_keys=True, indent=2),
        lambda x: json.dumps({3: {"n": _noisy(x)}, 4: ("é", True)}, separators=(",", ":"), ensure_ascii=False),
        lambda x: ", ".join(["a", f"{_noisy(x)}", "b"]),
        lambda x: {"text": f"n = {_noisy(x)}", "other": 3},
        lambda x: 5 * round(_noisy(x) / 5) if x > 100 else f"<{round(_noisy(x))}>",
        lambda x: float(f"{_noisy(x):.2f}"),
        lambda x: float(str(_noisy(x))) / 2,
        lambda x: int(f"{_noisy(x):>6.0f}"),
        lambda x: int(str(round(_noisy(x)))),
        _with_a_class,
    ],
)
def test_the_text_of_a_noisy_value_has_the_loss_of_the_value(mechanism: Callable[..., Any]) -> None:
    r = dpest.estimate(mechanism, (41, 42), method="exact")
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    "count", [lambda rng: rng.geometric(0.5) - rng.geometric(0.5), lambda rng: dpest.geometric(1 / math.log(2))]
)
def test_the_text_of_a_count_without_bounds(count: Callable[..., Any]) -> None:
    r = dpest.estimate(lambda x, rng: f"value {x + count(rng)}", (1, 2), method="exact")
    assert r.lower <= math.log(2) <= r.upper
    assert r.upper - r.lower < 1e-9


def _laplace_cdf(x: float, b: float) -> float:
    return 0.5 * math.exp(x / b) if x < 0 else 1 - 0.5 * math.exp(-x / b)


@pytest.mark.parametrize("mechanism", [lambda x: f"{x + _NUMPY.laplace():.0f}", lambda x: "%.0f" % (x + _NUMPY.laplace())])
def test_minus_zero_is_written_in_another_way_than_zero(mechanism: Callable[..., Any]) -> None:
    r = dpest.estimate(mechanism, (-0.25, 0.0), method="exact")
    cuts = [-math.inf, *(k - 0.5 for k in range(-8, 1)), 0.0, *(k + 0.5 for k in range(9)), math.inf]  # -0 and 0 are two texts
    laws = [
        [_laplace_cdf(b - x, 1.0) - _laplace_cdf(a - x, 1.0) for a, b in zip(cuts, cuts[1:], strict=False)] for x in (-0.25, 0.0)
    ]
    truth = max(abs(math.log(p / q)) for p, q in zip(*laws, strict=True))
    assert r.lower <= truth + 1e-12
    assert truth - 1e-12 <= r.upper
    assert r.upper - r.lower < 1e-9


def test_spaces_and_commas_around_a_number_are_read_back() -> None:
    told = dpest.estimate(lambda x: f"{1000 * round(_noisy(x)):>9,} of {round(_noisy(x)):<4}", (1, 2), method="exact")
    assert told.epsilon == pytest.approx(1.0, abs=1e-9)
    kinds = dpest.estimate(lambda x: f"{1000 * round(_noisy(x)):,}" if _noisy(x) > 2 else "suppressed", (1, 2), method="exact")
    assert kinds.epsilon == pytest.approx(1.0, abs=1e-9)  # where it is not suppressed, both draws tell


def test_digits_behind_the_point_round_the_value() -> None:
    r = dpest.estimate(lambda x: f"{x + random.uniform(0, 1):.1f}", (0.0, 0.05), method="exact")
    assert math.isinf(r.lower)  # "1.1" comes from 0.05 alone
    r = dpest.estimate(lambda x: f"{x + random.expovariate(1):.1f} ", (0.0, 0.04), method="exact")
    # "0.0" has [0, 0.05): 1 - exp(-0.05) of it, and 1 - exp(-0.01)
    assert r.lower <= math.log(-math.expm1(-0.05) / -math.expm1(-0.01)) <= r.upper


def test_what_is_cut_off_at_a_number_has_a_text() -> None:
    r = dpest.estimate(lambda x: f"{max(0.0, _noisy(x)):.2f} Euro", (1.0, 2.0), method="exact")
    assert r.lower <= 0.5 <= r.upper


def test_a_text_on_one_path_and_another_one_on_another() -> None:
    def few_or_many(x: int) -> str:
        n = max(0, round(_noisy(x)))
        return f"{n} of 100" if n > 3 else "few"

    r = dpest.estimate(few_or_many, (4, 5), method="exact")
    assert r.lower <= 0.5 <= r.upper
    assert r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda x: f"{round(_noisy(x))}{round(_noisy(0))}",  # 1 and 23, or 12 and 3
        lambda x: f"{round(_noisy(x))}0",
        lambda x: f"{round(_noisy(x), 1)}{round(_noisy(0), 1)}",
        lambda x: f"{round(_noisy(x), 1)}.{round(_noisy(0), 1)}",
        lambda x: f"{_noisy(x)}" + f"{_noisy(0)}",
        lambda x: f"{round(_noisy(x)):,},{round(_noisy(x)):,}",  # "1,234" is two numbers or one
        lambda x: f"about {round(_noisy(x)):>5,}" if _noisy(x) > 2 else "about 1,000",
        lambda x: f"{round(_noisy(x))} people" if random.random() < 0.5 else "3 people",
        lambda x: f"{round(_noisy(x))} people" if random.random() < 0.5 else f"{round(_noisy(x)) / 2} people",
        lambda x: f"{round(_noisy(x))} people" if random.random() < 0.5 else f"{round(_noisy(x)):02d} people",
        lambda x: f"{_noisy(x):.1f} people" if random.random() < 0.5 else f"{round(_noisy(x), 1)} people",
        lambda x: f"{_noisy(x):.1f} people" if random.random() < 0.5 else f"{_noisy(x):.2f} people",
        lambda x: f"{round(_noisy(x))} of 3" if random.random() < 0.5 else f"3 of {round(_noisy(x))}",
    ],
)
def test_texts_that_can_be_read_in_two_ways_are_refused(mechanism: Callable[..., Any]) -> None:
    with pytest.raises(DpestError, match="in two ways|no text"):
        dpest.estimate(mechanism, (1, 2), method="exact")


def _length(x: int) -> str:
    text = f"n={round(_noisy(x))}"
    return text if len(text) < 6 else "long"


def _begins(x: int) -> bool:
    return f"{_noisy(x)}".startswith("-")


def _looked_up(x: int) -> str:
    return {"3": "three"}.get(f"{round(_noisy(x))}", "other")


@pytest.mark.parametrize(
    "mechanism",
    [
        _length,
        _begins,
        _looked_up,
        lambda x: f"{round(_noisy(x))}" == "3",
        lambda x: "3" in f"{round(_noisy(x))}",
        lambda x: f"{_noisy(x)}"[:3],
        lambda x: f"{_noisy(x) > 0}",
        lambda x: isinstance(f"{round(_noisy(x))}", str),
        lambda x: 2 * f"{round(_noisy(x))} ",
    ],
)
def test_what_is_asked_of_a_text_is_refused(mechanism: Callable[..., Any]) -> None:
    with pytest.raises((NoText, RandomTruth), match="no text"):
        dpest.estimate(mechanism, (1, 2), method="exact")


def test_what_is_printed_and_logged_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def talkative(x: float) -> float:
        noisy = _noisy(x)
        print("noisy:", noisy, [noisy], {"x": noisy})
        print(f"noisy: {noisy:.2f}", file=sys.stderr)
        _LOG.debug("noisy %s", noisy)
        return float(noisy)

    r = dpest.estimate(talkative, (1.0, 2.0), method="exact")
    assert r.lower <= 0.5 <= r.upper
    assert capsys.readouterr() == ("", "")
    talkative(1.0)
    assert "noisy: " in capsys.readouterr().out


def test_an_output_that_may_be_a_text_or_a_number() -> None:
    r = dpest.estimate(lambda x: f"n = {_noisy(x)}" if random.random() < 0.5 else round(_noisy(x)), (1, 2), method="exact")
    assert r.lower <= 0.5 <= r.upper


def test_texts_of_different_wording_are_different_outputs() -> None:
    def says(x: int) -> str:
        noisy = round(_noisy(0))
        return f"above: {noisy}" if x else f"below: {noisy}"

    assert math.isinf(dpest.estimate(says, (0, 1), method="exact").lower)
    with pytest.raises(ExactRefused, match="in two ways"):
        dpest.estimate(lambda x: f"n: {round(_noisy(0))}" if x else "n: 7", (0, 1), method="exact")


def test_a_text_beside_one_of_several_strings() -> None:
    def says(x: int) -> str:
        if random.random() < 0.5:
            return f"{round(_noisy(x))} people"
        return "3 people" if _noisy(x) > 2 else "none"

    with pytest.raises(ExactRefused, match="in two ways"):
        dpest.estimate(says, (1, 2), method="exact")


def test_minus_zero_behind_the_point_is_told_from_zero() -> None:
    r = dpest.estimate(lambda x: str(round(x + random.uniform(0, 1), 1)), (-0.03, -0.01), method="exact")
    # "-0.0" has the values below zero: 3 % of them, and 1 %
    assert r.lower <= math.log(3) <= r.upper
    assert math.isinf(r.lower) or r.upper - r.lower < 1e-9


@pytest.mark.parametrize(
    "mechanism", [lambda x: int(f"{_noisy(x):.1f}"), lambda x: float(f"{_noisy(x):.1%}"), lambda x: float(f"n{_noisy(x)}")]
)
def test_texts_that_are_no_numbers_are_not_read_as_numbers(mechanism: Callable[..., Any]) -> None:
    with pytest.raises(DpestError, match="no text"):
        dpest.estimate(mechanism, (41, 42), method="exact")
