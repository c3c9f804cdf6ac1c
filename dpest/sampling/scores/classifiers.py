"""Classifiers as attacks: logistic regression, boosted trees, a small network, or any scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpest.errors import InvalidInput, MissingExtra, UnknownName
from dpest.sampling.runs.outputs import Batch, Matrix, digest, symbol_bits

NAMES = ("logistic", "trees", "network")


@dataclass(frozen=True, eq=False)
class Vector:
    """Outputs as standardised numbers: each column, and an indicator for each symbol that a column takes."""

    width: int
    flags: tuple[tuple[int, str], ...]
    mean: Matrix
    scale: Matrix

    def read(self, batch: Batch) -> Matrix:
        """The features of each output."""
        return np.asarray((_raw(batch.resized(self.width), self.flags) - self.mean) / self.scale)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "width": self.width,
            "flags": [list(f) for f in self.flags],
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Vector:
        """The inverse of `to_dict`."""
        flags = tuple((int(j), str(name)) for j, name in data["flags"])
        return cls(data["width"], flags, np.array(data["mean"]), np.array(data["scale"]))


def learn_vector(left: Batch, right: Batch) -> Vector:
    """The features that fit these outputs."""
    names = {**left.names, **right.names}
    flags = []
    for j in range(left.width):
        present = np.unique(np.concatenate([symbol_bits(b.values[np.isnan(b.values[:, j]), j]) for b in (left, right)]))
        flags += [(j, names[int(d)]) for d in present if int(d) in names]
    raw = np.concatenate([_raw(b, tuple(flags)) for b in (left, right)])
    spread = raw.std(axis=0)
    return Vector(left.width, tuple(flags), raw.mean(axis=0), np.where(spread > 0, spread, 1.0))


def _raw(batch: Batch, flags: tuple[tuple[int, str], ...]) -> Matrix:
    numbers = np.nan_to_num(batch.values, nan=0.0)
    marks = [np.isnan(batch.values[:, j]) & (symbol_bits(batch.values[:, j]) == digest(name)) for j, name in flags]
    return np.column_stack([numbers, *marks]) if marks else numbers


@dataclass(frozen=True, eq=False)
class Network:
    """Layers of weights with ReLU between; one layer is a logistic regression."""

    vector: Vector
    layers: tuple[tuple[Matrix, Matrix], ...]

    def score(self, batch: Batch) -> Matrix:
        """The log odds of the first input; not squashed, so that nothing is rounded away."""
        x = self.vector.read(batch)
        for place, (weights, shift) in enumerate(self.layers):
            x = x @ weights + shift
            if place + 1 < len(self.layers):
                x = np.maximum(x, 0.0)
        return np.asarray(x[:, 0])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"vector": self.vector.to_dict(), "layers": [[w.tolist(), b.tolist()] for w, b in self.layers]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Network:
        """The inverse of `to_dict`."""
        layers = tuple((np.array(w), np.array(b)) for w, b in data["layers"])
        return cls(Vector.from_dict(data["vector"]), layers)


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum of decision trees: per tree the columns (feature, threshold, left, right, value), leaves have left = 0."""

    vector: Vector
    trees: tuple[Matrix, ...]

    def score(self, batch: Batch) -> Matrix:
        """The log odds of the first input."""
        x = self.vector.read(batch)
        total = np.zeros(len(batch))
        for tree in self.trees:
            total += _walk(tree, x)
        return total

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"vector": self.vector.to_dict(), "trees": [t.tolist() for t in self.trees]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trees:
        """The inverse of `to_dict`."""
        return cls(Vector.from_dict(data["vector"]), tuple(np.array(t) for t in data["trees"]))


def _walk(tree: Matrix, x: Matrix) -> Matrix:
    node = np.zeros(len(x), dtype=np.int64)
    rows = np.arange(len(x))
    inner = tree[node, 2] > 0
    while inner.any():
        here = tree[node[inner]]
        goes_left = x[rows[inner], here[:, 0].astype(np.int64)] <= here[:, 1]
        node[inner] = np.where(goes_left, here[:, 2], here[:, 3]).astype(np.int64)
        inner = tree[node, 2] > 0
    return np.asarray(tree[node, 4])


@dataclass(frozen=True, eq=False)
class Estimator:
    """Any other scikit-learn estimator: it scores, but it is not data, so its event has no JSON."""

    vector: Vector
    model: Any

    def score(self, batch: Batch) -> Matrix:
        """The log odds, or the decision function where there is one."""
        x = self.vector.read(batch)
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(x), dtype=np.float64)
        chance = self.model.predict_proba(x)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chance[:, 1]) - np.log(chance[:, 0]))


Classifier = Network | Trees | Estimator


def fit_classifier(kind: Any, left: Batch, right: Batch) -> Classifier:
    """Train a classifier that tells the outputs of two inputs apart: one of "logistic", "trees", "network", or an estimator."""
    _need_sklearn()
    vector = learn_vector(left, right)
    x = np.concatenate([vector.read(left), vector.read(right)])
    y = np.concatenate([np.ones(len(left), dtype=np.int64), np.zeros(len(right), dtype=np.int64)])
    match kind:
        case "logistic":
            return _logistic(vector, x, y)
        case "trees":
            return _trees(vector, x, y)
        case "network":
            return _network(vector, x, y)
        case str():
            raise UnknownName(f"no classifier is called {kind!r}: choose one of {', '.join(NAMES)}, or give an estimator")
    if not hasattr(kind, "fit") or not (hasattr(kind, "predict_proba") or hasattr(kind, "decision_function")):
        raise InvalidInput(f"a classifier needs fit and predict_proba or decision_function, got {kind!r}")
    from sklearn.base import clone

    return Estimator(vector, clone(kind).fit(x, y))


def _logistic(vector: Vector, x: Matrix, y: NDArray[np.int64]) -> Network:
    from sklearn.linear_model import LogisticRegression

    # The penalty is on the sum over the samples, so it vanishes as they grow; Newton converges whatever their number.
    model = LogisticRegression(solver="newton-cholesky", C=1e6, tol=1e-8, max_iter=200).fit(x, y)
    return Network(vector, ((np.asarray(model.coef_.T), np.asarray(model.intercept_)),))


def _network(vector: Vector, x: Matrix, y: NDArray[np.int64]) -> Network:
    from sklearn.neural_network import MLPClassifier

    # A fixed number of gradient steps rather than of passes: few samples are passed over more often.
    passes = max(4, 2_000_000 // len(x))
    model = MLPClassifier(
        (10, 5),
        batch_size=min(2048, len(x)),
        learning_rate_init=5e-3,
        max_iter=passes,
        n_iter_no_change=passes,
        tol=0.0,
        random_state=0,
    )
    with warnings.catch_warnings():
        # That the steps are spent is what was asked for.
        warnings.simplefilter("ignore")
        model.fit(x, y)
    return Network(vector, tuple(zip(model.coefs_, model.intercepts_, strict=True)))


def _trees(vector: Vector, x: Matrix, y: NDArray[np.int64]) -> Trees:
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=15, min_samples_leaf=200 if len(x) > 20_000 else 20, early_stopping=False, random_state=0
    ).fit(x, y)
    trees = []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        inner = np.where(leaf, 0, nodes["left"])
        trees.append(
            np.column_stack(
                [nodes["feature_idx"], nodes["num_threshold"], inner, np.where(leaf, 0, nodes["right"]), nodes["value"]]
            ).astype(np.float64)
        )
    return Trees(vector, tuple(trees))


def _need_sklearn() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingExtra("this attack trains a classifier: pip install scikit-learn") from error
