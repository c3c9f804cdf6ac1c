"""Audits of other projects' libraries: values and bits, what is refuted and what is clean.

    make .venv-libraries/.ready && .venv-libraries/bin/python benchmarks/audit_libraries.py --page docs/audit_libraries.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dpest
from dpest.errors import DpestError
from dpest.inputs.pairs import Pair


@dataclass(frozen=True)
class Entry:
    """A library's function, the pair, its claim, and what a maintainer should know."""

    library: str
    name: str
    make: Callable[[], Callable[[Any], Any]]
    pair: Any
    claim: float
    samples: int = 4000


def diffprivlib_laplace() -> Callable[[Any], Any]:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, delta=0, sensitivity=1)
    return lambda data: float(mechanism.randomise(data))


def diffprivlib_snapping() -> Callable[[Any], Any]:
    from diffprivlib.mechanisms import Snapping

    mechanism = Snapping(epsilon=1, sensitivity=1, lower=-10.0, upper=10.0)
    return lambda data: float(mechanism.randomise(data))


def diffprivlib_geometric() -> Callable[[Any], Any]:
    from diffprivlib.mechanisms import Geometric

    mechanism = Geometric(epsilon=1, sensitivity=1)
    return lambda data: int(mechanism.randomise(int(data)))


def diffprivlib_nanmean() -> Callable[[Any], Any]:
    from diffprivlib.tools import nanmean

    return lambda data: float(nanmean(data, epsilon=1, bounds=(0, 1)))


def opendp_laplace() -> Callable[[Any], Any]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    return lambda data: float(mechanism(data))


def pydp_laplace() -> Callable[[Any], Any]:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda data: float(mechanism.add_noise(data))


ONE = (0.0, 1.0)
NAN = float("nan")
MOSTLY_NAN = Pair("replace", [0.0, NAN, NAN, NAN], [1.0, NAN, NAN, NAN])  # one value replaced
ENTRIES = (
    Entry("diffprivlib", "mechanisms.Laplace", diffprivlib_laplace, ONE, 1.0),
    Entry("diffprivlib", "mechanisms.Snapping", diffprivlib_snapping, ONE, 1.0),
    Entry("diffprivlib", "mechanisms.Geometric", diffprivlib_geometric, ONE, 1.0),
    Entry("diffprivlib", "tools.nanmean, three of four values NaN", diffprivlib_nanmean, MOSTLY_NAN, 1.0, 2000),
    Entry("OpenDP", "make_laplace", opendp_laplace, ONE, 1.0),
    Entry("python-dp", "LaplaceMechanism", pydp_laplace, ONE, 1.0),
)


FOOT = """
## What is refuted, and why

**diffprivlib, `mechanisms.Laplace`** (bits): the noise is a double that is added to the value, and the sum keeps the grid of
the larger of the two, so that its lowest bits tell the value. A remedy is to draw on a grid (as OpenDP does) or to snap.

    from diffprivlib.mechanisms import Laplace
    mechanism = Laplace(epsilon=1, delta=0, sensitivity=1)
    print(dpest.audit(lambda x: float(mechanism.randomise(x)), (0.0, 1.0), claim=1.0, samples=4000))

**diffprivlib, `tools.nanmean`** (values): the mean is taken over the values that are no NaN, the noise is scaled for the number
of all values. With three of four values NaN, replacing the fourth moves the mean by 1 where the noise expects 1/4: a loss of 4
where 1 is claimed. A remedy is to scale by the number of values that are left, or to count NaN as a value.

    from diffprivlib.tools import nanmean
    nan = float("nan")
    from dpest.inputs.pairs import Pair
    pair = Pair("replace", [0.0, nan, nan, nan], [1.0, nan, nan, nan])
    print(dpest.audit(lambda x: float(nanmean(x, epsilon=1, bounds=(0, 1))), pair, claim=1.0, samples=2000))
"""


def row(entry: Entry) -> str:
    """One audit as a line of the table."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asked = {"claim": entry.claim, "samples": entry.samples, "seed": 7, "confidence": 0.999}
            found = dpest.audit(entry.make(), entry.pair, progress=lambda *_: None, **asked)
    except (DpestError, ImportError) as error:
        return f"| {entry.library} | {entry.name} | {entry.claim:g} | no answer: {type(error).__name__}: {str(error)[:120]} | | |"
    bits = "not asked" if found.bits is None else f"{found.bits.verdict} ({found.bits.lower:.2f})"
    seconds = time.perf_counter() - start
    return (
        f"| {entry.library} | {entry.name} | {entry.claim:g} | {found.verdict} ({found.lower:.2f}) | {bits} | {seconds:.0f} |"
    )


def main() -> None:
    """Audit all entries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    head = [
        "# Other projects' libraries",
        "",
        "What an audit says of noise that is shipped: the verdict on the claim and the bound, for values and for the bits of",
        "outputs, each audit with confidence 0.999. A mechanism whose bits violate the claim adds floating-point noise as it",
        "comes; its values "
        "may be fine. The seconds are those of one run on a busy machine.",
        "",
        "| library | function | claim | values | bits | seconds |",
        "|---|---|---|---|---|---|",
    ]
    lines = []
    for entry in ENTRIES:
        lines.append(row(entry))
        print(lines[-1], flush=True)
    if options.page:
        options.page.write_text("\n".join([*head, *lines, FOOT]))


if __name__ == "__main__":
    main()
