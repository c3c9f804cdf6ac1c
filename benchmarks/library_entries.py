"""Functions of other projects' libraries, each with a pair, its claim, and what a maintainer should know.

The source of each function below is the reproducer that the page shows, so each stands alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpest.inputs.pairs import Pair

Mechanism = Callable[[Any], Any]


@dataclass(frozen=True)
class Entry:
    """A library's function, the pair, its claim, what was seen before, and a sentence for its maintainers."""

    library: str
    name: str
    make: Callable[[], Mechanism]
    pair: Any
    claim: float
    samples: int = 4000
    delta: float = 0.0
    values: str = "not refuted"  # the verdict on the values that the tests expect
    bits: str | None = None  # that on the representation; None where it is not asked, or follows from that on the values
    why: str = ""


def diffprivlib_laplace() -> Mechanism:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, delta=0, sensitivity=1)
    return lambda x: float(mechanism.randomise(x))


def diffprivlib_gaussian() -> Mechanism:
    from diffprivlib.mechanisms import GaussianAnalytic

    mechanism = GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1)
    return lambda x: float(mechanism.randomise(x))


def diffprivlib_snapping() -> Mechanism:
    from diffprivlib.mechanisms import Snapping

    mechanism = Snapping(epsilon=1, sensitivity=1, lower=-10.0, upper=10.0)
    return lambda x: float(mechanism.randomise(x))


def diffprivlib_geometric() -> Mechanism:
    from diffprivlib.mechanisms import Geometric

    mechanism = Geometric(epsilon=1, sensitivity=1)
    return lambda x: int(mechanism.randomise(int(x)))


def diffprivlib_nanmean() -> Mechanism:
    from diffprivlib.tools import nanmean

    return lambda x: float(nanmean(x, epsilon=1, bounds=(0, 1)))


def diffprivlib_nanvar() -> Mechanism:
    from diffprivlib.tools import nanvar

    return lambda x: float(nanvar(x, epsilon=1, bounds=(0, 1)))


def diffprivlib_regression() -> Mechanism:
    from diffprivlib.models import LinearRegression

    def slope(x: Any) -> float:
        model = LinearRegression(epsilon=1, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False)
        return float(model.fit(np.reshape(x, (-1, 1)), np.zeros(len(x))).coef_[0])

    return slope


def diffprivlib_bayes() -> Mechanism:
    from diffprivlib.models import GaussianNB

    def classes(y: Any) -> list[float]:
        model = GaussianNB(epsilon=1, bounds=(0, 1)).fit(np.zeros((len(y), 1)), np.array(y))
        return [float(x) for x in model.theta_.ravel()]

    return classes


def diffprivlib_kmeans() -> Mechanism:
    from diffprivlib.models import KMeans

    def centres(x: Any) -> list[float]:
        model = KMeans(n_clusters=2, epsilon=0.1, bounds=(0, 1)).fit(np.reshape(x, (-1, 1)))
        return sorted(float(c) for c in model.cluster_centers_.ravel())

    return centres


def opendp_laplace() -> Mechanism:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    return lambda x: float(mechanism(x))


def opendp_gaussian() -> Mechanism:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    mechanism = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=4.0)
    return lambda x: float(mechanism(x))


def pydp_laplace() -> Mechanism:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    return lambda x: float(mechanism.add_noise(x))


def pydp_gaussian() -> Mechanism:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    mechanism = GaussianMechanism(epsilon=1.0, delta=1e-5, sensitivity=1.0)
    return lambda x: float(mechanism.add_noise(x))


def nvflare_svt() -> Mechanism:
    from nvflare.apis.dxo import DXO, DataKind
    from nvflare.apis.fl_context import FLContext
    from nvflare.apis.shareable import Shareable
    from nvflare.app_common.filters.svt_privacy import SVTPrivacy

    def filtered(weights: Any) -> list[float]:
        layer = SVTPrivacy(fraction=0.2, epsilon=0.5, gamma=1.0, tau=0.5, epsilon_release=0.5, replace=False)
        layer.logger.disabled = True
        dxo = DXO(DataKind.WEIGHT_DIFF, data={"layer": np.array(weights)})
        return [float(x) for x in layer.process_dxo(dxo, Shareable(), FLContext()).data["layer"]]

    return filtered


def nvflare_scalar() -> Mechanism:
    from nvflare.apis.dxo import DXO, DataKind
    from nvflare.apis.fl_context import FLContext
    from nvflare.apis.shareable import Shareable
    from nvflare.app_common.filters.svt_privacy import SVTPrivacy

    def filtered(weight: Any) -> float:
        layer = SVTPrivacy(fraction=0.5, epsilon=0.5, gamma=1.0, tau=0.5, epsilon_release=0.5)
        layer.logger.disabled = True
        dxo = DXO(DataKind.WEIGHT_DIFF, data={"scale": np.float64(weight), "layer": np.zeros(3)})
        return float(layer.process_dxo(dxo, Shareable(), FLContext()).data["scale"])

    return filtered


ONE = (0.0, 1.0)
NAN = float("nan")
NAIVE = (
    "the noise is a double that is added to the value, and the sum keeps the grid of the larger of the two, so that "
    "its lowest bits tell values apart. A remedy is to draw on a grid (as OpenDP does) or to snap the sum to one."
)
# One value replaced, or one more record; the rest of each data set is the same.
MOSTLY_NAN = Pair("replace", [0.0, NAN, NAN, NAN], [1.0, NAN, NAN, NAN])
TWO_OF_SIXTEEN = Pair("replace", [0.0, 1.0] + [NAN] * 14, [0.0, 0.0] + [NAN] * 14)

ENTRIES = (
    Entry("diffprivlib", "mechanisms.Laplace", diffprivlib_laplace, ONE, 1.0, bits="violated", why=NAIVE),
    Entry("diffprivlib", "mechanisms.GaussianAnalytic", diffprivlib_gaussian, ONE, 1.0, 20_000, 1e-5, bits="violated", why=NAIVE),
    Entry("diffprivlib", "mechanisms.Snapping", diffprivlib_snapping, ONE, 1.0),
    Entry("diffprivlib", "mechanisms.Geometric", diffprivlib_geometric, ONE, 1.0),
    Entry(
        "diffprivlib",
        "tools.nanmean",
        diffprivlib_nanmean,
        MOSTLY_NAN,
        1.0,
        1500,
        values="violated",
        why="the mean is taken over the values that are no NaN, the noise is scaled for the number of all values. With "
        "three of four values NaN, replacing the fourth moves the mean by 1 where the noise expects 1/4: a loss of 4 "
        "where 1 is claimed. A remedy is to scale by the number of values that are left (and to treat it as public), "
        "or to count NaN as a value.",
    ),
    Entry(
        "diffprivlib",
        "tools.nanvar",
        diffprivlib_nanvar,
        TWO_OF_SIXTEEN,
        1.0,
        1500,
        values="violated",
        why="as with nanmean: the variance of two values moves by 1/4 where the noise, scaled for sixteen, expects "
        "15/256.",
    ),
    Entry(
        "diffprivlib",
        "models.LinearRegression",
        diffprivlib_regression,
        Pair("replace", [0.1, 0.1], [1.0, 0.1]),
        1.0,
        400,
        values="violated",
        why="the sensitivity of the sum of squares of a feature takes the lower bound twice (`[bounds_X[0][i], "
        "bounds_X[0][i]]`): with bounds (0, 1) it is 0, and the sum is used without noise. The second entry should be "
        "`bounds_X[1][i]`.",
    ),
    Entry(
        "diffprivlib",
        "models.GaussianNB",
        diffprivlib_bayes,
        Pair("replace", [0, 0, 1], [0, 0, 0]),
        1.0,
        300,
        values="violated",
        why="the classes are those that occur in the data, without noise: whether the only record of a class is there "
        "shows in the shape of the model. A remedy is to take the classes as an argument, as `partial_fit` does.",
    ),
    Entry(
        "diffprivlib",
        "models.KMeans",
        diffprivlib_kmeans,
        Pair("one record more", [0.0, 0.0], [0.0, 0.0, 1.0]),
        0.1,
        600,
        values="violated",
        why="a cluster without records is skipped: its centre stays where it was drawn, without noise, and never near the "
        "bounds, so that the centres tell whether a record is there. A remedy is to add noise to the count and the "
        "sum of every cluster.",
    ),
    Entry("OpenDP", "make_laplace", opendp_laplace, ONE, 1.0, bits="not refuted"),
    Entry("OpenDP", "make_gaussian", opendp_gaussian, ONE, 1.0, 3000, 1e-5, bits="not refuted"),
    Entry("python-dp", "LaplaceMechanism", pydp_laplace, ONE, 1.0, bits="not refuted"),
    Entry("python-dp", "GaussianMechanism", pydp_gaussian, ONE, 1.0, 40_000, 1e-5, bits="violated", why=NAIVE),
    Entry("nvflare", "SVTPrivacy", nvflare_svt, ([0.0] * 5, [1.0] + [0.0] * 4), 1.0, 1000, bits="not refuted"),
    Entry(
        "nvflare",
        "SVTPrivacy, a scalar weight",
        nvflare_scalar,
        ONE,
        1.0,
        200,
        values="violated",
        why="weights without dimensions are handed on as they are. The filter's ledger says that they are not protected; "
        "a total that counts them as protected, or a model whose scalars are private, should be refused.",
    ),
)
