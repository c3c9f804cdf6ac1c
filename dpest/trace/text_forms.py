"""F-strings and `%` as calls, which may be handed random values."""

from __future__ import annotations

import ast

from dpest.trace.syntax import ask


class RandomTexts(ast.NodeTransformer):
    """Writes f-strings as calls of `text`, and `"..." % values` as calls of `percent`."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        parts = [self._part(x) for x in node.values]
        if all(isinstance(x, ast.Constant) for x in parts):
            return node
        called = ask("text", *parts)
        return ast.fix_missing_locations(ast.copy_location(called, node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Mod) or not (isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)):
            return node
        called = ask("percent", node.left, node.right)
        return ast.fix_missing_locations(ast.copy_location(called, node))

    def _part(self, x: ast.expr) -> ast.expr:
        if not isinstance(x, ast.FormattedValue):
            return x
        conversion = ast.Constant(chr(x.conversion) if x.conversion > 0 else "")
        spec: ast.expr = ast.Constant("") if x.format_spec is None else x.format_spec
        if isinstance(spec, ast.JoinedStr) and all(isinstance(y, ast.Constant) for y in spec.values):
            spec = ast.Constant("".join(str(y.value) for y in spec.values if isinstance(y, ast.Constant)))
        elif isinstance(spec, ast.JoinedStr):
            done: ast.expr = self.visit(spec)
            spec = done
        return ast.Tuple([self.visit(x.value), conversion, spec], ast.Load())
