"""Mutation testing of the modules that decide, integrate and bound: small changes of the code, and the tests that should notice.

    python benchmarks/mutants.py --workers 16                        # every module, 14 mutants each, seed 1
    python benchmarks/mutants.py dpest/numerics/binomial.py --sample 60
    python benchmarks/mutants.py --drawn 64 --seed 67                # one each of 64 modules, the larger ones likelier
    python benchmarks/mutants.py --survivors --budget 60             # the survivors again, with more tests
    python benchmarks/mutants.py --write                             # docs/mutants.md from the results so far

The project is copied to temporary folders, so that the working tree stays as it is. Results are written to a file as they come,
and a run goes on where the last one ended; a function that has changed since is tried again. Needs Linux (forks).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mutant_page
import mutating

ROOT = Path(__file__).parents[1]
GROUPS = {
    "decide": {
        "trace": (
            "literal whole atomic resolve states counting turns against_program agreeing beginning calls counts_written effects "
            "explore forks frames functions hidden_randomness identity images kept_state liveness loop_forms masked named_values "
            "nonlinear one_of opened outcomes outputs plain_run polar ranking recursion replay rewrite rounding roundings "
            "samplers settled sides snapshot source stack standing stepped steps_between texts together valuation arrivals coins "
            "comparisons pointwise told_counts unordered"
        ),
        "exact/inference": (
            "cases lattice feasible gaps symmetry case_check choices closed_forms multisets own_draws parabolas separate"
        ),
        "exact/loss": "strata buckets coordinates",
    },
    "integrate": {
        "trace": "series rounds chain chained absorbing",
        "exact/inference": (
            "eliminate convolve factors expressions component asymptotics integral_tails rays stars product_forms ratio "
            "changed direction joint_sums many_stars paths sphere value crossing exponential_tails mixtures sliding_tails"
        ),
        "numerics": "quadrature interval logspace rationals linear binomial maximum simplex elementary links ranges",
        "laws": (
            "asymptote continuous discrete grid images laplace_sum law panels scipy_law scipy_tails stepped uniform_sum wrapped "
            "narrow_spans"
        ),
    },
    "bound": {
        "exact": "processed",
        "exact/loss": (
            "compare supremum proved cover pieces far edges periodic points shift joint line logs parts profile "
            "beside undone cells_of_space blocks compared direction direction_search exponential_shares last_step mass mixed "
            "opened ratio redundant same_value sphere squares tails vectors delta_event far_quotients normed product"
        ),
        "exact/proof": (
            "align checking upper maxima adjacency cells concrete corners cross crossed finite folding gaussian joint likeness "
            "merge parts pieces policy pooling pools presolve programs ranges regions rerun worst"
        ),
        "sampling": "conclude zeros final",
        "sampling/bounds": "cell_sets statement common_noise dependence repeats",
        "curves": (
            "accounting bounded boxes cells contraction curve cuts direct fibres gaussian grid orders pieces root sums tails "
            "transform tree way"
        ),
    },
}
MODULES = {
    f"dpest/{room}/{name}.py": group for group, rooms in GROUPS.items() for room, names in rooms.items() for name in names.split()
}
# The tests that a mutant may be given: all that ask the engine for numbers. Those of texts, pages and commands are left out.
TESTS = ("tests/unit", "tests/regressions", "tests/properties", "tests/contracts", "tests/oracles", "tests/statistics")
TESTS += ("tests/test_tiny.py",)
COPIED = ("dpest", "tests", "benchmarks", "docs", "examples", "pyproject.toml", "Makefile", "CHANGELOG.md")
COPIED += ("README.md", "README.ja.md")


@dataclass(frozen=True)
class Results:
    """What became of each mutant, by its key, in a file that grows."""

    path: Path
    rows: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Results:
        """The results so far."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})

    def put(self, mutant: mutating.Mutant, told: dict[str, Any]) -> None:
        """Adds one and writes the file; what became of it when it was tried for the first time stays in its row."""
        before = self.rows.get(mutant.key)
        again = before is not None and before["digest"] == mutant.digest
        first = before.get("first", before["killed"]) if before is not None and again else told["killed"]
        own = {k: v for k, v in asdict(mutant).items() if k != "place"}
        self.rows[mutant.key] = {**own, **told, "first": first}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.rows, indent=0), encoding="utf-8")
        new.replace(self.path)

    def known(self, mutant: mutating.Mutant, retry: bool) -> bool:
        """Whether this mutant of this code has been tried, and need not be tried again."""
        row = self.rows.get(mutant.key)
        return row is not None and row["digest"] == mutant.digest and (row["killed"] or not retry)


def experiment(todo: list[mutating.Mutant], results: Results, options: argparse.Namespace) -> None:
    """Tries mutants in copies of the project, one for each process."""
    import mutant_workers

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [_copied(Path(folder).resolve() / str(k)) for k in range(min(options.workers, len(todo)))]
        reach = mutant_workers.learned(copies, _test_files(options.tests or TESTS), options.out / "mutants_reach.json")
        start, killed = time.perf_counter(), 0
        for k, (mutant, told) in enumerate(mutant_workers.tried(copies, reach, todo, options.budget), 1):
            results.put(mutant, {**asdict(told), "seed": options.seed})
            killed += told.killed
            if options.verbose or not told.killed:
                said = f"{f'killed by {told.by}' if told.killed else 'survived'} ({told.tests} tests, {told.seconds} s)"
                print(f"{said}  {mutant.module}:{mutant.line}  {mutant.what}", flush=True)
            if k % 20 == 0:
                print(f"  {k} of {len(todo)} tried, {killed} killed, {time.perf_counter() - start:.0f} s", flush=True)


def _copied(there: Path) -> Path:
    """A copy of the project in a new folder."""
    there.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, there / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        elif source.exists():
            shutil.copy2(source, there / name)
    return there


def _test_files(names: Sequence[str]) -> list[str]:
    """The files of tests in these files and folders, by their paths from the root."""
    found = [[ROOT / name] if name.endswith(".py") else sorted((ROOT / name).rglob("test_*.py")) for name in names]
    return [str(path.relative_to(ROOT)) for paths in found for path in paths]


def main() -> None:
    """Tries what has not been tried, then prints the score and the survivors."""
    options = _options()
    options.out = options.out.resolve()
    results = Results.read(options.out / "mutants.json")
    modules = options.modules or list(MODULES)
    possible = {module: mutating.mutants(ROOT, module) for module in modules}
    everything = [m for found in possible.values() for m in mutating.sampled(found, options.sample, options.seed)]
    everything = mutating.drawn(possible.values(), options.drawn, options.seed) if options.drawn else everything
    todo = [m for m in everything if not results.known(m, options.survivors)]
    if todo and not options.write:
        print(f"{len(todo)} of {len(everything)} mutants to try", flush=True)
        experiment(todo, results, options)
    reasons = mutant_page.read_reasons(ROOT / "benchmarks" / "mutants_reasons.toml")
    page = mutant_page.page(results.rows, everything, MODULES, reasons, options.seed)
    print(page)
    if options.write:
        (ROOT / "docs" / "mutants.md").write_text(page, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="paths from the root of the project; all that are listed here by default")
    parser.add_argument("--tests", nargs="+", default=[], help="test files or folders that may notice; by default the engine's")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests (on unchanged code) for one mutant")
    parser.add_argument("--workers", type=int, default=2, help="processes that try mutants side by side")
    parser.add_argument("--sample", type=int, default=14, help="how many mutants of each module to try, at random; 0 for all")
    parser.add_argument(
        "--drawn", type=int, default=0, help="instead: one mutant each of so many modules, drawn from all mutants"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--survivors", action="store_true", help="try survivors again, after new tests or with a larger budget")
    parser.add_argument("--write", action="store_true", help="try nothing, write docs/mutants.md")
    parser.add_argument("--verbose", action="store_true", help="print killed mutants too")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the results so far")
    return parser.parse_args()


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
