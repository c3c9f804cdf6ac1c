"""Choosing the best candidate: the exponential mechanism and its relatives."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

import mpmath as mp
import numpy as np

from benchmarks.coverage.case import Case
from benchmarks.coverage.reference import laplace_cdf, laplace_pdf, loss, of_lists, phi, softmax, winners

# ---- the mechanisms ----


def exponential_mechanism(votes, rng: np.random.Generator, epsilon=1.0):
    candidates = list(votes)
    scores = np.array([votes[c] for c in candidates])
    weights = np.exp(epsilon * scores / 2)
    return rng.choice(candidates, p=weights / weights.sum())


def exponential_with_choices(scores, epsilon=1.0):
    top = max(scores)
    weights = [math.exp(epsilon * (s - top) / 2) for s in scores]
    return random.choices(range(len(scores)), weights=weights)[0]


def exponential_inverse_cdf(scores, epsilon=1.0):
    weights = [math.exp(epsilon * s / 2) for s in scores]
    u = random.random() * sum(weights)
    total = 0.0
    for i, w in enumerate(weights):
        total += w
        if u <= total:
            return i
    return len(scores) - 1


def exponential_searchsorted(scores, rng: np.random.Generator, epsilon=1.0):
    p = np.exp(epsilon * np.asarray(scores) / 2)
    return int(np.searchsorted(np.cumsum(p / p.sum()), rng.random()))


def gumbel_max(scores, rng: np.random.Generator, epsilon=1.0):
    noisy = epsilon * np.asarray(scores) / 2 + rng.gumbel(size=len(scores))
    return int(np.argmax(noisy))


def noisy_max_laplace(counts, rng: np.random.Generator, epsilon=1.0):
    return np.argmax(np.asarray(counts) + rng.laplace(scale=2 / epsilon, size=len(counts)))


def noisy_max_exponential(counts, epsilon=1.0):
    best, best_value = None, -math.inf
    for i, count in enumerate(counts):
        value = count + random.expovariate(epsilon / 2)
        if value > best_value:
            best, best_value = i, value
    return best


def noisy_min(distances, rng: np.random.Generator, epsilon=1.0):
    noisy = [d + rng.laplace(0, 2 / epsilon) for d in distances]
    return noisy.index(min(noisy))


def noisy_vote_by_key(votes, rng: np.random.Generator, gamma=0.5):
    noisy = {label: n + rng.laplace(0, 1 / gamma) for label, n in votes.items()}
    return max(noisy, key=noisy.get)


def permute_and_flip(scores, rng: np.random.Generator, epsilon=1.0):
    best = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() <= math.exp(epsilon / 2 * (scores[i] - best)):
            return int(i)


def permute_and_flip_list(scores, epsilon=1.0):
    remaining = list(range(len(scores)))
    best = max(scores)
    while True:
        i = remaining.pop(random.randrange(len(remaining)))
        if random.random() < math.exp(epsilon * (scores[i] - best) / 2):
            return i


def peeling(scores, rng: np.random.Generator, k=2, epsilon=1.0):
    left = list(range(len(scores)))
    chosen = []
    for _ in range(k):
        w = np.exp(epsilon / (2 * k) * np.array([scores[i] for i in left]))
        j = rng.choice(len(left), p=w / w.sum())
        chosen.append(left.pop(j))
    return chosen


def top_k_gumbel(scores, rng: np.random.Generator, k=2, epsilon=1.0):
    noisy = np.asarray(scores) + rng.gumbel(scale=2 * k / epsilon, size=len(scores))
    return list(np.argsort(-noisy)[:k])


def top_k_laplace(counts, rng: np.random.Generator, k=2, epsilon=1.0):
    noisy = np.asarray(counts) + rng.laplace(scale=2 * k / epsilon, size=len(counts))
    return set(np.argsort(noisy)[-k:].tolist())


def noisy_max_with_gap(counts, rng: np.random.Generator, epsilon=1.0):
    noisy = [c + rng.laplace(scale=2 / epsilon) for c in counts]
    order = sorted(range(len(counts)), key=lambda i: noisy[i], reverse=True)
    return order[0], noisy[order[0]] - noisy[order[1]]


def select_then_measure(counts, rng: np.random.Generator, epsilon=1.0):
    weights = np.exp(epsilon / 4 * np.asarray(counts))
    i = rng.choice(len(counts), p=weights / weights.sum())
    return i, counts[i] + rng.laplace(0, 2 / epsilon)


def random_stopping(quality, rng: np.random.Generator, gamma=0.2):
    """quality: the law of the score that one run of the base mechanism has."""
    best = -1
    while True:
        score = rng.choice(3, p=quality)
        if score > best:
            best = score
        if rng.random() < gamma:
            return int(best)


def lnmax(votes, rng: np.random.Generator, gamma=0.5):
    """Votes: the label that each teacher predicts."""
    counts = np.bincount(votes, minlength=3)
    return int(np.argmax(counts + rng.laplace(0, 1 / gamma, size=3)))


def confident_gnmax(counts, rng: np.random.Generator, threshold=4.0, sigma1=2.0, sigma2=1.0):
    if max(counts) + rng.normal(0, sigma1) < threshold:
        return None
    return int(np.argmax(np.asarray(counts) + rng.normal(0, sigma2, size=len(counts))))


def noisy_max_geometric(counts, rng: np.random.Generator, epsilon=1.0):
    p = 1 - math.exp(-epsilon / 2)
    noisy = [c + int(rng.geometric(p)) - int(rng.geometric(p)) for c in counts]
    return noisy.index(max(noisy))


@dataclass
class ExponentialMechanism:
    """A mechanism object of a library: parameters are fields, `randomise` draws."""

    epsilon: float
    sensitivity: float = 1.0

    def randomise(self, scores):
        scale = self.epsilon / (2 * self.sensitivity)
        utilities = [scale * s for s in scores]
        shift = max(utilities)
        weights = [math.exp(u - shift) for u in utilities]
        u = random.random() * math.fsum(weights)
        for i, w in enumerate(weights):
            u -= w
            if u <= 0:
                return i
        return len(scores) - 1


# ---- the truth ----

SCORES = ([3, 2, 0], [2, 3, 1])
VOTES = ({"a": 3, "b": 2, "c": 0}, {"a": 2, "b": 3, "c": 1})


def _exponential(scale: float = 0.5) -> float:
    return of_lists(*(softmax([scale * s for s in x]) for x in SCORES))


def _noisy_max(b: float, pair=SCORES) -> float:
    return of_lists(*(winners(x, lambda y: laplace_pdf(y, b), lambda y: laplace_cdf(y, b)) for x in pair))


def _permute_and_flip() -> float:
    def law(scores):
        out = dict.fromkeys(range(len(scores)), 0.0)
        accept = [math.exp((s - max(scores)) / 2) for s in scores]
        orders = list(itertools.permutations(range(len(scores))))
        for order in orders:
            left = 1 / len(orders)
            for i in order:
                out[i] += left * accept[i]
                left *= 1 - accept[i]
        return out

    return loss(*map(law, SCORES))


def _peeled(scale: float) -> float:
    def law(scores):
        w = [math.exp(scale * s) for s in scores]
        n = range(len(w))
        return {(i, j): w[i] / sum(w) * w[j] / (sum(w) - w[i]) for i in n for j in n if i != j}

    return loss(*map(law, SCORES))


def _laplace_top_two(b: float) -> float:
    def missing(centres):  # the set of the two largest of three: who comes last
        return winners([-c for c in centres], lambda y: laplace_pdf(y, b), lambda y: laplace_cdf(y, b))

    return of_lists(*map(missing, SCORES))


def _select_then_measure() -> float:
    p, q = (softmax([s / 4 for s in x]) for x in SCORES)
    moved = [abs(a - b) / 2 for a, b in zip(*SCORES, strict=True)]
    return max(abs(math.log(a / b)) + d for a, b, d in zip(p, q, moved, strict=True))


QUALITY = ([0.5, 0.3, 0.2], [0.3, 0.3, 0.4])


def _random_stopping(gamma: float = 0.2) -> float:
    def law(quality):
        f = [sum(quality[: k + 1]) for k in range(3)]
        at_most = [gamma * x / (1 - (1 - gamma) * x) for x in f]
        return [at_most[0], at_most[1] - at_most[0], at_most[2] - at_most[1]]

    return of_lists(*map(law, QUALITY))


GNMAX = ([4, 2, 1], [3, 3, 1])


def _gnmax() -> float:
    def law(counts):
        answered = 1 - phi((4 - max(counts)) / 2)
        return [1 - answered, *(answered * w for w in winners(counts, mp.npdf, mp.ncdf))]

    return of_lists(*map(law, GNMAX))


def _geometric_max() -> float:
    def law(counts):
        a = math.exp(-0.5)
        span = range(-130, 135)
        pmf = [[(1 - a) / (1 + a) * a ** abs(k - c) for k in span] for c in counts]
        below = [np.concatenate([[0.0], np.cumsum(x)[:-1]]) for x in pmf]
        upto = [np.cumsum(x) for x in pmf]
        out = []
        for i in range(len(counts)):
            others = [below[j] if j < i else upto[j] for j in range(len(counts)) if j != i]
            out.append(float(np.sum(np.array(pmf[i]) * np.prod(others, axis=0))))
        return out

    return of_lists(*map(law, SCORES))


LIBRARY = ExponentialMechanism(1.0)
CASES = (
    Case(
        "exponential mechanism, returns the candidate",
        "McSherry and Talwar 2007",
        exponential_mechanism,
        VOTES,
        _exponential,
        "closed form",
    ),
    Case(
        "exponential mechanism, random.choices",
        "McSherry and Talwar 2007",
        exponential_with_choices,
        SCORES,
        _exponential,
        "closed form",
    ),
    Case(
        "exponential mechanism, inverse cdf loop",
        "McSherry and Talwar 2007",
        exponential_inverse_cdf,
        SCORES,
        _exponential,
        "closed form",
    ),
    Case(
        "exponential mechanism, searchsorted",
        "McSherry and Talwar 2007",
        exponential_searchsorted,
        SCORES,
        _exponential,
        "closed form",
    ),
    Case(
        "exponential mechanism, a library's class",
        "McSherry and Talwar 2007",
        LIBRARY.randomise,
        SCORES,
        _exponential,
        "closed form",
    ),
    Case("exponential mechanism by Gumbel noise", "Durfee and Rogers 2019", gumbel_max, SCORES, _exponential, "closed form"),
    Case("report noisy max, Laplace", "Dwork and Roth 2014", noisy_max_laplace, SCORES, lambda: _noisy_max(2), "integral"),
    Case(
        "report noisy max, exponential noise",
        "Ding, Kifer et al. 2021",
        noisy_max_exponential,
        SCORES,
        _permute_and_flip,
        "enumeration",
    ),
    Case(
        "report noisy min, list.index",
        "Dwork and Roth 2014",
        noisy_min,
        SCORES,
        lambda: _noisy_max(2, tuple([-s for s in x] for x in SCORES)),
        "integral",
    ),
    Case("noisy vote, max of a dict by key", "Dwork and Roth 2014", noisy_vote_by_key, VOTES, lambda: _noisy_max(2), "integral"),
    Case("permute-and-flip", "McKenna and Sheldon 2020", permute_and_flip, SCORES, _permute_and_flip, "enumeration"),
    Case(
        "permute-and-flip with a list",
        "McKenna and Sheldon 2020",
        permute_and_flip_list,
        SCORES,
        _permute_and_flip,
        "enumeration",
    ),
    Case("peeling, k = 2", "Hardt and Roth 2013", peeling, SCORES, lambda: _peeled(0.25), "closed form"),
    Case("one-shot top-k, Gumbel", "Durfee and Rogers 2019", top_k_gumbel, SCORES, lambda: _peeled(0.25), "closed form"),
    Case(
        "one-shot top-k, Laplace, a set",
        "Qiao, Su and Zhang 2021",
        top_k_laplace,
        SCORES,
        lambda: _laplace_top_two(4),
        "integral",
    ),
    Case("noisy max with gap, n = 2", "Ding, Wang et al. 2019", noisy_max_with_gap, ([3, 2], [2, 3]), lambda: 1.0, "closed form"),
    Case("select, then measure", "McKenna et al. 2021", select_then_measure, SCORES, _select_then_measure, "closed form"),
    Case(
        "private selection with random stopping", "Liu and Talwar 2019", random_stopping, QUALITY, _random_stopping, "closed form"
    ),
    Case(
        "PATE, LNMax on teachers' votes",
        "Papernot et al. 2017",
        lnmax,
        ([0, 0, 0, 1, 1], [1, 0, 0, 1, 1]),
        lambda: _noisy_max(2, ([3, 2, 0], [2, 3, 0])),
        "integral",
    ),
    Case("PATE, Confident-GNMax", "Papernot et al. 2018", confident_gnmax, GNMAX, _gnmax, "integral"),
    Case(
        "report noisy max, discrete Laplace with ties",
        "Ghosh et al. 2012",
        noisy_max_geometric,
        SCORES,
        _geometric_max,
        "enumeration",
    ),
)
