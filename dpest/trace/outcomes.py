"""What a function can return at most, read off its code: truth values, remainders, whole numbers between two bounds.

A loop without end is followed until what is left weighs next to nothing. What is left may return anything, unless the code says
otherwise: `return k % 2` is 0 or 1, whatever the whole number k is by then.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import random
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from dpest.lang.generators.swap import NAMES
from dpest.trace.source import FunctionNode, as_written, node_of

_MOST = 256  # values of one expression
_DEEPEST = 16  # calls inside calls
_TRUTHS: frozenset[Any] = frozenset({False, True})
_CLOSED = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)  # operations that give whole numbers of whole numbers
_WHOLE_OF_DPEST = frozenset({"geometric", "integers", "bernoulli", "categorical"})
_WHOLE_OF_GENERATORS = frozenset({"geometric", "integers", "binomial", "poisson", "randint", "randrange", "getrandbits"})
_WHOLE = frozenset({"randrange", "randint", "getrandbits", "randbelow", "randbits"})
_NOT_READ = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.comprehension, ast.Import, ast.ImportFrom, ast.Global,
    ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.TryStar, ast.Match,
)  # fmt: skip  # code that gives values to names in other ways, or elsewhere
Returned = frozenset[Any] | None
_Called = tuple[CodeType, tuple[int, ...], tuple[bool, ...]]  # code, variables around it, which arguments are whole numbers


def outcomes(function: Any, args: Sequence[Any]) -> Returned:
    """Every value that a function or method may return for arguments like these; None where that cannot be seen."""
    if type(function) is MethodType:
        function, args = function.__func__, (function.__self__, *args)
    if type(function) is not FunctionType:
        return None
    return _Code(function, tuple(type(x) in (int, bool) for x in args), ()).returned()


def returns_no_more(function: Any, args: Sequence[Any], known: Iterable[Any]) -> bool:
    """Whether a function returns nothing, for arguments like these, that is not among some values."""
    possible = outcomes(function, args)
    return possible is not None and possible <= {x for x in known if isinstance(x, bool | int | str)}


class _Code:
    """The code of one function, and which of its parameters are whole numbers."""

    def __init__(self, function: FunctionType, whole: tuple[bool, ...], callers: tuple[_Called, ...]) -> None:
        code = function.__code__
        names = inspect.getargs(code).args
        plain = code.co_argcount == len(names) and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        node = node_of(code) if plain and len(whole) <= len(names) and len(callers) < _DEEPEST else None
        call = (code, tuple(map(id, function.__closure__ or ())), whole)
        # A call inside a call like it returns what the others return: by induction over the depth of calls.
        self.again = call in callers
        self.function, self.callers = function, (*callers, call)
        self.node = node if node is not None and not any(isinstance(x, _NOT_READ) for x in _inside(node)) else None
        self.whole: Mapping[str, bool] = {name: k < len(whole) and whole[k] for k, name in enumerate(names)}
        self.asked: set[str] = set()  # names whose values are being looked at: a loop starts from their other values

    def returned(self) -> Returned:
        """Every value that may be returned."""
        if self.node is None:
            return None
        return frozenset() if self.again else _union(self.values(x) for x in self._returns())

    def returns_whole(self) -> bool:
        """Whether nothing but whole numbers is returned."""
        return self.node is not None and (self.again or all(map(self.is_whole, self._returns())))

    def _returns(self) -> Iterator[ast.expr]:
        if isinstance(self.node, ast.Lambda):
            yield self.node.body
        elif self.node is not None:
            yield from (x.value or ast.Constant(None) for x in ast.walk(self.node) if isinstance(x, ast.Return))
            if not _always_returns(self.node.body):
                yield ast.Constant(None)

    # -- values ---------------------------------------------------------------------------------------------------------

    def values(self, x: ast.expr) -> Returned:
        """Every value that an expression may have."""
        match x:
            case ast.Constant(value=bool() | int() | str() as value):
                return frozenset({value})
            case ast.UnaryOp(op=ast.Not()) | ast.Compare():
                return _TRUTHS
            case ast.BoolOp(values=parts):
                return _union(map(self.values, parts))
            case ast.IfExp(body=yes, orelse=no):
                return _union(map(self.values, (yes, no)))
            case ast.BinOp(left=left, op=ast.Mod(), right=ast.Constant(value=int() as most)) if 0 < most <= _MOST:
                return frozenset(range(most)) if self.is_whole(left) else None
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._of_call(self._called(name), args)
        return None

    def _of_name(self, name: str) -> Returned:
        given = None if name in self.whole or name in self.asked else self._given(name)
        if given is None:
            return None
        self.asked.add(name)
        found = _union(map(self.values, given))
        self.asked.discard(name)
        return found

    def _of_call(self, called: Any, args: list[ast.expr]) -> Returned:
        if called is bool:
            return _TRUTHS
        if called is int and len(args) == 1:
            match args[0]:
                case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int() as most)) if 0 < most <= _MOST:
                    return frozenset(range(most))  # a remainder that is no whole number is cut to one of these
            inner = self.values(args[0])
            return None if inner is None or any(isinstance(x, str) for x in inner) else frozenset(map(int, inner))
        if called in (min, max) and len(args) == 2:
            return self._between(called, args)
        return self._code_of(called, args).returned() if type(called) is FunctionType else None

    def _between(self, called: Any, args: list[ast.expr]) -> Returned:
        """min(high, max(low, x)) and its like, of a whole number."""
        for limit, inner in (args, args[::-1]):
            match inner:
                case ast.Call(func=ast.Name(id=name), args=[first, second], keywords=[]):
                    one, others = self._number(limit), [k for x in (first, second) if (k := self._number(x)) is not None]
                    opposite = self._called(name) is (max if called is min else min)
                    if one is not None and others and opposite and abs(one - others[0]) < _MOST and self.is_whole(inner):
                        return frozenset(range(min(one, others[0]), max(one, others[0]) + 1))
        return None

    def _number(self, x: ast.expr) -> int | None:
        """A whole number that is written out, or that a name outside the function stands for."""
        value = x.value if isinstance(x, ast.Constant) else self._called(x.id) if isinstance(x, ast.Name) else None
        return value if type(value) is int else None

    # -- whole numbers --------------------------------------------------------------------------------------------------

    def is_whole(self, x: ast.expr) -> bool:
        """Whether an expression is a whole number of Python's, whatever its value."""
        match x:
            case ast.Constant(value=bool() | int()):
                return True
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                return self.is_whole(inner)
            case ast.IfExp(body=left, orelse=right):
                return self.is_whole(left) and self.is_whole(right)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _CLOSED):
                return self.is_whole(left) and self.is_whole(right)
            case ast.Name(id=name):
                return self._is_whole_name(name)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._is_whole_call(self._called(name), args)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name), keywords=keywords):
                return name in self._whole_methods(owner) and not any(k.arg in (None, "size") for k in keywords)
        return False

    def _whole_methods(self, owner: str) -> frozenset[str]:
        """The methods of a module or a generator that give whole numbers."""
        if owner in self.whole and owner in NAMES and self._given(owner) == []:
            return _WHOLE_OF_GENERATORS
        called = self._called(owner)
        return _WHOLE if called in (random, secrets) else _WHOLE_OF_DPEST if called is sys.modules["dpest"] else frozenset()

    def _is_whole_name(self, name: str) -> bool:
        if name in self.asked:
            return True  # by induction over the steps of a run
        if name not in self.function.__code__.co_varnames:
            return type(self._called(name)) in (int, bool)
        given = self._given(name)
        if given is None or not self.whole.get(name, True):
            return False
        self.asked.add(name)
        found = all(map(self.is_whole, given))
        self.asked.discard(name)
        return found

    def _is_whole_call(self, called: Any, args: list[ast.expr]) -> bool:
        if called in (int, len):
            return True
        if called in (abs, min, max):
            return len(args) > (called is not abs) and all(map(self.is_whole, args))
        return type(called) is FunctionType and self._code_of(called, args).returns_whole()

    # -- names ----------------------------------------------------------------------------------------------------------

    def _given(self, name: str) -> list[ast.expr] | None:
        """Every expression that a variable of the function gets its value from; None where there are others."""
        assert self.node is not None
        if name not in self.function.__code__.co_varnames:
            return None
        found: list[ast.expr] = []
        for x in ast.walk(self.node):
            match x:
                case ast.Assign(targets=[ast.Name(id=own)], value=value) if own == name:
                    found.append(value)
                case ast.AugAssign(target=ast.Name(id=own), op=op, value=value) if own == name:
                    found.append(ast.BinOp(ast.Name(own, ast.Load()), op, value))
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                    found += [value for target, value in zip(names, values, strict=True) if _names(target, name)]
        stored = sum(_names(x, name) and not isinstance(getattr(x, "ctx", None), ast.Load) for x in ast.walk(self.node))
        return found if stored == len(found) else None

    def _called(self, name: str) -> Any:
        """What a name that the function does not change stands for."""
        if name in self.function.__code__.co_varnames:
            return None
        held = dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))
        if name in held:
            return held[name].cell_contents
        return self.function.__globals__.get(name, getattr(builtins, name, None))

    def _code_of(self, called: FunctionType, args: list[ast.expr]) -> _Code:
        return _Code(as_written(called) or called, tuple(map(self.is_whole, args)), self.callers)


def _names(x: ast.AST, name: str) -> bool:
    return isinstance(x, ast.Name) and x.id == name


def _inside(node: FunctionNode) -> Iterator[ast.AST]:
    """The parts of a function's code, without the function itself."""
    body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
    return (x for y in body for x in ast.walk(y))


def _union(sets: Iterable[Returned]) -> Returned:
    found: set[Any] = set()
    for x in sets:
        if x is None:
            return None
        found |= x
    return frozenset(found)


def _always_returns(body: Sequence[ast.stmt]) -> bool:
    """Whether a run never comes to the end of some statements."""
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(body=yes, orelse=no):
            return bool(no) and _always_returns(yes) and _always_returns(no)
        case ast.While(test=ast.Constant(value=value), body=inside):
            return bool(value) and not any(isinstance(x, ast.Break) for y in inside for x in ast.walk(y))
    return False
