"""Tables and lines of random values that are written to a buffer tell what the values tell."""

from __future__ import annotations

import csv
import io
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpest
from dpest.errors import NoText

RNG = np.random.default_rng()
PAIR = ({"ulm": 3, "bonn": 1}, {"ulm": 4, "bonn": 1})


def _rows(table: dict[str, int]) -> Any:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["city", "count"])
    for city, count in table.items():
        writer.writerow([city, max(0, count + int(RNG.geometric(0.5)) - int(RNG.geometric(0.5)))])
    return buffer.getvalue()


def _named_rows(table: dict[str, int]) -> Any:
    with io.StringIO(newline="") as buffer:
        writer = csv.DictWriter(buffer, fieldnames=["city", "count"], delimiter=";")
        writer.writeheader()
        writer.writerows({"city": c, "count": round(n + random.expovariate(1) - random.expovariate(1))} for c, n in table.items())
        return buffer.getvalue()


def _printed(table: dict[str, int]) -> Any:
    buffer = io.StringIO()
    for city, count in table.items():
        print(city, count + RNG.laplace(0, 2.0), sep=": ", file=buffer)
    return buffer.getvalue()


def _written(table: dict[str, int]) -> Any:
    buffer = io.StringIO("", None)
    for city, count in table.items():
        buffer.write(f"{city}={count + RNG.laplace(0, 4.0):.1f}\n")
    buffer.writelines(["the", "end"])
    return buffer.getvalue()


def _same_noise_twice(table: dict[str, int]) -> Any:
    """Broken: the difference of both cells is the difference of the data."""
    noise = random.expovariate(1) - random.expovariate(1)
    csv.writer(buffer := io.StringIO()).writerow([n + noise for n in table.values()])
    return buffer.getvalue()


def _without_noise(table: dict[str, int]) -> Any:
    csv.writer(buffer := io.StringIO()).writerows([["total", sum(table.values()) // 10], ["noise", RNG.laplace()]])
    return buffer.getvalue()


# The losses are those of the noise: a count moves by one, and the text is one to one in the numbers.
CASES: list[tuple[Callable[[Any], Any], float]] = [
    (_rows, math.log(2)),
    (_named_rows, 1.0),
    (_printed, 0.5),
    (_written, 0.25),
    (_same_noise_twice, math.inf),
    (_without_noise, 0.0),
]


@pytest.mark.parametrize(("mechanism", "truth"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_what_is_written_tells_what_the_values_tell(mechanism: Callable[[Any], Any], truth: float) -> None:
    found = dpest.estimate(mechanism, PAIR, method="exact")
    assert found.lower <= truth <= found.upper
    assert found.lower == found.upper or math.isclose(found.lower, found.upper, rel_tol=1e-9)


def _quoted(table: dict[str, int]) -> Any:
    writer = csv.writer(buffer := io.StringIO(), quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([table["ulm"] + RNG.laplace()])
    return buffer.getvalue()


def _odd_delimiter(table: dict[str, int]) -> Any:
    csv.writer(buffer := io.StringIO(), delimiter="-").writerow([table["ulm"], RNG.laplace()])
    return buffer.getvalue()


def _read_back(table: dict[str, int]) -> Any:
    buffer = io.StringIO()
    buffer.write(f"{table['ulm'] + RNG.laplace():.2f}")
    buffer.seek(0)
    return buffer.read()


@pytest.mark.parametrize("mechanism", [_quoted, _odd_delimiter, _read_back])
def test_what_depends_on_the_digits_is_refused(mechanism: Callable[[Any], Any]) -> None:
    with pytest.raises(NoText):
        dpest.estimate(mechanism, PAIR, method="exact")
