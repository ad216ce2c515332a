"""Variables and parameters: statements with the values that they are given (epl-and-nets.md, section 2).

A variable keeps its value during a run: the one that is given from outside, else that of its declaration.  A parameter
has the value that is given; those without a name are called `1`, `2` .. in the order of their text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import isfinite
from typing import Any

from occurs.errors import Place, Span
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate
from occurs.expr.text import Text
from occurs.expr.tree import Expr, Literal, Ref, Unary, rewrite
from occurs.expr.typing import span_of
from occurs.languages.epl import syntax
from occurs.languages.epl.checks.types import Typing, instant_of
from occurs.languages.epl.parser.tree import TYPES
from occurs.languages.epl.render.expressions import expr_text, name_text
from occurs.languages.epl.words import UNITS
from occurs.languages.kit.language import Written
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type
from occurs.model.values import short

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NULL = Literal(None, Type.NULL)


@dataclass(frozen=True)
class Filled:
    """Files whose variables and parameters are values.

    ``takes``: the names of the values that may be given.  ``written``: per file the places of variables and parameters
    with their values as text; of the declaration of a variable empty.
    """

    files: tuple[syntax.File, ...]
    takes: frozenset[str]
    written: tuple[tuple[tuple[Span, str], ...], ...]


def filled(files: Sequence[syntax.File], sources: Sequence[Text], values: Mapping[str, Any]) -> Filled:
    """Files with values in the place of variables and parameters; what is wrong is reported to their ``sources``."""
    created = [
        (source, s)
        for source, file in zip(sources, files, strict=True)
        for s in file.statements
        if isinstance(s, syntax.CreateVariable)
    ]
    leaves = [[n for e in syntax.expressions(file) for n in e.walk()] for file in files]
    parameters = [sorted((n for n in found if isinstance(n, syntax.Parameter)), key=_place) for found in leaves]
    if not created and not any(parameters):
        return Filled(tuple(files), frozenset(), ((),) * len(files))
    known = _Values(values)
    for source, variable in created:
        known.create(source, variable)
    several = sum(any(p.name is None for p in found) for found in parameters) > 1
    out, written = [], []
    for source, file, found in zip(sources, files, parameters, strict=True):
        number = 0
        for parameter in found:
            number += parameter.name is None
            if parameter.name is None and several:
                hint = "name it: `?:limit`"
                source.report("duplicate-name", "several files have parameters without a name", parameter.span, hint)
            known.parameter(source, parameter, parameter.name or str(number))
        filling = _Filling(known, source)
        out.append(replace(file, statements=tuple(map(filling.statement, file.statements))))
        written.append(tuple(filling.written))
    return Filled(tuple(out), frozenset(known.takes), tuple(written))


def _place(parameter: syntax.Parameter) -> tuple[int, int]:
    return (parameter.span.line, parameter.span.column) if parameter.span is not None else (0, 0)


class _Values:
    """The values of variables by name, and of parameters by identity.  ``takes``: the names that may be given."""

    def __init__(self, given: Mapping[str, Any]):
        self.given = given
        self.takes: set[str] = set()
        self.variables: dict[str, Literal] = {}
        self.constants: set[str] = set()
        self.places: dict[str, Place] = {}
        self.parameters: dict[int, Literal] = {}

    def create(self, source: Text, variable: syntax.CreateVariable) -> None:
        name, span = variable.name.text, variable.name.span
        if name in self.variables:
            source.report(
                "duplicate-definition", f"the variable `{name}` is created twice", span, None, "error",
                (self.places[name],),
            )  # fmt: skip
            return
        self.places[name] = Place("the first is here", source.file, span)
        value = self._initial(source, variable)
        if variable.constant:
            self.constants.add(name)
            if name in self.given:
                hint = "leave out `constant`, or do not give it a value"
                source.report("type-mismatch", f"`{name}` is constant and takes no other value", span, hint)
            self.takes.add(name)
        else:
            self.takes.add(name)
            if name in self.given:
                value = self._read(source, self.given[name], variable.type, name, variable.name)
        if value is None:
            hint = f"give it one, `--set {name}=..` (Python: values={{'{name}': ..}}), or in its declaration: `= 5`"
            source.report("unbound-variable", f"the variable `{name}` has no value", span, hint)
        self.variables[name] = value or _NULL

    def _initial(self, source: Text, variable: syntax.CreateVariable) -> Literal | None:
        """The value of a declaration."""
        if variable.value is None:
            return None

        def earlier(n: Expr) -> Expr | None:
            return self.variables.get(n.name) if isinstance(n, Ref) and _bare(n) else None

        expr = rewrite(variable.value, earlier)
        if any(isinstance(n, Ref | syntax.Parameter) for n in expr.walk()):
            hint = "write a constant, or compute it from variables that are created before"
            source.report("type-mismatch", "the value of a variable is a constant", span_of(variable.value), hint)
            return _NULL
        plain, _ = Typing(lambda ref: None, source.report, None).typed(expr)
        found = evaluate(plain, lambda leaf: leaf, 1, kind=TimeKind(), dialect=EPL)
        value = found.values[0].as_py()
        if isinstance(value, datetime):
            value = (value.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
        return self._typed(source, value, found.type, variable.type, variable.name.text, variable)

    def parameter(self, source: Text, parameter: syntax.Parameter, name: str) -> None:
        self.takes.add(name)
        if name not in self.given:
            called = f"`{name}`" if parameter.name else f"number {name}"
            hint = f"give it one: `--set {name}=..` (Python: values={{'{name}': ..}})"
            source.report("unbound-variable", f"the parameter {called} has no value", parameter.span, hint)
            self.parameters[id(parameter)] = _NULL
            return
        wanted = TYPES.get(parameter.written) if parameter.written else None
        self.parameters[id(parameter)] = self._read(source, self.given[name], wanted, name, parameter)

    def _read(self, source: Text, value: Any, wanted: Type | None, name: str, node: Any) -> Literal:
        """A value that was given, as a constant."""
        if isinstance(value, Written):
            value = _of_text(value, wanted)
        if isinstance(value, datetime):
            at = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
            return self._typed(source, (at - _EPOCH) // timedelta(microseconds=1), Type.TIMESTAMP, wanted, name, node)
        for python, type in ((bool, Type.BOOL), (int, Type.INT), (float, Type.FLOAT), (str, Type.STRING)):
            if isinstance(value, python):
                return self._typed(source, value, type, wanted, name, node)
        if value is None:
            return _NULL
        message = f"the value of `{name}` has no type of EPL: {short(value)}"
        source.report("type-mismatch", message, node.span, "give a number, a text, a truth value or a time")
        return _NULL

    def _typed(self, source: Text, value: Any, is_: Type, wanted: Type | None, name: str, node: Any) -> Literal:
        """A value of type ``is_`` as a constant of the type that is wanted."""
        if value is None:
            return _NULL
        if wanted is Type.FLOAT and is_ is Type.INT:
            value, is_ = float(value), Type.FLOAT
        if wanted is Type.TIMESTAMP and is_ is Type.STRING and (at := instant_of(value)) is not None:
            value, is_ = at, Type.TIMESTAMP
        if wanted is not None and is_ is not wanted:
            message = f"the value of `{name}` must be {wanted}, but {short(value)} is {is_}"
            source.report("type-mismatch", message, node.span, None)
            return _NULL
        if is_ is Type.INT and not -(2**63) <= value < 2**63:
            source.report("type-mismatch", f"the value of `{name}` does not fit into 64 bits", node.span, None)
            return _NULL
        if is_ is Type.FLOAT and not isfinite(value):
            source.report("type-mismatch", f"the value of `{name}` is not a number: {value}", node.span, None)
            return _NULL
        return Literal(value, is_)


def _bare(node: Expr) -> bool:
    return isinstance(node, Ref) and node.scope is None and node.index is None


def _of_text(text: str, wanted: Type | None) -> Any:
    """The value that a text stands for; the text itself if it stands for none of the type."""
    if wanted is Type.STRING:
        return str(text)
    if text.lower() == "null":
        return None
    if wanted in (None, Type.BOOL) and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if wanted in (None, Type.INT, Type.FLOAT):
        for read in (int, float):
            try:
                return read(text)
            except ValueError:
                continue
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else str(text)


class _Filling:
    """Puts values into one file."""

    def __init__(self, known: _Values, source: Text):
        self.known = known
        self.source = source
        self.written: list[tuple[Span, str]] = []

    def statement(self, s: syntax.Statement) -> syntax.Statement:
        if isinstance(s, syntax.CreateVariable) and s.span is not None:
            self.written.append((s.span, ""))
        if not isinstance(s, syntax.Query):
            return s
        tags = [n.tag for n in s.pattern.walk() if isinstance(n, syntax.Filter) and n.tag is not None]
        for tag in tags:
            if tag.text in self.known.variables:
                place = replace(self.known.places[tag.text], message="the variable is here")
                message = f"`{tag}` is a variable and a tag"
                self.source.report("duplicate-name", message, tag.span, "give the event another tag", "error", (place,))
        columns = {i.name.text for i in s.items if i.name is not None}
        order = tuple(self._mapped(sort, columns) for sort in s.order)
        items = tuple(map(self._item, s.items))
        where = None if s.where is None else self._mapped(s.where)
        return replace(s, items=items, pattern=self._mapped(s.pattern), where=where, order=order)

    def _item(self, item: syntax.Item) -> syntax.Item:
        expr = item.expr
        if expr is None:
            return item
        name = item.name
        if name is None and isinstance(expr, Ref) and _bare(expr) and expr.name in self.known.variables:
            name = syntax.Name(expr.name, span=expr.span)
        made = replace(item, expr=self._mapped(expr), name=name)
        if name is not item.name and name is not None:
            span, text = self.written.pop()
            self.written.append((span, f"{text} as {name_text(name.text)}"))
        return made

    def _mapped(self, node: Any, but: set[str] | frozenset[str] = frozenset()) -> Any:
        """A part of a statement with values; ``but``: names that are no variables there."""
        if isinstance(node, Expr):
            return rewrite(node, lambda n: self._value(n, but))
        if isinstance(node, tuple):
            return tuple(self._mapped(part, but) for part in node)
        if isinstance(node, syntax.Computed):
            return self._length(replace(node, parts=tuple((self._mapped(e, but), size) for e, size in node.parts)))
        if not isinstance(node, syntax.NODES):
            return node
        made = replace(node, **{f.name: self._mapped(getattr(node, f.name), but) for f in fields(node) if f.init})
        if isinstance(made, syntax.Followed):
            return replace(made, limits=tuple(map(self._whole, made.limits)))
        if isinstance(made, syntax.Within):
            return replace(made, count=self._whole(made.count))
        if isinstance(made, syntax.Filter):
            return replace(made, consume=self._whole(made.consume, 0))
        if isinstance(made, syntax.Cron):
            return replace(made, low=self._whole(made.low), high=self._whole(made.high))
        if isinstance(made, syntax.Repeat):
            count = self._number(made.count)
            return made if count is None else replace(made, count=count)
        if isinstance(made, syntax.Until):
            return replace(made, low=self._number(made.low), high=self._number(made.high))
        if isinstance(made, syntax.EveryDistinct) and made.expiry is None and len(made.keys) > 1:
            last = made.keys[-1]
            if isinstance(last, syntax.Value) and last.variable in self.known.constants and last.type.numeric:
                expiry = Duration(Fraction(last.value or 0) * UNITS["sec"])
                return replace(made, keys=made.keys[:-1], expiry=expiry)
        return made

    def _value(self, node: Expr, but: set[str] | frozenset[str]) -> Expr | None:
        if isinstance(node, syntax.Parameter):
            return self._noted(replace(self.known.parameters[id(node)], span=node.span))
        if not isinstance(node, Ref) or not _bare(node) or node.name in but or node.name not in self.known.variables:
            return None
        value = self.known.variables[node.name]
        return self._noted(syntax.Value(value.value, value.type, span=node.span, variable=node.name))

    def _noted(self, value: Literal) -> Literal:
        text = expr_text(Literal(value.value, value.type))
        if value.span is not None:
            self.written.append((value.span, f"({text})" if text.startswith("-") else text))
        return value

    def _whole(self, number: Any, least: int = -(2**31)) -> Any:
        """A number, at ``least`` this, that a parameter may give; 1 after a problem."""
        if not isinstance(number, Expr):
            return number
        value = number.arg if isinstance(number, Unary) else number
        whole = value.value if isinstance(value, Literal) and value.type is Type.INT else None
        if isinstance(whole, int) and least <= whole < 2**31:
            return whole if value is number else -whole
        if not any(p.span == span_of(value) for p in self.source.problems):
            hint = "give a whole number" if least < 0 else f"give a whole number from {least}"
            self.source.report("type-mismatch", "a whole number is needed here", span_of(value), hint)
        return 1

    def _number(self, bound: Any) -> Any:
        """A number of repetitions that is known now; null is none."""
        if not isinstance(bound, Literal) or bound.type not in (Type.INT, Type.NULL):
            return bound
        return bound.value

    def _length(self, length: syntax.Computed) -> Duration:
        """A length of time that is known now."""
        if not all(isinstance(e, Literal) for e, _ in length.parts):
            return length
        total = Fraction(0)
        for e, size in length.parts:
            if not isinstance(e, Literal) or e.type not in (Type.INT, Type.FLOAT) or e.value is None:
                span = span_of(e)
                self.source.report("type-mismatch", "a length of time is a number of seconds", span, "give a number")
                return Duration(Fraction(UNITS["sec"]))
            total += Fraction(e.value) * size
        return Duration(total)
