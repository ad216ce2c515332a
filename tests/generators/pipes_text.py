"""Graphs of pipes as eSQL text, fully parenthesised: so that random graphs can be run as programs.

Not everything has a text: smoothing, dead time, tolerances of plateaus, Σ of other functions, a formula as atom of
another one, formulas of one definition with different policies for the end.  :func:`text_of` gives None for these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from occurs.expr import tree as expressions
from occurs.model.time import Duration
from occurs.operators.process import tree
from occurs.operators.process.tree import Definition, Inner, Node, Pipe, every_node, nodes


class _NoText(Exception):
    """What has no text."""


def text_of(definitions: Sequence[Definition]) -> str | None:
    """The program of these definitions; None if it has no text."""
    try:
        return _Program(definitions).text()
    except _NoText:
        return None


class _Program:
    """Pipes that are used more than once, and are no formulas, become LETs."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self.definitions = definitions
        roots = [d.pipe for d in definitions]
        uses = Counter(id(p.node) for n in nodes(roots) for p in n.inputs)
        uses.update(id(p.node) for p in roots)
        shared = [n for n in nodes(roots) if uses[id(n)] > 1 and not _has_formula(n.out())]
        self.names = {id(n): f"p{i}" for i, n in enumerate(shared) if n.inputs}
        self.shared = [n for n in shared if n.inputs]

    def text(self) -> str:
        lets = [f"LET {self.names[id(n)]} BE {self.node(n)}." for n in self.shared]
        return "\n".join([*lets, *map(self.definition, self.definitions)])

    def definition(self, d: Definition) -> str:
        formulas = [n.processor for n in every_node([d.pipe]) if isinstance(n.processor, tree.Formula)]
        policies = {f.at_end for f in formulas if not f.troolean}
        if len(policies) > 1:
            raise _NoText
        about, end = " WITH ABOUT" if d.about else "", "".join(f" AT END {p.upper()}" for p in policies)
        return f"DEFINE {d.name}{about} AS {self.pipe(d.pipe)}{end}."

    def pipe(self, pipe: Pipe) -> str:
        """An operand."""
        return self.names.get(id(pipe.node)) or self.node(pipe.node)

    def inner(self, inner: Inner) -> str:
        return self.pipe(inner.outputs[0])

    def node(self, node: Node) -> str:
        p = node.processor
        if isinstance(p, tree.Events):
            return p.types[0] if len(p.types) == 1 else f"(EVENTS OF {', '.join(p.types)})"
        if isinstance(p, tree.Placeholder):
            return "*"
        inputs = [self.pipe(i) for i in node.inputs]
        if isinstance(p, tree.Formula):
            return self.part(p.root, node)
        if isinstance(p, tree.Machine):
            return _machine(p, inputs)
        write = _WORDS.get(type(p))
        if write is None:
            raise _NoText
        inner = self.inner(p.inners[0]) if p.inners else ""
        return f"({write(p, inputs, inner)})"

    # --- formulas ---------------------------------------------------------------------------------------------------

    def part(self, part: tree.Part, node: Node) -> str:
        formula = node.processor
        assert isinstance(formula, tree.Formula)
        flavour = int(formula.troolean)

        def of(p: tree.Part) -> str:
            return self.part(p, node)

        match part:
            case tree.Atom():
                atom = node.inputs[part.index]
                if isinstance(atom.node.processor, tree.Formula):
                    raise _NoText
                return self.pipe(atom)
            case tree.Given():
                return f"({function(part.value)})"
            case tree.Not():
                return f"(NOT {of(part.operand)})"
            case tree.And():
                return f"({of(part.left)} AND {of(part.right)})"
            case tree.Or():
                return f"({of(part.left)} OR {of(part.right)})"
            case tree.Implies():
                return f"({of(part.left)} IMPLIES {of(part.right)})"
            case tree.Next():
                return f"({('X', 'AFTER')[flavour]} {of(part.operand)})"
            case tree.Globally():
                return f"({('G', 'ALWAYS')[flavour]} {of(part.operand)})"
            case tree.Eventually():
                return f"({('F', 'SOMETIME')[flavour]} {of(part.operand)})"
            case tree.Until():
                return f"({of(part.left)} {('U', 'UPTO')[flavour]} {of(part.right)})"
            case tree.Quantified():
                word = (("EXISTS", "FOR ALL"), ("SOME", "EVERY"))[flavour][part.universal]
                over = f"IN ({function(part.domain)}) ON {self.pipe(node.inputs[part.input])}"
                return f"({word} ${part.variable} {over} : {self.inner(part.body)})"
        raise AssertionError(part)


def _has_formula(pipe: Pipe) -> bool:
    return any(isinstance(n.processor, tree.Formula) for n in every_node([pipe]))


def _machine(p: tree.Machine, inputs: Sequence[str]) -> str:
    registers = ", ".join(f"${n} := {function(e)}" for n, e in p.registers)
    head = f"MACHINE ON {', '.join(inputs)}" + (f" WITH {registers}" if registers else "")
    return f"({head} START {p.start} {' '.join(map(_state, p.states))} END)"


def _state(state: tree.State) -> str:
    output = "" if state.output is None else f" OUTPUT {function(state.output)}"
    return f"IN {state.name}{output}: " + " ".join(map(_transition, state.transitions))


def _transition(t: tree.Transition) -> str:
    guard = "OTHERWISE" if t.condition is None else f"WHEN {function(t.condition)}"
    sets = ", ".join(f"${n} := {function(e)}" for n, e in t.sets)
    return f"{guard} GO TO {t.target}" + (f" SET {sets}" if sets else "") + ";"


# --- functions ------------------------------------------------------------------------------------------------------

_OPERATORS = {"mod": "MOD", "div": "DIV", "and": "AND", "or": "OR", "!=": "<>"}
_CALLS = {"implies": "IMPLIES", "power": "^", "in": "IN"}


def function(e: expressions.Expr) -> str:
    """A function."""
    match e:
        case expressions.Literal():
            return _literal(e.value)
        case tree.TrooleanLiteral():
            return e.value
        case tree.EverySlice():
            return "#"
        case tree.Input():
            return f"${e.index}"
        case expressions.Param():
            return f"${e.name}"
        case expressions.Ref():
            return e.name
        case tree.Attribute():
            return f"({function(e.of)}).{e.name}"
        case expressions.Unary():
            return f"({'NOT' if e.op == 'not' else '-'} {function(e.arg)})"
        case expressions.Binary():
            return f"({function(e.left)} {_OPERATORS.get(e.op, e.op)} {function(e.right)})"
        case expressions.IsNull():
            return f"({function(e.arg)} IS {'NOT ' if e.negated else ''}NULL)"
        case expressions.Call() if e.name in _CALLS:
            left, right = map(function, e.args)
            return f"({left} {_CALLS[e.name]} {right})"
        case expressions.Call(name="element"):
            return f"({function(e.args[0])})[{function(e.args[1])}]"
        case expressions.Call():
            return f"{e.name}({', '.join(map(function, e.args))})"
        case tree.ListOf():
            return f"[{', '.join(map(function, e.items))}]"
        case tree.SetOf():
            return "{" + ", ".join(map(function, e.items)) + "}"
    raise _NoText


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    return f"({value!r})" if value < 0 else repr(value)


# --- processors -----------------------------------------------------------------------------------------------------


def _lift(p: tree.Lift, inputs: Sequence[str], inner: str) -> str:
    if len(p.functions) != 1:
        raise _NoText
    (f,) = p.functions
    if p.where is None and not isinstance(f, tree.TupleOf):
        return f"APPLY {'EARLY ' if p.early else ''}{function(f)} WITH {', '.join(inputs)}"
    if isinstance(f, tree.TupleOf):
        columns = ", ".join(f"{function(i)} AS {n}" for n, i in zip(f.names, f.items))
    else:
        columns = function(f)
    where = "" if p.where is None else f" WHERE {function(p.where)}"
    return f"SELECT {columns} FROM {', '.join(inputs)}{where}"


def _cumulate(p: tree.Cumulate, inputs: Sequence[str], inner: str) -> str:
    if not isinstance(p.function, str):
        raise _NoText
    start = "" if p.start is None else f" STARTING AT {function(p.start)}"
    return f"COMBINE {inputs[0]} WITH {p.function.upper()}{start}"


def _width(width: int | Duration) -> str:
    if isinstance(width, int):
        return str(width)
    if width.ticks:
        return f"{width.amount} ticks"
    return f"{width.amount} us"


def _slice(p: tree.Slice, inputs: Sequence[str], inner: str) -> str:
    form = {"map": "", "each": "EACH ", "last": "LAST "}[p.form]
    exploded = " EXPLODED" if p.exploded else ""
    until = "" if p.until is None else f" UNTIL {function(p.until)}"
    return f"SLICE {form}{inputs[0]} WITH {inner} ON {function(p.key)}{exploded}{until}"


def _plateau(p: tree.Plateaus, inputs: Sequence[str], inner: str) -> str:
    if p.tolerance:
        raise _NoText
    return f"THE PLATEAU OF {inputs[0]} WITHIN {p.n}"


Write = Callable[[Any, Sequence[str], str], str]

_WORDS: dict[type[tree.Processor], Write] = {
    tree.Lift: _lift,
    tree.Cumulate: _cumulate,
    tree.Decimate: lambda p, i, _: f"EVERY {p.n} TH OF {i[0]}" + (", LAST TOO" if p.last else ""),
    tree.Freeze: lambda p, i, _: f"FREEZE {i[0]}",
    tree.Trim: lambda p, i, _: f"TRIM {p.n} OF {i[0]}",
    tree.Filter: lambda p, i, _: f"FILTER {i[0]} WITH {i[1]}",
    tree.Window: lambda p, i, inner: f"GET {inner} FROM {i[0]} ON A WINDOW OF {_width(p.width)}",
    tree.Slice: _slice,
    tree.First: lambda p, i, _: f"THE FIRST {p.n} OF {i[0]}",
    tree.Last: lambda p, i, _: f"THE LAST OF {i[0]}",
    tree.Every: lambda p, i, _: f"EVERY {_width(p.width)} OF {i[0]}",
    tree.Where: lambda p, i, _: f"{i[0]} WHERE {function(p.condition)}",
    tree.StopWhen: lambda p, i, _: f"{i[0]} STOPPING WHEN {function(p.condition)}",
    tree.Merge: lambda p, i, _: f"MERGE {', '.join(i)}",
    tree.Insert: lambda p, i, _: f"PUT {p.n} TIMES ({function(p.value)}) BEFORE {i[0]}",
    tree.Repeat: lambda p, i, _: f"REPEAT {i[0]} {p.n} TIMES",
    tree.RepeatBy: lambda p, i, _: f"REPEAT {i[0]} BY {i[1]}",
    tree.Pack: lambda p, i, _: f"PACK {i[0]} BY {i[1]}",
    tree.Unpack: lambda p, i, _: f"UNPACK {i[0]}",
    tree.Each: lambda p, i, inner: f"RUN {inner} ON {i[0]}",
    tree.Reset: lambda p, i, inner: f"RESET {inner} ON {i[0]} BY {i[1]}",
    tree.Collect: lambda p, i, _: f"THE {p.into.upper()} OF {i[0]}",
    tree.Predicates: lambda p, i, _: f"THE PREDICATES {', '.join(p.predicates)} OF {i[0]}",
    tree.CollectMap: lambda p, i, _: f"THE MAP OF {i[0]} TO {i[1]}",
    tree.Moment: lambda p, i, _: f"THE MOMENT {p.n} OF {i[0]}",
    tree.Deviation: lambda p, i, _: f"THE STANDARD DEVIATION OF {i[0]}",
    tree.Count: lambda p, i, _: f"THE COUNT OF {i[0]}",
    tree.Threshold: lambda p, i, _: f"{i[0]} THRESHOLD {p.limit}",
    tree.Peaks: lambda p, i, _: f"THE PEAK OF {i[0]} WITHIN {p.reach}",
    tree.Plateaus: _plateau,
    tree.Print: lambda p, i, _: f"PRINT {i[0]}",
    tree.Xml: lambda p, i, _: f"THE XML OF {i[0]}",
    tree.Json: lambda p, i, _: f"THE JSON OF {i[0]}",
    tree.Tuples: lambda p, i, _: f"THE TUPLES OF {i[0]}",
}
