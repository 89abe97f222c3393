"""Places in a module where a small mistake can be made, and how each would read.

Each site is one change of one expression or statement: a condition turned round, an
operand left out, a bound off by one, a call forgotten. The text around it stays as
it is, so that a mutant differs from the original in one place and nowhere else.
"""

import ast
from dataclasses import dataclass

_COMPARED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_COUNTED = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
_CHOSEN = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Site:
    """One change: the bytes from `start` to `end` become `text`."""

    line: int
    what: str
    start: int
    end: int
    text: str


def sites(source: str) -> list[Site]:
    """Return every change that can be made in a module, in the order of its text."""
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda one: (one.start, one.end, one.what))


def planted(source: str, site: Site) -> str:
    """Return the module with one change made."""
    raw = source.encode()
    return (raw[: site.start] + site.text.encode() + raw[site.end :]).decode()


class _Finder(ast.NodeVisitor):
    def __init__(self, source: str) -> None:
        self.found: list[Site] = []
        self._raw = source.encode()
        lines = self._raw.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))

    # ── conditions ────────────────────────────────────────────────────────

    def visit_If(self, node: ast.If) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        if not isinstance(node.test, ast.Constant):
            self._negated(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negated(test)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = "and" if isinstance(node.op, ast.And) else "or"
        other = "or" if word == "and" else "and"
        parts = [self._text(one) for one in node.values]
        self._add(node, "and/or swapped", f"({f' {other} '.join(parts)})")
        for number in range(len(parts)):
            rest = parts[:number] + parts[number + 1 :]
            self._add(node, f"operand {number} dropped", f"({f' {word} '.join(rest)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not dropped", f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        word = _COMPARED.get(type(node.ops[0]))
        if word is not None and len(node.ops) == 1:
            left, right = self._text(node.left), self._text(node.comparators[0])
            self._add(node, f"compared with {word}", f"({left} {word} {right})")
        self.generic_visit(node)

    # ── values ────────────────────────────────────────────────────────────

    def visit_BinOp(self, node: ast.BinOp) -> None:
        word = _COUNTED.get(type(node.op))
        is_text = any(
            isinstance(side, ast.Constant) and isinstance(side.value, str | bytes)
            for side in (node.left, node.right)
        )
        if word is not None and not is_text:
            left, right = self._text(node.left), self._text(node.right)
            self._add(node, f"counted with {word}", f"({left} {word} {right})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, "turned round", str(not node.value))
        elif isinstance(node.value, int):
            self._add(node, "off by one", str(node.value + 1))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in _CHOSEN:
            self._add(node.func, "chosen otherwise", _CHOSEN[node.func.id])
        self.generic_visit(node)

    # ── statements ────────────────────────────────────────────────────────

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # A docstring.
        self._add(node, "statement forgotten", "pass")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if _is_bound(node):
            return
        if all(isinstance(one, ast.Attribute | ast.Subscript) for one in node.targets):
            self._add(node, "assignment forgotten", "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "assignment forgotten", "pass")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        if not all(isinstance(one, ast.Name) for one in node.targets):
            self._add(node, "deletion forgotten", "pass")

    def visit_Raise(self, node: ast.Raise) -> None:
        self._add(node, "not raised", "pass")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "break for continue", "break")

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "continue for break", "continue")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._add(node, "nothing returned", "return None")
        self.generic_visit(node)

    # ── what is left alone ────────────────────────────────────────────────

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not _is_bound(node):
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in (*node.defaults, *filter(None, node.kw_defaults)):
            self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:  # Not its decorators: frozen, slots and their like.
            self.visit(statement)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # What zip makes sure of is so.
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass  # What is said to people is for people to judge.

    # ── how a change is written ───────────────────────────────────────────

    def _negated(self, test: ast.expr) -> None:
        self._add(test, "condition turned round", f"(not ({self._text(test)}))")

    def _add(self, node: ast.AST, what: str, text: str) -> None:
        start, end = self._span(node)
        line = getattr(node, "lineno", 0)
        self.found.append(Site(line, what, start, end, text))

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        text = self._raw[start:end].decode()
        return f"({text})"

    def _span(self, node: ast.AST) -> tuple[int, int]:
        first, last = self._offsets(node)
        return (
            self._starts[first[0] - 1] + first[1],
            self._starts[last[0] - 1] + last[1],
        )

    def _offsets(self, node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
        return (
            (getattr(node, "lineno", 1), getattr(node, "col_offset", 0)),
            (getattr(node, "end_lineno", 1), getattr(node, "end_col_offset", 0)),
        )


def _is_bound(node: ast.Assign | ast.AnnAssign) -> bool:
    """Tell whether a number only gets its name here.

    How large MAX_SPANS is, is a choice. That it is kept is tried where it is used.
    """
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    numbers = (ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    return (
        all(isinstance(one, ast.Name) and one.id.isupper() for one in targets)
        and node.value is not None
        and all(isinstance(one, numbers) for one in ast.walk(node.value))
    )
