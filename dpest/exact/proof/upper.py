"""The upper side: every region of every program is carried to the other input, and the largest cost bounds the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from dpest.errors import BudgetExceeded, ExactRefused, MechanismError
from dpest.exact.inference.cases import MOST_CASES
from dpest.exact.proof.adjacency import Box, Inputs, boxes, unknown_inputs, whole_box
from dpest.exact.proof.cells import by_cell, refined
from dpest.exact.proof.certificate import Certificate, PairKind, ProofStep
from dpest.exact.proof.checking import total
from dpest.exact.proof.cross import apart, cross
from dpest.exact.proof.folding import Known
from dpest.exact.proof.joint import cheaper_step
from dpest.exact.proof.maxima import Maximum, with_maxima
from dpest.exact.proof.merge import contradiction, merged
from dpest.exact.proof.pieces import SplitByPieces
from dpest.exact.proof.policy import cheapest_policy, cost_of
from dpest.exact.proof.pooling import pooled
from dpest.exact.proof.regions import Region, Row, Variables, output_groups, regions
from dpest.exact.proof.storage import digest_of
from dpest.exact.proof.symbols import LIMITS, Symbols, UnknownInput, symbolic_trace
from dpest.lang.words import words
from dpest.laws.law import Law
from dpest.numerics.rationals import ZERO, Rational
from dpest.run.progress import Progress, silent
from dpest.run.settings import Sides
from dpest.trace.explore import Trace
from dpest.trace.limits import Limits

# Combinations of independent outputs up to this many are looked at one by one: the bound is then never looser for it.
_FEW_COMBINATIONS = 400
# Paths up to which those that inputs alone decide are followed one by one as well: cells are exact, and take a linear program
# for each pair of them that meets. With 64 of them a proof takes some seconds.
_FEW_PATHS = 64
_MOST_REPRICED = 300  # regions of largest cost whose shifts are priced as a whole: some hundredths of a second each
_MOST_CROSSINGS = 3_000  # programs for pairs of regions in different cells


@dataclass(frozen=True)
class ProofQuestion:
    """A mechanism, and all adjacent inputs that its loss is asked over."""

    mechanism: Callable[..., Any]
    params: Mapping[str, Any]
    n: int | None
    adjacency: str
    sensitivity: float
    domain: Any
    limits: Limits = LIMITS
    cases: int = MOST_CASES  # regions of runs
    sides: Sides = Sides.APART  # of `if` statements

    @property
    def name(self) -> str:
        """What the mechanism is called."""
        return str(getattr(self.mechanism, "__name__", "mechanism"))


def scope(question: ProofQuestion) -> str:
    """Which inputs the answer is about, in words."""
    distance = (
        "" if question.sensitivity == 1 or question.adjacency in ("replace", "add_remove") else f" (by {question.sensitivity:g})"
    )
    rows = "" if question.n is None else f" of {question.n} row{'s' if question.n > 1 else ''}"
    return f"all {question.adjacency}-adjacent inputs{rows}{distance}"


@dataclass(frozen=True)
class Traced:
    """The regions of the mechanism on unknown inputs, for each length of data, and how adjacent inputs differ."""

    inputs: Inputs
    symbols: Symbols
    programs: tuple[tuple[Region, ...], ...]
    cases: tuple[PairKind, ...]
    maxima: tuple[tuple[int, Maximum], ...] = ()  # unknowns that stand for the largest of several noisy values

    @property
    def input_laws(self) -> dict[int, Law]:
        """The range of each unknown input, by its variable."""
        return {-1 - i: d.law for i, d in enumerate(self.symbols.inputs)}


@dataclass(frozen=True)
class Obstacle:
    """A region that no alignment carries to the other input."""

    case: PairKind
    region: Region


@dataclass(frozen=True)
class Upper:
    """The certificate; or, where there is none, the region that resisted."""

    traced: Traced
    certificate: Certificate | None
    obstacle: Obstacle | None
    dearest: Certificate | None = None  # the one in whose terms the worst inputs are named, where that is another

    @property
    def bound(self) -> Rational | None:
        """The proved bound; None where there is none."""
        return None if self.certificate is None else self.certificate.bound


def traced_question(question: ProofQuestion) -> Traced:
    """The mechanism traced on unknown inputs."""
    inputs = unknown_inputs(question.n, question.domain, question.adjacency)
    return _traced(question, inputs, Symbols(list(inputs.draws), len(inputs.draws)))


def _traced(question: ProofQuestion, inputs: Inputs, symbols: Symbols) -> Traced:
    programs = [_regions(question, inputs.data, symbols)]
    cases: list[PairKind] = []
    if question.adjacency == "add_remove":
        for r in range(len(inputs.rows)):
            shorter = [row for k, row in enumerate(inputs.data) if k != r]
            programs.append(_regions(question, shorter, symbols))
            split = SplitByPieces(symbols, len(programs[0]))
            for box in split.boxes(Box(f"row {r + 1} removed", ()), inputs.rows[r]):
                cases += [PairKind(0, r + 1, box), PairKind(r + 1, 0, box)]
    else:
        split = SplitByPieces(symbols, len(programs[0]))
        for moves in boxes(question.adjacency, inputs, question.sensitivity):
            box = whole_box(_box_name(question.adjacency, moves, inputs), moves, symbols)
            cases += [PairKind(0, 0, x) for x in split.boxes(box, sorted(moves))]
    return Traced(inputs, symbols, tuple(programs), tuple(cases))


def _box_name(adjacency: str, moves: Mapping[int, Any], inputs: Inputs) -> str:
    named = [inputs.draws[i].law.words() for i in sorted(moves)]
    return f"{', '.join(named)} changes" if len(named) <= 3 else f"all inputs change ({adjacency})"


def _regions(question: ProofQuestion, data: Any, symbols: Symbols) -> tuple[Region, ...]:
    traced = symbolic_trace(question.mechanism, data, symbols, question.params, question.limits, question.sides)
    if traced.log_unexplored > -math.inf or traced.cycles:
        raise ExactRefused("a loop without a bound on its length: paths that were not explored cannot be aligned")
    variables = Variables(symbols.inputs)
    grouped = _grouped(traced, variables, question.cases)
    found = grouped or []
    for path in traced.paths if grouped is None else ():
        found.extend(regions(path, variables, most=question.cases))
        if len(found) > question.cases:
            raise BudgetExceeded(f"the mechanism has more than {question.cases} regions of runs with one form of output")
    laws = {-1 - i: d.law for i, d in enumerate(symbols.inputs)}
    return tuple(r for group in by_cell(refined(found, laws)).values() for r in merged(group, laws))


def _grouped(traced: Trace, variables: Variables, most: int) -> list[Region] | None:
    """The regions of groups of outputs that share no draw, where all combinations of them would be many.

    Losses of independent groups add for one pair of inputs: the sum of the largest costs bounds the loss.
    """
    if len(traced.paths) != 1 or traced.paths[0].conditions:
        return None
    path = traced.paths[0]
    groups = output_groups(path)
    if len(groups) < 2:
        return None
    found = [regions(path, variables, positions, g, most) for g, positions in enumerate(groups)]
    apart_ = any(r.bare for group in found for r in group)
    return None if apart_ or math.prod(map(len, found)) <= _FEW_COMBINATIONS else [r for group in found for r in group]


def upper_side(question: ProofQuestion, show: Progress = silent) -> Upper:
    """The bound on the loss of every adjacent pair, with its certificate.

    Conditions on inputs alone (`if x > 3`, `max(x, 0)`) split the inputs into cells, whose number doubles with every row. With
    both sides kept together they are unknown numbers of their own, which is quick, but forgets what two of them have in common.
    """
    show(0, 1, "tracing on unknown inputs")
    paths = question.limits.paths
    inputs = unknown_inputs(question.n, question.domain, question.adjacency)
    symbols = Symbols(list(inputs.draws), len(inputs.draws))
    found = None
    try:
        cells = _traced(replace(question, limits=replace(question.limits, paths=min(paths, _FEW_PATHS))), inputs, symbols)
    except BudgetExceeded:
        found = _together(question, show) if symbols.deciding else None
        if found is not None and found.bound is not None:
            return found
        if paths <= _FEW_PATHS:
            raise
        cells = traced_question(question)
    other = proved_on(question, cells, show)
    found = _together(question, show) if found is None and _split(cells) else found
    better = found is not None and found.bound is not None and (other.bound is None or found.bound < other.bound)
    return found if found is not None and better else other


def _split(traced: Traced) -> bool:
    """Whether inputs alone decide anything."""
    return any(region.bare for program in traced.programs for region in program)


def _together(question: ProofQuestion, show: Progress) -> Upper | None:
    """The bound with both sides of `if` statements kept together; None where they cannot be."""
    try:
        return proved_on(question, traced_question(replace(question, sides=Sides.TOGETHER)), show)
    except (ExactRefused, MechanismError, RecursionError):
        return None


def proved_on(question: ProofQuestion, traced: Traced, show: Progress = silent) -> Upper:
    """The same, of a mechanism that was traced before."""
    plain = _carried(question, traced, show)
    other = _in_maxima(question, traced)
    found = None if other is None else _carried(question, other, show)
    if found is None or found.bound is None or (plain.bound is not None and plain.bound <= found.bound):
        return plain
    return replace(plain, certificate=found.certificate, dearest=plain.dearest or plain.certificate)


def _in_maxima(question: ProofQuestion, traced: Traced) -> Traced | None:
    """The same program in terms of largest values, where some regions differ only in which value is the largest."""
    if question.adjacency == "add_remove" or len(traced.programs) != 1:
        return None
    symbols = replace(traced.symbols, inputs=list(traced.symbols.inputs), derived=list(traced.symbols.derived))
    made = with_maxima(traced.programs[0], symbols)
    if made is None:
        return None
    regions_, maxima = made
    cases = []
    for moves in boxes(question.adjacency, traced.inputs, question.sensitivity):
        cases.append(PairKind(0, 0, whole_box(_box_name(question.adjacency, moves, traced.inputs), moves, symbols)))
    return Traced(traced.inputs, symbols, (tuple(regions_),), tuple(cases), tuple(maxima.items()))


def _carried(question: ProofQuestion, traced: Traced, show: Progress) -> Upper:
    steps: list[ProofStep] = []
    known: Known = {}
    total_ = sum(len(traced.programs[case.source]) for case in traced.cases)
    done = 0
    for number, case in enumerate(traced.cases):
        found = _Carrier(traced, number, case, known).steps(partial(_told, show, done, total_))
        done += len(traced.programs[case.source])
        if isinstance(found, Obstacle):
            return Upper(traced, None, found)
        steps.extend(found)
    apart_ = _cheaper(traced, steps, known)
    plain = _certified(question, traced, apart_)
    together = pooled(traced.programs, traced.cases, apart_, known)
    if together is None:
        return Upper(traced, plain, None)
    certificate = _certified(question, traced, together)
    return Upper(traced, certificate, None, plain) if certificate.bound < plain.bound else Upper(traced, plain, None)


def _certified(question: ProofQuestion, traced: Traced, steps: Sequence[ProofStep]) -> Certificate:
    draft = Certificate(
        question.name,
        question.adjacency,
        tuple(_described(traced)),
        traced.programs,
        traced.cases,
        tuple(steps),
        total(steps, traced.programs, traced.cases),
        "",
        partial(_rerun, question, traced),
    )
    return replace(draft, digest=digest_of(draft))


def _cheaper(traced: Traced, steps: list[ProofStep], known: Known) -> list[ProofStep]:
    """The steps, the dearest of each kind of pair and group of outputs priced as a whole where that is less."""
    out = list(steps)
    settled: set[tuple[int, int]] = set()
    for k in sorted(range(len(steps)), key=lambda k: -steps[k].cost)[:_MOST_REPRICED]:
        step = steps[k]
        case = traced.cases[step.case]
        region = traced.programs[case.source][step.source]
        if step.policy is None or not step.cost or (step.case, region.group) in settled:
            continue
        found = cheaper_step(step, region, case.box, traced.input_laws, known) or _inside(traced, step, region)
        if found is None:
            settled.add((step.case, region.group))  # the largest cost stays as it is: less need not be looked for elsewhere
        else:
            out[k] = found
    return out


def _inside(traced: Traced, step: ProofStep, region: Region) -> ProofStep | None:
    """The step priced by what both inputs have in common: in `x` from 1 to 2, no two differ by more than 1."""
    if not region.bare:
        return None
    found = cross(region, region, traced.cases[step.case].box, traced.input_laws)
    return replace(step, policy=None, crossing=found, cost=found.cost) if found is not None and found.cost < step.cost else None


def _told(show: Progress, before: int, total_: int, at: int) -> None:
    show(before + at, total_, "alignments")


def _rerun(question: ProofQuestion, traced: Traced, certificate: Certificate, runs: int, seed: int) -> list[str]:
    from dpest.exact.proof.rerun import problems

    return problems(certificate, question, traced, runs, seed)


def _described(traced: Traced) -> list[tuple[str, UnknownInput]]:
    """Every unknown with what it is, in words."""
    symbols, maxima = traced.symbols, dict(traced.maxima)
    out = []
    for i, draw in enumerate(symbols.inputs):
        assert isinstance(draw.law, UnknownInput)
        told = draw.law.name if i < symbols.given else words(symbols.derived[i - symbols.given])
        if -1 - i in maxima:
            told = f"largest of {', '.join(f'z{v + 1}' for v, _, _ in maxima[-1 - i].values)} and inputs"
        out.append((told, draw.law))
    return out


class _Carrier:
    """Carries the regions of one case to the other input."""

    def __init__(self, traced: Traced, number: int, case: PairKind, known: Known) -> None:
        self.traced, self.number, self.case, self.known = traced, number, case, known
        self.laws = traced.input_laws
        self.source, self.target = traced.programs[case.source], traced.programs[case.target]
        self.cells: dict[frozenset[Row], list[int]] = {}
        for j, region in enumerate(self.target):
            self.cells.setdefault(region.cell, []).append(j)
        self.crossings = 0
        self.separate: dict[Any, Any] = {}

    def steps(self, at: Callable[[int], None]) -> list[ProofStep] | Obstacle:
        """One step for each region of the source and each cell of the target, or the region that resisted."""
        out = []
        for i, region in enumerate(self.source):
            at(i)
            for key, members in self.cells.items():
                same = self.case.source == self.case.target and key == region.cell
                step = self._to_itself(i, region) if same else self._across(i, region, key, members)
                if step is None:
                    return Obstacle(self.case, region)
                out.append(step)
        return out

    def _to_itself(self, i: int, region: Region) -> ProofStep | None:
        policy = cheapest_policy(region, self.case.box, self.laws, self.known)
        cost = None if policy is None else cost_of(policy, region.law, self.case.box)
        if cost is not None:
            return ProofStep(self.number, i, i, policy, None, None, cost)
        # Inputs that both lie in one cell may be closer to each other than adjacent ones are: `x` in [0, 1], any change.
        found = cross(region, region, self.case.box, self.laws) if region.bare and self._may_cross() else None
        return None if found is None else ProofStep(self.number, i, i, None, found, None, found.cost)

    def _across(self, i: int, region: Region, key: frozenset[Row], members: Sequence[int]) -> ProofStep | None:
        own = region.cell
        if (own, key) not in self.separate:
            rows = apart(region.bare, self.target[members[0]].bare, self.case.box, self.laws)
            self.separate[own, key] = contradiction(rows, ())
        reason = self.separate[own, key]
        if reason is not None:
            return ProofStep(self.number, i, members[0], None, None, reason, ZERO)
        best = None
        for j in members:
            if self.target[j].key != region.key:
                continue
            if not self._may_cross():
                return None
            found = cross(region, self.target[j], self.case.box, self.laws)
            if found is not None and (best is None or found.cost < best.cost):
                best = ProofStep(self.number, i, j, None, found, None, found.cost)
        return best

    def _may_cross(self) -> bool:
        self.crossings += 1
        return self.crossings <= _MOST_CROSSINGS
