"""The conditions of variables in the forms that the search takes (match-recognize.md, section 12).

What a condition says of its own row and of neighbours of that is computed for all rows at once, as a mask.  What it
says of other mapped rows becomes stack code, over columns that have a value per row of the table.  What the stack code
does not know, the search asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.dialect import MATCH_RECOGNIZE
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import (
    Annotated,
    Binary,
    DurationLiteral,
    Expr,
    Literal,
    Ref,
    conjunction,
    conjuncts,
    rewrite,
)
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels import row_tables as T
from occurs.operators.rowpattern import tree
from occurs.operators.rowpattern.mapping import Table, can_share
from occurs.operators.rowpattern.program import Program, Read, memories, program_loops, program_of
from occurs.operators.rule_bytecode import Coder, Unsupported

#: `!=` is left out: a NaN that is computed is null
_COMPARE = {"=": np.equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
#: what the values that a condition reads depend on
OF_ROW, SETTLED, OF_MAPPING = 1, 2, 3
_RUNNING = {
    "count": T.COUNT, "sum": T.SUM, "avg": T.AVERAGE, "min": T.LEAST, "max": T.GREATEST, "min_by": T.LEAST_BY,
    "max_by": T.GREATEST_BY,
}  # fmt: skip
#: the role that stands for what is not a value of a row
_NO_ROW = 0


@dataclass
class Condition:
    """The condition of one variable.

    ``local``: what it says of its own row.  ``rest``: what else it says.  ``ahead``: how many rows behind its own row
    it reads.  ``begin``, ``stop``: the code of the rest; ``asks``: it has none.  ``uses``: of roles, rows of a table
    (T.ROLE ..).  ``reads``: what it reads of the mapping.
    """

    whole: Expr
    local: list[Expr]
    rest: Expr | None
    ahead: int
    begin: int = 0
    stop: int = 0
    asks: bool = False
    uses: tuple[tuple[int, int, int, int, int], ...] = ()
    reads: tuple[Read, ...] = ()


class Conditions:
    """The program of a pattern, and its conditions.

    ``types``: of the columns of the source, ``time`` included.
    """

    def __init__(self, matching: tree.Matching, types: Mapping[str, Type], kind: TimeKind) -> None:
        self.matching, self.types, self.kind = matching, types, kind
        self.program: Program = program_of(matching.pattern, matching.variables)
        self.slots: list[tuple[str, ...]] = []
        self.roles: dict[tuple[int, bool, int], int] = {}
        self.columns: dict[tuple[Expr, int], int] = {}
        self.held: list[Type] = []
        self.running: list[tuple[int, int, int, int, int, int, int]] = []
        #: of a column the column that has for each row the row before with an equal value
        self.earlier: dict[int, int] = {}
        self._of_running: dict[Expr, int] = {}
        self.texts: list[str] = []
        self._reads_labels = self._reads_number = False
        self.coder = Coder(lambda _, name: (int(name[1:]), self.held[int(name[1:])]), self._text, wide=True)
        given = dict(matching.conditions)
        self.by_variable = [self._condition(v, given[v]) if v in given else None for v in matching.variables]
        self.code = self._with_memories()

    @cached_property
    def highest(self) -> int:
        """The class of the definition: OF_ROW, SETTLED or OF_MAPPING."""
        splits = self.code[self.code[:, T.OP] == T.SPLIT]
        kinds = splits[:, T.THREE] if len(splits) else np.array([T.ALWAYS])
        reads = any(c is not None and (c.reads or c.asks) for c in self.by_variable) or self._reads_number
        if (kinds == T.NEVER).any():
            return OF_MAPPING
        return SETTLED if reads or self.matching.within is not None else OF_ROW

    # -- classes -------------------------------------------------------------------------------------------------------
    def _own(self, variable: str, node: tree.At) -> bool:
        """Is what is read that of the row at hand, or of a neighbour of it?"""
        return not node.first and node.offset == 0 and (node.variables is None or variable in node.variables)

    def _condition(self, variable: str, whole: Expr) -> Condition:
        whole = rewrite(whole, lambda node: self._plain(variable, node))
        local: list[Expr] = []
        rest: list[Expr] = []
        for part in conjuncts(whole):
            (local if self._is_local(variable, part) else rest).append(part)
        ahead = [n.move for n in whole.walk() if isinstance(n, tree.At) and self._own(variable, n)]
        found = Condition(whole, local, conjunction(rest), max([0, *ahead]))
        if found.rest is not None:
            self._code(variable, found)
        return found

    def _plain(self, variable: str, node: Expr) -> Expr | None:
        """Labels of the row at hand are constant, and rows behind it have none."""
        if not isinstance(node, tree.At) or not self._own(variable, node) or node.move < 0:
            return None
        label = Literal(variable if node.move == 0 else None, Type.STRING if node.move == 0 else Type.NULL)
        if isinstance(node.arg, tree.Label):
            return label
        arg = rewrite(node.arg, lambda inner: label if isinstance(inner, tree.Label) else None)
        return node if arg is node.arg else tree.At(arg, node.variables, move=node.move)

    def _is_local(self, variable: str, part: Expr) -> bool:
        for node in part.walk():
            if isinstance(node, tree.Aggregate | tree.Number | tree.Label):
                return False
            if isinstance(node, tree.At) and not self._own(variable, node):
                return False
        return True

    # -- stack code ----------------------------------------------------------------------------------------------------
    def _code(self, variable: str, found: Condition) -> None:
        assert found.rest is not None
        uses: dict[tuple[int, bool, int], int] = {}
        reads: dict[Read, None] = {}
        roles: set[tuple[int, bool, int]] = set()
        for node in found.rest.walk():
            if isinstance(node, tree.At) and not self._own(variable, node):
                role = (self._slot(node.variables), node.first, node.offset)
                roles.add(role)
                reads[Read("first" if node.first else "last", role[0], node.offset)] = None
                uses[role] = max(uses.get(role, 0), node.move)
                self._reads_labels |= any(isinstance(n, tree.Label) for n in node.arg.walk())
            elif isinstance(node, tree.At):
                self._reads_labels |= any(isinstance(n, tree.Label) for n in node.arg.walk())
            elif isinstance(node, tree.Aggregate):
                reads[Read("rows", self._slot(node.variables))] = None
                self._reads_labels |= any(isinstance(n, tree.Label) for a in node.args for n in a.walk())
            elif isinstance(node, tree.Number):
                self._reads_number = True
        found.reads = tuple(reads)
        before = len(self.coder.ints), len(self.coder.floats), len(self.running)
        try:
            expr = self._coded(variable, found.rest)
            found.begin, found.stop = self.coder.condition(expr)
        except Unsupported:
            del self.coder.ints[before[0] :], self.coder.floats[before[1] :], self.running[before[2] :]
            self._of_running = {node: at for node, at in self._of_running.items() if at in {r[3] for r in self.running}}
            found.asks = True
            roles = {role for role in roles if uses[role] > 0}
        found.uses = tuple(
            (self._role(role), T.FIRST if role[1] else T.LAST, role[0], role[2], uses[role]) for role in sorted(roles)
        )

    def _coded(self, variable: str, rest: Expr) -> Expr:
        """The rest of a condition over columns of the pool, which are called #0, #1, .."""
        plain = not any(isinstance(n, Binary) and n.op in ("/", "*", "%") for n in rest.walk())

        def column(node: Expr) -> Expr | None:
            if isinstance(node, tree.At):
                if any(isinstance(n, tree.Label | tree.Number) for n in node.arg.walk()):
                    raise Unsupported("label")
                name = f"#{self._column(node.arg, node.move, plain)}"
                if self._own(variable, node):
                    return Ref(None, name)
                return Ref(str(self._role((self._slot(node.variables), node.first, node.offset))), name)
            if isinstance(node, tree.Aggregate | tree.Number):
                return Ref(str(_NO_ROW), f"#{self._running_column(node, plain)}")
            if isinstance(node, DurationLiteral) and plain:
                ticks = self.kind.convert(node.value)
                if ticks is None or ticks.denominator != 1:
                    raise Unsupported("duration")
                return Literal(int(ticks), Type.INT)
            if isinstance(node, Annotated) and plain and node.type in (Type.TIMESTAMP, Type.DURATION):
                return node.arg
            return None

        # from the top, as what is inside a navigation is a column of its own
        def go(node: Expr) -> Expr:
            found = column(self._moved_in(node))
            if found is not None:
                return found
            children = node.children
            return node.with_children(tuple(map(go, children))) if children else node

        return go(rest)

    def _moved_in(self, node: Expr) -> Expr:
        """A constant times, plus or less a float of one row as a column of that row, so that it is computed once.  All
        other expressions as they are: floats cannot overflow, and null stays null."""
        if not isinstance(node, Binary) or node.op not in ("*", "+", "-"):
            return node
        for constant, at in ((node.left, node.right), (node.right, node.left)):
            if not isinstance(at, tree.At) or not isinstance(at.arg, Ref) or self.type_of(at.arg) is not Type.FLOAT:
                continue
            if isinstance(constant, Literal) and constant.type is Type.FLOAT:
                sides = (constant, at.arg) if constant is node.left else (at.arg, constant)
                return replace(at, arg=node.with_children(sides))
        return node

    def _text(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text)

    def _slot(self, variables: tuple[str, ...] | None) -> int:
        members = self.matching.variables if variables is None else tuple(sorted(variables))
        if members not in self.slots:
            self.slots.append(members)
        return self.slots.index(members)

    def _role(self, role: tuple[int, bool, int]) -> int:
        return self.roles.setdefault(role, len(self.roles) + 1)

    def _column(self, arg: Expr, move: int, plain: bool) -> int:
        key = (arg, move)
        if key not in self.columns:
            self.columns[key] = len(self.held)
            self.held.append(self.type_of(arg))
        at = self.columns[key]
        if plain and self.held[at] in (Type.TIMESTAMP, Type.DURATION):
            self.held[at] = Type.INT
        return at

    def type_of(self, arg: Expr) -> Type:
        """The type of an expression over one row."""
        if isinstance(arg, Ref):
            return self.types.get(arg.name, Type.NULL)
        table = Table(0, None, lambda name: Column.nulls(self.types.get(name, Type.NULL), 0), self.kind)
        return evaluate(arg, lambda leaf: _leaf(table, leaf), 0, kind=self.kind, dialect=MATCH_RECOGNIZE).type

    def _running_column(self, node: tree.Aggregate | tree.Number, plain: bool) -> int:
        if node in self._of_running:
            return self._of_running[node]
        of, kind, type, real, slot, taken, earlier = -1, T.MATCHES, Type.INT, 0, 0, -1, -1
        if isinstance(node, tree.Aggregate):
            if node.function not in _RUNNING:
                raise Unsupported(node.function)
            kind, slot = _RUNNING[node.function], self._slot(node.variables)
            if any(isinstance(n, tree.Label | tree.Number) for a in node.args for n in a.walk()):
                raise Unsupported("label")
            if node.args:
                of = self._column(node.args[-1], 0, plain)
                held = self.held[of]
                if kind != T.COUNT and not (held.numeric or (plain and held is Type.INT)):
                    raise Unsupported(str(held))
                real = int(held is Type.FLOAT)
                type = Type.INT if kind == T.COUNT else Type.FLOAT if kind == T.AVERAGE else held
                if node.distinct and kind in (T.COUNT, T.SUM, T.AVERAGE):
                    earlier = self._earlier(of)
            if kind in (T.LEAST_BY, T.GREATEST_BY):
                taken = self._column(node.args[0], 0, plain)
                type = self._pooled(taken)
        at = self._of_running[node] = len(self.held)
        self.held.append(type)
        self.running.append((kind, slot, of, at, real, taken, earlier))
        return at

    def _pooled(self, column: int) -> Type:
        """The type of a column, whose values the pool has as numbers.  Raises Unsupported."""
        held = self.held[column]
        if not (held.numeric or held in (Type.INT, Type.STRING)):
            raise Unsupported(str(held))
        return held

    def _earlier(self, column: int) -> int:
        """The column that has for each row the row before with an equal value in ``column``."""
        if column not in self.earlier:
            self._pooled(column)
            self.earlier[column] = len(self.held)
            self.held.append(Type.INT)
        return self.earlier[column]

    # -- tables --------------------------------------------------------------------------------------------------------
    @cached_property
    def members(self) -> np.ndarray:
        """Booleans (slots, variables)."""
        variables = self.matching.variables
        belongs = [[v in slot for v in variables] for slot in self.slots]
        return np.array(belongs, np.bool_).reshape(len(self.slots), len(variables))

    def _with_memories(self) -> np.ndarray:
        """The code of the program, with the memory of each split."""
        code = self.program.code.copy()
        variables = self.matching.variables
        slots = [frozenset(k for k, v in enumerate(variables) if v in slot) for slot in self.slots]
        universal = frozenset(k for k, slot in enumerate(slots) if len(slot) == len(variables))
        reads = {k: c.reads for k, c in enumerate(self.by_variable) if c is not None and c.reads}
        per_attempt = self.matching.within is not None or self._reads_number
        kinds = memories(self.program, slots, reads, universal, per_attempt, self._reads_labels)
        for kind in (T.ATTEMPT, T.ALWAYS):
            chosen = np.flatnonzero(kinds == kind)
            code[chosen, T.THREE] = kind
            code[chosen, T.FOUR] = np.arange(len(chosen))
        splits = code[:, T.OP] == T.SPLIT
        code[splits & (kinds == T.NEVER), T.THREE] = T.NEVER
        return code

    def within_memory(self, words: int) -> Memory:
        """The program with so many words of failures per row at most, but at least one."""
        whole = self._whole
        return whole if max(whole.words) <= max(1, words) else self._remembering(self._within(words))

    @cached_property
    def _whole(self) -> Memory:
        return self._remembering(self.code)

    def _remembering(self, code: np.ndarray) -> Memory:
        kinds = code[code[:, T.OP] == T.SPLIT][:, T.THREE]
        always, attempt = (-(-int((kinds == kind).sum()) // 64) for kind in (T.ALWAYS, T.ATTEMPT))
        m = self.matching
        shares = (
            m.skip.to == "next" and not m.all_rows and len(kinds) > 0 and bool((kinds == T.ALWAYS).all())
            and self.highest == OF_ROW and can_share(m.measures)
        )  # fmt: skip
        return Memory(code, len(kinds), (always, attempt), shares)

    def _within(self, words: int) -> np.ndarray:
        """Splits that a search may come back to are remembered first."""
        code, most = self.code, 64 * max(1, words)
        splits = code[:, T.OP] == T.SPLIT
        out = code
        for kind in (T.ATTEMPT, T.ALWAYS):
            chosen = np.flatnonzero(splits & (code[:, T.THREE] == kind))
            if len(chosen) > most:
                out = out.copy() if out is code else out
                again = program_loops(code)[chosen]
                kept = chosen[np.argsort(~again, kind="stable")[:most]]
                out[chosen, T.THREE] = T.NEVER
                out[kept, T.THREE] = kind
                out[kept, T.FOUR] = np.arange(len(kept))
        return out

    @cached_property
    def first(self) -> np.ndarray:
        """int64 per place of the program: the variables that the next row may be mapped to, as bits; -1: any."""
        code = self.code
        out = np.zeros(len(code), np.int64)
        changed = True
        while changed:
            before = out.copy()
            for at in range(len(code) - 1, -1, -1):
                op, one, two = (int(x) for x in code[at, [T.OP, T.ONE, T.TWO]])
                if op == T.SPLIT:
                    out[at] = out[one] | out[two]
                elif op == T.ROW and one < T.BITS:
                    out[at] = 1 << one
                else:
                    out[at] = -1
            changed = bool((before != out).any())
        return out

    @cached_property
    def stack_code(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The stack code of all conditions that have such, and its constants."""
        return self.coder.program()

    @cached_property
    def skip_to(self) -> np.ndarray:
        """Booleans (variables): those that AFTER MATCH SKIP TO names."""
        m = self.matching
        return np.array([v in m.skip.variables for v in m.variables], np.bool_)

    @cached_property
    def coded(self) -> np.ndarray | None:
        """Booleans (variables): those with a condition in stack code; None if there are none."""
        variables = self.tables[0]
        coded = variables[:, T.CODE_STOP] > variables[:, T.CODE_BEGIN]
        return coded if coded.any() else None

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tables of variables, of uses of roles and of running values."""
        variables = np.zeros((len(self.by_variable), T.VARIABLE_FIELDS), np.int64)
        uses: list[tuple[int, int, int, int, int]] = []
        mask = 0
        for k, c in enumerate(self.by_variable):
            variables[k, T.MASK] = -1
            if c is None:
                continue
            if c.local or c.ahead:
                variables[k, T.MASK] = mask
                mask += 1
            variables[k, [T.CODE_BEGIN, T.CODE_STOP, T.ASKS]] = c.begin, c.stop, int(c.asks)
            variables[k, [T.ROLE_BEGIN, T.ROLE_STOP]] = len(uses), len(uses) + len(c.uses)
            uses += c.uses
        # with DISTINCT, what is known at each row stands in a place of its own
        variables[:, T.CHANGES] = True if self.earlier else self.members.any(axis=0)
        return (
            variables,
            np.array(uses, np.int64).reshape(-1, T.ROLE_FIELDS),
            np.array(self.running, np.int64).reshape(-1, T.AGGREGATE_FIELDS),
        )

    # -- one call ------------------------------------------------------------------------------------------------------
    def masks(self, table: Table, low: np.ndarray, high: np.ndarray, closed: np.ndarray) -> Masks:
        """What conditions say of their own row.

        ``low``, ``high``: the rows of the partitions; ``closed``: which of these are closed.  Raises Lost."""
        variables = self.tables[0].copy()
        out = np.ones((int((variables[:, T.MASK] >= 0).sum()), table.size), np.uint8)
        shifted = Shifted(table, low, high)
        open_high, open_low = high[~closed], low[~closed]
        for variable, c in zip(variables, self.by_variable, strict=True):
            variable[T.PLAIN] = 1
            if c is None or variable[T.MASK] < 0:
                variable[T.PLAIN] = int(c is None or c.rest is None)
                continue
            true = out[variable[T.MASK]]
            undecided = shifted.true(c.local, true) if c.local else None
            variable[T.PLAIN] = int(c.rest is None and undecided is None and not (c.ahead and len(open_high)))
            if undecided is not None:
                true[undecided] = T.LOST
            for k in range(1, c.ahead + 1):
                last = open_high - k
                true[last[last >= open_low]] = T.OPEN
        # where a condition reads rows behind other mapped rows, whether these are known comes before all else
        waits = [c is not None and bool(len(open_high)) and any(u[T.AHEAD] for u in c.uses) for c in self.by_variable]
        return Masks(variables, out, self._bits(variables, out, waits))

    def all_lost(self, n: int) -> Masks:
        """The same where nothing can be said of any row: somebody evaluates every condition."""
        variables = self.tables[0].copy()
        variables[:, T.PLAIN] = [int(c is None) for c in self.by_variable]
        variables[:, T.ASKS] = 1 - variables[:, T.PLAIN]
        out = np.full((int((variables[:, T.MASK] >= 0).sum()), n), T.LOST, np.uint8)
        return Masks(variables, out, self._bits(variables, out, [False] * len(variables)))

    def _bits(self, variables: np.ndarray, masks: np.ndarray, waits: Sequence[bool]) -> np.ndarray:
        """uint16 per row: the variables whose mask is not false, and all that may have to wait."""
        found = np.zeros(masks.shape[1], np.uint16)
        for k, m in enumerate(variables[: T.BITS, T.MASK].tolist()):
            if m >= 0 and not waits[k]:
                found |= (masks[m] == T.FALSE).astype(np.uint16) << np.uint16(k)
        variables[T.BITS :, T.PLAIN] &= variables[T.BITS :, T.MASK] < 0
        return np.invert(found, out=found)

    def pool(self, table: Table, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The columns that stack code reads: int64 (rows + 1, columns) and which of them are not null."""
        n = table.size
        values = np.zeros((n + 1, max(1, len(self.held))), np.int64)
        known = np.zeros(values.shape, np.bool_)
        shifted = Shifted(table, low, high)
        texts: dict[int, Column] = {}
        for (arg, move), at in self.columns.items():
            column = shifted.column(arg, move)
            if column.type is Type.STRING:
                texts[at] = column
            elif column.type is Type.FLOAT or self.held[at] is Type.FLOAT:
                values[:n, at] = column.cast(Type.FLOAT).values.view(np.int64)
                known[:n, at] = column.is_valid() & ~np.isnan(column.cast(Type.FLOAT).values)
            elif column.numeric:
                values[:n, at] = column.values
                known[:n, at] = column.is_valid()
        if texts:
            numbers = _numbers([c.arrow for c in texts.values()], self.texts)
            for at, number in zip(texts, numbers, strict=True):
                values[:n, at] = number
                known[:n, at] = number >= 0
        for of, at in self.earlier.items():
            values[:n, at] = _before(values[:n, of], known[:n, of], self.held[of] is Type.FLOAT)
        return values, known


@dataclass(frozen=True)
class Memory:
    """The ``code`` of a program with the memory of each split.

    ``splits``: how many there are; ``words``: of 64 bits that remember failures per row, for always and within an
    attempt.  ``shares``: can matches share rows?  They overlap, have one row of output each, and whether a row can be
    mapped does not depend on where a match begins."""

    code: np.ndarray
    splits: int
    words: tuple[int, int]
    shares: bool


@dataclass(frozen=True)
class Masks:
    """``variables``: the table of variables.  ``masks``: uint8 (masks, rows), T.FALSE ..  ``bits``: uint16 per row, the
    variables whose mask is not false."""

    variables: np.ndarray
    masks: np.ndarray
    bits: np.ndarray


class Shifted:
    """Columns of a table moved within its partitions."""

    def __init__(self, table: Table, low: np.ndarray, high: np.ndarray) -> None:
        self.table, self.low, self.high = table, low, high
        self._made: dict[tuple[Expr, int], Column] = {}

    def true(self, parts: Sequence[Expr], out: np.ndarray) -> np.ndarray | None:
        """Write where all conditions are true; the rows where an overflow hides that, None if there are none."""
        rest = []
        for k, part in enumerate(parts):
            found = self._compared(part)
            if found is None:
                rest.append(part)
            elif k == len(rest):
                out[:] = found
            else:
                out &= found
        left = conjunction(rest)
        if left is None:
            return None
        table = self.table
        passed, undecided = select(left, self.at, table.size, kind=table.kind, dialect=MATCH_RECOGNIZE)
        if undecided is not None:
            undecided = undecided[out[undecided] != 0]
        if len(rest) < len(parts):
            out &= passed
        else:
            out[:] = passed
        return undecided if undecided is not None and len(undecided) else None

    def _compared(self, part: Expr) -> np.ndarray | None:
        """Booleans: a comparison of numbers of one type, as NumPy has it; None for other conditions."""
        if not isinstance(part, Binary) or part.op not in _COMPARE:
            return None
        sides: list[tuple[Any, np.ndarray | None, Type]] = []
        for side in (part.left, part.right):
            if isinstance(side, tree.At) and isinstance(side.arg, Ref):
                column = self.column(side.arg, side.move)
                if not column.numeric:
                    return None
                sides.append((column.values, column.valid, column.type))
            elif isinstance(side, Literal) and side.type in (Type.INT, Type.FLOAT) and _fits(side.value):
                sides.append((side.value, None, side.type))
            else:
                return None
        (a, _, one), (b, _, two) = sides
        if one is not two or not one.numeric or (np.ndim(a) == 0 and np.ndim(b) == 0):
            return None
        out: np.ndarray = _COMPARE[part.op](a, b)
        for _, valid, _ in sides:
            if valid is not None:
                out &= valid
        return out

    def at(self, leaf: Expr) -> pa.Array:
        """The column of a navigation from the row at hand."""
        assert isinstance(leaf, tree.At)
        return self.column(leaf.arg, leaf.move).arrow

    def column(self, arg: Expr, move: int) -> Column:
        """``arg`` at the row that is ``move`` rows on; null outside the partition."""
        found = self._made.get((arg, move))
        if found is None:
            if move:
                found = self._moved(self.column(arg, 0), move)
            elif isinstance(arg, Ref):
                found = self.table.column(arg.name)
            else:
                table = self.table
                done = evaluate(
                    arg, lambda leaf: _leaf(table, leaf), table.size, kind=table.kind, dialect=MATCH_RECOGNIZE
                )
                if done.overflow is not None:
                    raise Lost
                found = Column.of(done.values, done.type)
            self._made[arg, move] = found
        return found

    def _moved(self, column: Column, move: int) -> Column:
        n = len(column)
        outside = np.zeros(n, np.bool_)
        for k in range(abs(move)):
            rows = self.low + k if move < 0 else self.high - 1 - k
            outside[rows[(rows >= self.low) & (rows < self.high)]] = True
        if not column.numeric:
            at = np.clip(np.arange(n) + move, 0, max(0, n - 1))
            return Column(column.type, None, None, column.arrow.take(pa.array(at, mask=outside)))
        values = np.zeros(n, column.values.dtype)
        valid = ~outside
        back, on = max(0, -move), max(0, move)
        if back < n and on < n:
            values[back : n - on] = column.values[on : n - back]
            if column.valid is not None:
                valid[back : n - on] &= column.valid[on : n - back]
        return Column(column.type, values, valid)


def _before(values: np.ndarray, known: np.ndarray, real: bool) -> np.ndarray:
    """Per row the row before with an equal value, -1: there is none, or the value is null.  Rows of other partitions
    are among them: they stand before all rows of an attempt."""
    if real:
        values = values.view(np.float64)  # 0.0 and -0.0 are equal
    rows = np.flatnonzero(known)
    order = rows[np.argsort(values[rows], kind="stable")]
    out = np.full(len(values), -1, np.int64)
    same = values[order[1:]] == values[order[:-1]]
    out[order[1:][same]] = order[:-1][same]
    return out


class Lost(Exception):
    """An overflow inside a navigation: conditions that read it are asked for."""


def _fits(value: object) -> bool:
    """Is a constant a number of a column?"""
    return isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _leaf(table: Table, leaf: Expr) -> pa.Array:
    assert isinstance(leaf, Ref)
    return table.column(leaf.name).arrow


def _numbers(columns: Sequence[pa.Array], constants: Sequence[str]) -> list[np.ndarray]:
    """Texts as numbers, the same for the same text; ``constants`` have the first ones; null is -1."""
    known = pa.array(constants, pa.string())
    out = []
    for column in columns:
        encoded = column.dictionary_encode()
        values = encoded.dictionary
        new = values.filter(pc.invert(pc.is_in(values, value_set=known)))
        known = pa.concat_arrays([known, new])
        number = pc.index_in(values, value_set=known).to_numpy(zero_copy_only=False)
        table = np.append(number.astype(np.int64), -1)
        indices = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
        out.append(table[indices])
    return out
