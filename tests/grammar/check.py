"""One random program against its oracle: right, refused, wrong, crashed or hung."""

from __future__ import annotations

import ast
import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import dpest
from tests.grammar.program import Program
from tests.grammar.rewrite import rewritten
from tests.grammar.tails import tail_truth
from tests.grammar.tries import tries_truth
from tests.oracles import losses, native, samples
from tests.oracles.affine import NotSwept
from tests.oracles.plane import plane_truth
from tests.oracles.sweep import Law, law, rekeyed
from tests.oracles.truth import Truth, at_most, between, exactly
from tests.regressions.case import Hang, Said, ask, limited

SECONDS = 60.0
ORACLE_SECONDS = 10.0
EPSILONS = (0.0, 0.4)
BAD = ("wrong", "crash", "hang")


@dataclass(frozen=True)
class Outcome:
    """What came of one program."""

    status: str  # ok, refused, no oracle, invalid, wrong, crash, hang
    said: str
    truth: str = ""
    why: str = ""

    @property
    def bad(self) -> bool:
        """Whether the engine failed."""
        return self.status in BAD


def check(program: Program, seconds: float = SECONDS, runs: int = 2_000) -> Outcome:
    """The oracle first, then the engine."""
    if program.kind.startswith("rewritten:"):
        return compared(program, seconds)
    try:
        with limited(ORACLE_SECONDS):
            truths = truths_of(program, runs)
    except (NotSwept, Hang, native.TooMany) as reason:
        return Outcome("no oracle", "", why=f"{type(reason).__name__}: {reason}")
    except Exception as error:
        return Outcome("invalid", "", why=f"{type(error).__name__}: {error}")
    return judged(program, truths, seconds)


def compared(program: Program, seconds: float) -> Outcome:
    """The engine against itself: the same program written otherwise."""
    try:
        change = rewritten(program)
    except Exception as error:
        return Outcome("invalid", "", why=f"{type(error).__name__}: {error}")
    if change is None:
        return Outcome("no oracle", "", why="the rewriting does not apply")
    first = ask(program.on(dpest), program.pair, seconds)
    second = first if first.error is not None else ask(change.program.on(dpest), change.program.pair, seconds)
    if second.error is not None:
        return Outcome(_failure(second), str(second), why=_reason(second))
    match change.relation:
        case "same":
            good = first.lower <= second.upper and second.lower <= first.upper
        case "lower":
            good = second.lower <= first.upper
        case _:
            good = (second.lower, second.upper) == (0.0, 0.0)
    text = f"{first} at first, {change.relation}; rewritten {second}"
    return Outcome("ok" if good else "wrong", text, why="" if good else f"rewritten as\n{change.program}")


def judged(program: Program, truths: Truths, seconds: float) -> Outcome:
    """The engine's answer beside what is known."""
    mechanism = program.on(dpest)
    said = ask(mechanism, program.pair, seconds)
    shown = str(truths)
    if said.error is not None:
        return Outcome(_failure(said), str(said), shown, why=_reason(said))
    if not truths.allow(said.lower, said.upper):
        return Outcome("wrong", str(said), shown)
    return _deltas(said, truths, seconds, shown)


def _failure(said: Said) -> str:
    if said.refused:
        return "refused"
    return "hang" if isinstance(said.error, Hang) else "crash"


def _reason(said: Said) -> str:
    return f"{type(said.error).__name__}: {str(said.error).splitlines()[0][:160] if str(said.error) else ''}"


def _deltas(said: Said, truths: Truths, seconds: float, shown: str) -> Outcome:
    """delta(eps) of the same answer, where the oracle knows it."""
    for epsilon, known in truths.deltas:
        try:
            with limited(seconds):
                found = said.result.delta(epsilon)
        except (Exception, Hang) as error:
            failed = Said(error=error)
            return Outcome(_failure(failed), str(failed), shown, why=f"delta({epsilon}): {_reason(failed)}")
        if not any(t.allows(found.lower, found.upper) for t in known):
            return Outcome("wrong", f"delta({epsilon}) = {found!r}", " or ".join(f"{t.lower!r}..{t.upper!r}" for t in known))
    return Outcome("ok", str(said), shown)


@dataclass(frozen=True)
class Truths:
    """What oracles know."""

    losses: tuple[Truth, ...]
    deltas: tuple[tuple[float, tuple[Truth, ...]], ...] = ()

    def allow(self, lower: float, upper: float) -> bool:
        """Whether a bracket agrees with one reading."""
        return any(t.allows(lower, upper) for t in self.losses)

    def __str__(self) -> str:
        return " or ".join(f"{t} ({t.source})" for t in self.losses)


def truths_of(program: Program, runs: int) -> Truths:
    """The oracle of the program's kind."""
    match program.kind:
        case "discrete" | "loops" | "one":
            return swept(program)
        case "two":
            return Truths((plane_truth(program.two_sided(), program.pair),))
        case "post":
            return Truths((sampled(program, runs),))
        case "arrays":
            return natively(program)
        case "tails":
            return Truths((tail_truth(program),))
        case "tries":
            return Truths((tries_truth(program),))
    raise AssertionError(program.kind)


def natively(program: Program) -> Truths:
    """The loss and delta(eps) by enumeration on NumPy's own numbers."""
    mechanism = program.two_sided()
    p, q = (native.enumerated(mechanism, x) for x in program.pair)
    loss = native.loss(p, q)
    deltas = tuple((e, (_around(native.delta(p, q, e)),)) for e in EPSILONS)
    return Truths((_around(loss),), deltas)


def _around(x: float) -> Truth:
    """A number with room for probabilities that add up to 1 only to their rounding."""
    inner = 0 < x < math.inf
    return between(x - 1e-14 * (1 + x), x + 1e-14 * (1 + x), "native") if inner else exactly(x, "native")


def swept(program: Program) -> Truths:
    """The loss and delta(eps) by enumeration and sweeping; refused where outputs differ only beyond twelve digits."""
    mechanism, closed = program.two_sided(), few_outputs(program)
    sides = [law(mechanism, x) for x in program.pair]
    rough = [rekeyed(side, _rough) for side in sides]
    told, apart = _union(sides), _union(rough)
    if len(told.atoms) != len(apart.atoms) or len(told.pieces) != len(apart.pieces):
        raise NotSwept("outputs that coincide only by the rounding of doubles")
    loss = losses.loss(sides[0], sides[1], closed=closed, source="sweep")
    deltas = EPSILONS if _constant(sides) else ()
    return Truths((loss,), tuple((e, (losses.delta(sides[0], sides[1], e),)) for e in deltas))


def _union(sides: list[Law]) -> Law:
    """The outputs of both inputs."""
    return Law({k: 0 for s in sides for k in s.atoms}, {k: [] for s in sides for k in s.pieces})


def _constant(sides: list[Law]) -> bool:
    return not any(side.pieces or side.rest > 1e-20 for side in sides)


def _rough(x: Any) -> float:
    """A number to twelve digits; next to zero, zero."""
    value = float(x)
    return 0.0 if abs(value) < 1e-9 else float(f"{value:.12g}")


def few_outputs(program: Program) -> bool:
    """Whether all returns are words: then every possible output is seen early."""
    returns = [n.value for n in ast.walk(ast.parse(program.source)) if isinstance(n, ast.Return)]
    return all(_is_word(r) for r in returns)


def _is_word(node: ast.expr | None) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_word(node.body) and _is_word(node.orelse)
    return node is None or isinstance(node, ast.Constant)


def sampled(program: Program, runs: int) -> Truth:
    """From above: the noise on each input; from below: counts of the program's own outputs."""
    above = at_most(noise_bound(program), "post-processing")
    seed = random.Random(program.source).randrange(2**32)
    below = samples.shown_loss(program.two_sided(), program.pair, runs, seed)
    # Counts are right with all but 1e-9 of chance; where they contradict the bound, the program is not of this kind.
    if below.lower > above.upper:
        raise NotSwept(f"samples show {below.lower}, above the bound {above.upper}")
    return above.meet(below)


def noise_bound(program: Program) -> float:
    """The sum of |change| / scale over inputs that occur once, in `y = x[i] + d.laplace(b)` or logistic."""
    tree = ast.parse(program.source)
    seen = Counter(ast.dump(n) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == "x")
    total = 0.0
    for i, (a, b) in enumerate(zip(*program.pair, strict=True)):
        scales = [s for s in (_scale(n, i) for n in ast.walk(tree)) if s]
        uses = sum(c for text, c in seen.items() if f"value={i})" in text)
        others = sum(1 for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "x") != sum(seen.values())
        if uses == 0 and not others:
            continue
        if uses != 1 or len(scales) != 1 or others:
            raise NotSwept("an input is used in more than one place")
        total += abs(b - a) / scales[0]
    return total * (1 + 1e-12)


def _scale(node: ast.AST, i: int) -> float | None:
    """The scale of `x[i] + d.family(scale)`."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.right, ast.Call)):
        return None
    if ast.unparse(node.left) != f"x[{i}]" or ast.unparse(node.right.func) not in ("d.laplace", "d.logistic"):
        return None
    value = ast.literal_eval(node.right.args[0])
    return float(value) if value > 0 else None
