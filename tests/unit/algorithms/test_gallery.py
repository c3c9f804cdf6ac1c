"""The gallery: names, claims, doors and refusals."""

from __future__ import annotations

import importlib
import inspect

import pytest

import dpest.algorithms
from dpest.algorithms import Algorithm, find, gallery
from dpest.algorithms.bloom import bloom_bits
from dpest.errors import InvalidInput, UnknownName
from tests.oracles.gallery import LOSS, largest, pairs
from tests.oracles.gallery import bloom_bits as oracle_bits

ENTRIES = {entry.name: entry for entry in gallery()}
SIGNATURES = {
    "LaplaceMechanism": "laplace_vec(values, eps=0.1)",
    "LaplaceParallel": "laplace_parallel(values, eps=None, eps_each=0.005, n_parallel=20)",
    "NoisyHist1": "noisy_hist1(values, eps=0.1)",
    "NoisyHist2": "noisy_hist2(values, eps=0.1)",
    "ReportNoisyMax1": "report_noisy_max1(values, eps=0.1)",
    "ReportNoisyMax2": "report_noisy_max2(values, eps=0.1)",
    "ReportNoisyMax3": "report_noisy_max3(values, eps=0.1)",
    "ReportNoisyMax4": "report_noisy_max4(values, eps=0.1)",
    "SVT1": "svt1(queries, eps=0.1, t=0.5, c=1)",
    "SVT2": "svt2(queries, eps=0.1, t=1, c=1)",
    "SVT3": "svt3(queries, eps=0.1, t=1, c=1)",
    "SVT4": "svt4(queries, eps=0.1, t=1, c=1)",
    "SVT5": "svt5(queries, eps=0.1, t=1)",
    "SVT6": "svt6(queries, eps=0.1, t=1)",
    "NumericalSVT": "numerical_svt(queries, eps=0.1, t=1, c=2)",
    "SVT34Parallel": "svt34_parallel(queries, eps=0.1, t=1, c=2)",
    "PrefixSum": "prefix_sum(values, eps=0.1)",
    "OneTimeRAPPOR": "one_time_rappor(values, eps=None, n_hashes=4, filter_size=20, f=0.95)",
    "RAPPOR": "rappor(values, eps=None, n_hashes=4, filter_size=20, f=0.75, p=0.45, q=0.55)",
    "TruncatedGeometric": "truncated_geometric(c, eps=0.1, n=5)",
    "NoisyMaxSum": "noisy_max_sum(values, eps=0.1, split_index=None)",
}


def test_the_gallery_lists_the_21_algorithms() -> None:
    assert list(ENTRIES) == list(SIGNATURES) == list(LOSS)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_the_signature_is_the_documented_one(entry: Algorithm) -> None:
    parameters = [p.replace(annotation=p.empty) for p in inspect.signature(entry.function).parameters.values()]
    shown = ", ".join(str(p) for p in parameters)
    assert f"{entry.function.__name__}({shown})" == SIGNATURES[entry.name]


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_both_import_forms_give_the_function_and_its_law(entry: Algorithm) -> None:
    name = entry.function.__name__
    module = importlib.import_module(f"dpest.algorithms.{name}")
    assert getattr(module, name) is entry.function is getattr(dpest.algorithms, name)
    assert getattr(module, f"{name}_dist") is entry.function._dist_func is getattr(dpest.algorithms, f"{name}_dist")


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_the_claim_is_true_exactly_where_the_oracle_stays_within_it(entry: Algorithm) -> None:
    assert entry.claim_true == (largest(entry.name) <= entry.claim * (1 + 1e-12))
    assert bool(entry.flaw) != entry.claim_true
    assert entry.paper
    assert entry.title.endswith(".")


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=list(ENTRIES))
def test_the_pairs_are_those_of_its_adjacency(entry: Algorithm) -> None:
    def plain(x: object) -> object:
        return tuple(x) if isinstance(x, list) else x

    assert {p.name: (plain(p.left), plain(p.right)) for p in entry.pairs()} == pairs(entry.name)


def test_another_size_and_another_adjacency_can_be_asked_for() -> None:
    assert [p.name for p in ENTRIES["SVT1"].pairs(3, "l1")] == ["one_above", "one_below"]
    assert len(ENTRIES["NoisyHist1"].pairs(4, "linf")) == 7
    assert len(ENTRIES["SVT1"].pairs(3)[0].left) == 3


@pytest.mark.parametrize(
    ("given", "nearest"), [("SVT11", "SVT1"), ("svt_1", "SVT1"), ("ReportNoisyMax", "ReportNoisyMax"), ("rapor", "RAPPOR")]
)
def test_an_unknown_name_gets_the_nearest_match(given: str, nearest: str) -> None:
    with pytest.raises(UnknownName, match=f"no algorithm is called '{given}'; did you mean {nearest}"):
        find(given)


def test_names_are_found_by_title_and_by_function() -> None:
    assert find("SVT1") is find("svt1") is ENTRIES["SVT1"]
    assert find("laplace_vec").name == "LaplaceMechanism"


@pytest.mark.parametrize("value", [0, 1, 2, 17])
def test_the_bloom_filter_sets_the_hashed_bits(value: int) -> None:
    assert {i for i, bit in enumerate(bloom_bits([value], 4, 20)) if bit} == oracle_bits(value)


@pytest.mark.parametrize("eps", [0, -1.0, float("nan"), float("inf"), "0.1"])
def test_a_budget_that_is_no_positive_number_is_refused(eps: object) -> None:
    with pytest.raises(InvalidInput, match="svt1 needs a finite eps > 0"):
        dpest.algorithms.svt1([1.0], eps)


def test_other_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidInput, match="whole number >= 1, got c=0"):
        dpest.algorithms.svt1([1.0], c=0)
    with pytest.raises(InvalidInput, match=r"a count in 0\.\.5, got 6"):
        dpest.algorithms.truncated_geometric(6)
    with pytest.raises(InvalidInput, match="takes one value, got 2"):
        dpest.algorithms.rappor([1, 2])
