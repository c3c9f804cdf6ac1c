"""The author's function on its syntax tree: both sides of an `if` that only gives values, and calls, go through `together`.

What an `if` did before stays in the new code beside it, for the conditions that are plain and for the sides that turn out to
do more than give values: those run, and fork, as they were written.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable

from dpest.trace.arrivals import arrivals, as_one_draw
from dpest.trace.best_forms import as_best, as_largest, drawn_counts, keeps_best, largest_of
from dpest.trace.counting import as_climbed, as_counted, climbing, counting, read_outside
from dpest.trace.counts_written import added_at, count_as_sum
from dpest.trace.loop_forms import PlainLoops
from dpest.trace.masked import read_through, written_through
from dpest.trace.named_values import NamedValues
from dpest.trace.recursion import PlainRecursion
from dpest.trace.sides import AssignedPlace, Assignments, PlaceKind, is_place, is_plain, reads, sides_of
from dpest.trace.syntax import RUNTIME, ask, load, thunk, tuple_of
from dpest.trace.text_forms import RandomTexts

_METHODS_LEFT = frozenset({"append", "extend", "items", "keys", "values", "copy", "get"})
_NAMES = {"lt": "less", "lte": "less_equal", "gt": "greater", "gte": "greater_equal", "eq": "equal", "noteq": "not_equal"}
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def rewritten_body(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """The function with its body rewritten, in place."""
    if isinstance(node, ast.FunctionDef):
        PlainRecursion().visit(node)
        PlainLoops(node).visit(node)
    RandomTexts().visit(node)
    return _Writer(node).function(node)


def with_calls(node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
    """The function whose calls go through `together`, and whose iterators and half-worked expressions have names, in place."""
    if isinstance(node, ast.FunctionDef):
        NamedValues().visit(node)
    _Calls().generic_visit(node)
    return node


def _read_in(*parts: ast.expr) -> ast.Lambda:
    return thunk(tuple_of(map(load, reads([ast.Expr(x) for x in parts], set()))))


def _function(name: str, places: tuple[AssignedPlace, ...], body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.parse(f"def {name}({', '.join(p.inside for p in places)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [*body, ast.Return(tuple_of(load(p.inside) for p in places))]
    return made


def _compared(node: ast.Compare) -> ast.expr:
    """A comparison; of arrays, NumPy would ask each element for a plain truth value at once."""
    if len(node.ops) > 1 or not isinstance(node.ops[0], _ORDERED):
        return node
    name = type(node.ops[0]).__name__.lower()
    return ast.copy_location(ask("compared", ast.Constant(_NAMES[name]), node.left, node.comparators[0]), node)


def _chained(node: ast.Compare) -> ast.expr:
    """a < x < b as a < x and x < b, where x is a name or a number and may be written twice."""
    middle = node.comparators[:-1]
    simple = all(isinstance(x, ast.Name | ast.Constant) for x in middle) and all(isinstance(o, _ORDERED) for o in node.ops)
    if not middle or not simple:
        return node
    left = [node.left, *middle]
    parts: list[ast.expr] = [
        ast.Compare(copy.deepcopy(a), [o], [copy.deepcopy(b)]) for a, o, b in zip(left, node.ops, node.comparators, strict=True)
    ]
    return ast.copy_location(ast.BoolOp(ast.And(), parts), node)


def _through_runtime(node: ast.Call) -> ast.Call:
    """A call of what stands for the function."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS_LEFT:
        return node
    if isinstance(node.func, ast.Name) and node.func.id == "super":
        return node
    node.func = ast.copy_location(ask("call", node.func), node.func)
    return node


class _Calls(ast.NodeTransformer):
    """Rewrites calls, wherever they stand."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return _through_runtime(node)


class _Comparisons(ast.NodeTransformer):
    """Rewrites comparisons, wherever they stand."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        other = _chained(node)
        if other is not node:
            done: ast.AST = self.visit(other)
            return done
        self.generic_visit(node)
        return _compared(node)


class _Inside(_Comparisons):
    """A side as it is worked out without being taken: everything that it calls or looks into is checked first."""

    def __init__(self, places: tuple[AssignedPlace, ...], number: list[int]) -> None:
        self.places = places
        self.number = number

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a side."""
        out: list[ast.stmt] = []
        for x in statements:
            done = self.visit(copy.deepcopy(x))
            out += done if isinstance(done, list) else [done]
        return out

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            name = node.value.func.value
            assert isinstance(name, ast.Name)
            place = next(p for p in self.places if p.kind is PlaceKind.APPEND and p.name == name.id)
            value = self.visit(node.value.args[0])
            return ast.copy_location(ast.Assign([ast.Name(place.inside, ast.Store())], value), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target = self.visit(node.target)
        assert isinstance(target, ast.Name)
        changed = ast.BinOp(load(target.id), node.op, self.visit(node.value))
        return ast.copy_location(ast.Assign([target], changed), node)

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        inner = sides_of(node, frozenset())
        test = self.visit(node.test)
        if inner is None:  # nothing but `pass`
            return [ast.copy_location(ast.Expr(ask("unaffected", test)), node)]
        self.number[0] += 1
        names = [f"{RUNTIME}_{side}_{self.number[0]}" for side in ("yes", "no")]
        defs = [_function(n, inner.places, self.block(b)) for n, b in zip(names, (node.body, node.orelse), strict=True)]
        held = tuple_of(load(p.inside) for p in inner.places)
        found = ask("both_inside", test, load(names[0]), load(names[1]), held)
        targets = ast.Tuple([ast.Name(p.inside, ast.Store()) for p in inner.places], ast.Store())
        return [*defs, ast.copy_location(ast.Assign([targets], found), node)]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        for place in self.places:
            if is_place(node, place):
                return ast.copy_location(ast.Name(place.inside, node.ctx), node)
        inside = ast.Subscript(ask("container", self.visit(node.value)), self.visit(node.slice), node.ctx)
        return read_through(ast.copy_location(inside, node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.copy_location(ask("attribute", self.visit(node.value), ast.Constant(node.attr)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        inner = (
            ast.Attribute(self.visit(func.value), func.attr, ast.Load()) if isinstance(func, ast.Attribute) else self.visit(func)
        )
        args, keywords = [self.visit(a) for a in node.args], [self.visit(k) for k in node.keywords]
        return ast.copy_location(ast.Call(ask("pure", inner), args, keywords), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        parts = (self.visit(node.test), thunk(self.visit(node.body)), thunk(self.visit(node.orelse)))
        return ast.copy_location(ask("one_inside", *parts), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        name = "every_inside" if isinstance(node.op, ast.And) else "some_inside"
        first, *others = [self.visit(v) for v in node.values]
        return ast.copy_location(ask(name, first, *map(thunk, others)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(ask("negated", operand), node)
        return ast.copy_location(ast.UnaryOp(node.op, operand), node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        for g in node.generators:
            g.iter = ask("container", self.visit(g.iter))
            g.ifs = [self.visit(x) for x in g.ifs]
        node.elt = self.visit(node.elt)
        return node


class _Writer(_Comparisons):
    """The rewriting of one function, and of those inside it."""

    def __init__(self, whole: ast.FunctionDef | ast.Lambda) -> None:
        self.number = [0]
        self.fixed: frozenset[str] = frozenset()
        self.whole = copy.deepcopy(whole)
        self.counts = drawn_counts(self.whole)

    def function(self, node: ast.FunctionDef | ast.Lambda) -> ast.FunctionDef | ast.Lambda:
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
            return node
        before, self.fixed = self.fixed, frozenset(_declared(node))
        node.body = self._block(node.body)
        self.fixed = before
        return node

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for x in statements:
            done = self.visit(x)
            out += done if isinstance(done, list) else [done]
        return out

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.args = self.visit(node.args)
        return self.function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args = self.visit(node.args)
        return self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node  # names of a class body are not seen from functions inside it

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        found = sides_of(node, self.fixed)
        if found is None:
            node.test = self._forking(node.test)
            node.body, node.orelse = self._block(node.body), self._block(node.orelse)
            return node
        self.number[0] += 1
        names = [f"{RUNTIME}_{side}_{self.number[0]}" for side in ("yes", "no")]
        inside = _Inside(found.places, self.number)
        defs = [_function(n, found.places, inside.block(b)) for n, b in zip(names, (node.body, node.orelse), strict=True)]
        test = self.visit(node.test)
        as_written = ast.If(ask("condition"), self._block(node.body), self._block(node.orelse))
        chosen = ast.If(_both(test, names, found), _given(found.places), [ast.copy_location(as_written, node)])
        return [*(ast.copy_location(d, node) for d in defs), ast.copy_location(chosen, node)]

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if not is_plain(node.body) or not is_plain(node.orelse):
            node.test = self._forking(node.test)
            node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
            return node
        inside, reads = _Inside((), self.number), _read_in(node.body, node.orelse)
        pure = [thunk(inside.visit(copy.deepcopy(x))) for x in (node.body, node.orelse)]
        test, written = self.visit(node.test), [thunk(self.visit(x)) for x in (node.body, node.orelse)]
        return ast.copy_location(ask("one", test, *pure, *written, reads), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        first, *others = node.values
        if not all(map(is_plain, others)):
            return self._forking(node)
        inside = _Inside((), self.number)
        parts = [tuple_of((_read_in(x), thunk(inside.visit(copy.deepcopy(x))), thunk(self.visit(x)))) for x in others]
        return ast.copy_location(ask("every" if isinstance(node.op, ast.And) else "some", self.visit(first), *parts), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(ask("negated", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        count_as_sum(node)
        listed = largest_of(copy.deepcopy(node), self.counts)
        self.generic_visit(node)
        done = _through_runtime(node)
        return done if listed is None else ast.copy_location(as_largest(listed, done), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        return added_at(node) or node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        return written_through(node) or node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return read_through(node)

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        found = counting(node, read_outside(self.whole, node))
        if found is not None and found.name not in self.fixed:
            name = self._new_name("rounds")
            test = _Inside((), self.number).visit(copy.deepcopy(found.test))
            return as_counted(found, name, test, self._loop(node), [self.visit(copy.deepcopy(x)) for x in found.ends])
        climb = climbing(node)
        if climb is not None and climb.name not in self.fixed:
            return as_climbed(climb, self._new_name("climbed"), self.visit(copy.deepcopy(climb.bound)), self._loop(node))
        steps = arrivals(node, read_outside(self.whole, node))
        if steps is not None and not self.fixed & {steps.name, steps.level}:
            name = self._new_name("steps")
            step = _Inside((), self.number).visit(copy.deepcopy(steps.step))
            return as_one_draw(steps, name, step, self._loop(node), [self.visit(copy.deepcopy(x)) for x in steps.ends])
        return self._best(node) or self._loop(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        found = self._best(node)
        if found is not None:
            return found
        self.generic_visit(node)
        return node

    def _best(self, node: ast.While | ast.For) -> list[ast.stmt] | None:
        found = keeps_best(copy.deepcopy(node), read_outside(self.whole, node), self.counts)
        if found is None or self.fixed & {*found.names}:
            return None
        name = self._new_name("best")
        ends = [self.visit(copy.deepcopy(x)) for x in found.ends]
        loop = self._loop(node) if isinstance(node, ast.While) else self.generic_visit(node)
        assert isinstance(loop, ast.stmt)
        return as_best(found, name, loop, ends)

    def _new_name(self, of: str) -> str:
        self.number[0] += 1
        return f"{RUNTIME}_{of}_{self.number[0]}"

    def _loop(self, node: ast.While) -> ast.While:
        node.test = self._forking(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self._forking(node.test)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter, node.ifs = self.visit(node.iter), [self._forking(x) for x in node.ifs]
        return node

    def _forking(self, test: ast.expr) -> ast.expr:
        """A condition that forks where it is random: `and` and `or` stop as early as they were written to."""
        match test:
            case ast.BoolOp():
                test.values = [self._forking(v) for v in test.values]
                return test
            case ast.UnaryOp(op=ast.Not()):
                test.operand = self._forking(test.operand)
                return test
            case ast.Compare() if len(test.ops) > 1:
                test.left, test.comparators = self.visit(test.left), [self.visit(x) for x in test.comparators]
                return test
        done: ast.expr = self.visit(test)
        return done


def _both(test: ast.expr, names: list[str], found: Assignments) -> ast.expr:
    """The question whether both sides come together; its values are then taken, or the condition is asked as it was written."""
    held = tuple_of(thunk(copy.deepcopy(_read(p))) for p in found.places)
    marks = ("a" if p.kind is PlaceKind.APPEND else "+" if p.text in found.changed else "=" for p in found.places)
    changed = ast.Constant("".join(marks))
    containers = thunk(tuple_of(load(p.name) for p in found.places if p.kind is not PlaceKind.NAME))
    reads = thunk(tuple_of(map(load, found.reads)))
    return ask("both", test, load(names[0]), load(names[1]), held, changed, containers, reads)


def _read(place: AssignedPlace) -> ast.expr:
    match place.target:
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
        case _ if place.kind is PlaceKind.APPEND:
            return ast.Attribute(load(RUNTIME), "UNBOUND", ast.Load())
        case _:
            return load(place.name)


def _given(places: tuple[AssignedPlace, ...]) -> list[ast.stmt]:
    """The values put where they belong."""
    held = [ast.Name(f"{RUNTIME}_given_{p.inside}" if p.kind is PlaceKind.APPEND else p.inside, ast.Store()) for p in places]
    targets: list[ast.expr] = [
        copy.deepcopy(p.target) if p.kind is PlaceKind.ITEM else h for p, h in zip(places, held, strict=True)
    ]
    out: list[ast.stmt] = [ast.Assign([ast.Tuple(targets, ast.Store())], ask("values"))]
    for p, h in zip(places, held, strict=True):
        if p.kind is PlaceKind.APPEND:
            out.append(ast.Expr(ask("append", load(p.name), load(h.id))))
            out.append(ast.Delete([ast.Name(h.id, ast.Del())]))
    return out


def _declared(node: ast.FunctionDef) -> Iterable[str]:
    """The names that the function declares as global or nonlocal: assigning them is state."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        x = waiting.pop()
        if isinstance(x, ast.Global | ast.Nonlocal):
            yield from x.names
        if not isinstance(x, ast.FunctionDef | ast.Lambda | ast.ClassDef | ast.AsyncFunctionDef):
            waiting.extend(ast.iter_child_nodes(x))
