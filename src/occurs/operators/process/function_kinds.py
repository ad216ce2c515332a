"""The functions of pipes: what they take and what they give (pipes.md, 2.2, 2.3 and section 3).

:func:`typed` finds everything that is wrong with an expression; :func:`kind_of` raises the first of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from occurs.errors import did_you_mean
from occurs.expr import tree
from occurs.expr.functions import CATALOGUE, Function
from occurs.expr.signature import INT as WHOLE
from occurs.expr.signature import STRING
from occurs.model.types import Type
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    DURATION,
    INT,
    JSON,
    NULL,
    NUMBER,
    SLICES,
    TEXT,
    TIME,
    TROOLEAN,
    XML,
    Kind,
    bag_of,
    goes_into,
    joined,
    list_of,
    of_type,
    set_of,
    tuple_of,
)
from occurs.operators.process.tree import Attribute, EverySlice, Foreign, Input, ListOf, SetOf, TrooleanLiteral, TupleOf
from occurs.operators.process.values import Fault

Kinds = Sequence[Kind]


@dataclass(frozen=True)
class Signature:
    """A function: what its parameters may be (the last one repeats up to ``most``; None: without end).

    ``result``: a type, or a function of the types of the arguments.  ``words``: the parameters as people read them.
    """

    words: str
    takes: tuple[Callable[[Kind], bool], ...]
    result: Kind | Callable[[Kinds], Kind]
    least: int
    most: int | None

    def parameter(self, i: int) -> str:
        """What argument ``i`` may be, as people read it."""
        parts = self.words.replace("[", "").replace("]", "").split(", ")
        return parts[i] if len(parts) == len(self.takes) and i < len(parts) else self.words

    def takes_as(self, i: int, given: Kind) -> bool:
        """Whether argument ``i`` may be of this type."""
        return self.takes[min(i, len(self.takes) - 1)](given)


def _of(*kinds: Kind) -> Callable[[Kind], bool]:
    return lambda given: any(goes_into(given, k) for k in kinds)


def _collection(given: Kind) -> bool:
    return given in (ANY, NULL) or given.collection


def _values_of(*kinds: Kind) -> Callable[[Kind], bool]:
    """A collection of these, or a map to them."""
    return lambda given: (_collection(given) or given.name == "map") and all(_of(*kinds)(a) for a in given.args[-1:])


def _lists(given: Kind) -> bool:
    """A collection of lists, as far as its elements are known."""
    return all(a in (ANY, NULL) or a.name == "list" for a in given.args)


def _named(*names: str) -> Callable[[Kind], bool]:
    return lambda given: given in (ANY, NULL) or given.name in names


_any = _of(ANY)
_number, _text, _bool, _truth, _whole = _of(NUMBER), _of(TEXT), _of(BOOL), _of(BOOL, TROOLEAN), _of(INT)


def _first(kinds: Kinds) -> Kind:
    return kinds[0]


def _element(kinds: Kinds) -> Kind:
    """The elements of a collection, the values of a map."""
    return kinds[0].args[-1] if kinds[0].args else ANY


def _branches(kinds: Kinds) -> Kind:
    """Of ``if``: all but the conditions."""
    return joined([*kinds[1::2], kinds[-1]])


def _sum(kinds: Kinds) -> Kind:
    of = _element(kinds)
    return of if of.numeric else NUMBER


def _truths(kinds: Kinds) -> Kind:
    of = _element(kinds)
    return of if of in (BOOL, TROOLEAN) else ANY if of == ANY else BOOL


def _keys(kinds: Kinds) -> Kind:
    return set_of(kinds[0].args[0] if kinds[0].args else ANY)


def _values(kinds: Kinds) -> Kind:
    return bag_of(_element(kinds))


def _make(
    words: str, *takes: Callable[[Kind], bool], result: Kind | Callable[[Kinds], Kind], least: int | None = None
) -> Signature:
    return Signature(words, takes, result, len(takes) if least is None else least, len(takes))


_ordered = _of(NUMBER, TEXT, TIME, DURATION)
_measured = _named("text", "list", "set", "bag", "map")

#: by their lower-case names; ``power implies in element`` are written as operators
FUNCTIONS: dict[str, Signature] = {
    **dict.fromkeys(("abs", "floor", "ceil", "round"), _make("number", _number, result=_first)),
    "sqrt": _make("number", _number, result=NUMBER),
    "signum": _make("number", _number, result=INT),
    "maximum": _make("two numbers, texts or times", _ordered, _ordered, result=joined),
    "minimum": _make("two numbers, texts or times", _ordered, _ordered, result=joined),
    "power": _make("number, number", _number, _number, result=NUMBER),
    "implies": _make("bool, bool", _truth, _truth, result=joined),
    "if": Signature("bool, value, .., value", (_any,), _branches, 3, None),
    "coalesce": Signature("value, ..", (_any,), joined, 1, None),
    "number": _make("any value", _any, result=NUMBER),
    "text": _make("any value", _any, result=TEXT),
    "size": _make("a text, a collection or a map", _measured, result=INT),
    "values": _make("a map", _named("map"), result=_values),
    "keys": _make("a map", _named("map"), result=_keys),
    "get": _make("a map or a list, a key or a place", _named("map", "list", "tuple"), _any, result=_element),
    "element": _make("a list or a map, a place or a key", _named("map", "list", "tuple"), _any, result=_element),
    "contains": _make("a collection, a map or a text, a value", _measured, _any, result=BOOL),
    "holds": Signature(
        "a set of lists, value, ..", (lambda given: _collection(given) and _lists(given), _any), BOOL, 2, None
    ),
    "in": _make("a value, a collection, a map or a text", _any, _measured, result=BOOL),
    "sum": _make("a collection of numbers or a map to them", _values_of(NUMBER), result=_sum),
    "mean": _make("a collection of numbers or a map to them", _values_of(NUMBER), result=NUMBER),
    "count": _make("a collection or a map", _named("list", "set", "bag", "map"), result=INT),
    "all": _make("a collection of bool or a map to them", _values_of(BOOL, TROOLEAN), result=_truths),
    "any": _make("a collection of bool or a map to them", _values_of(BOOL, TROOLEAN), result=_truths),
    "concat": Signature("value, ..", (_any,), TEXT, 1, None),
    "split": _make("text, text", _text, _text, result=list_of(TEXT)),
    **dict.fromkeys(("starts_with", "ends_with", "matches"), _make("text, text", _text, _text, result=BOOL)),
    "replace": _make("text, text, text", _text, _text, _text, result=TEXT),
    "substring": _make("text, int[, int]", _text, _whole, _whole, result=TEXT, least=2),
    **dict.fromkeys(("troolean", "hard", "soft"), _make("bool", _truth, result=TROOLEAN)),
    "xpath": _make("xml, text", _of(XML), _text, result=list_of(TEXT)),
    "xpath_text": _make("xml, text", _of(XML), _text, result=TEXT),
    "xpath_number": _make("xml, text", _of(XML), _text, result=NUMBER),
    "json_path": _make("json, text", _of(JSON), _text, result=ANY),
}
# functions of texts and whole numbers that pipes have from the catalogue of all languages
_KINDS = {Type.STRING: TEXT, Type.INT: INT, Type.BOOL: BOOL}
SHARED = tuple(
    name for name, known in CATALOGUE.items()
    if name not in FUNCTIONS and known.result in _KINDS and all(kind in (STRING, WHOLE) for kind in known.params)
)  # fmt: skip


def _of_catalogue(known: Function) -> Signature:
    words = ["text" if kind == STRING else "int" for kind in known.params]
    least = known.least
    text = ", ".join(words[:least]) + "".join(f"[, {word}]" for word in words[least:])
    takes = tuple(_text if kind == STRING else _whole for kind in known.params)
    assert isinstance(known.result, Type)
    return Signature(text, takes, _KINDS[known.result], least, known.most)


FUNCTIONS |= {name: _of_catalogue(CATALOGUE[name]) for name in SHARED}
#: those that are no names in the text of functions
OPERATORS = ("power", "implies", "in", "element")


@dataclass(frozen=True)
class Finding:
    """Something wrong with a function: the ``kind`` of the problem, the part that is to blame.

    ``found``: the type of that part, if it is that which does not fit, and ``wanted`` what would.
    """

    kind: str
    message: str
    part: tree.Expr
    hint: str | None = None
    found: Kind | None = None
    wanted: str | None = None


class Unfit(Exception):
    """A function whose types do not fit."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


Report = Callable[[Finding], None]


def kind_of(expr: tree.Expr, inputs: Kinds, context: Mapping[str, Kind]) -> Kind:
    """The type of a function of items of the types ``inputs`` in a context of variables; Unfit if it does not fit."""

    def report(finding: Finding) -> None:
        raise Unfit(finding)

    return typed(expr, inputs, context, report)


#: in the context of a function, where it is known: what the times of events are
EVENT_TIME = "time of events"


def typed(expr: tree.Expr, inputs: Kinds, context: Mapping[str, Kind], report: Report) -> Kind:
    """The type of a function; everything that is wrong goes to ``report``, and has the type ``any``."""
    return _Typer(inputs, context, report).of(expr)


@dataclass(frozen=True)
class _Typer:
    inputs: Kinds
    context: Mapping[str, Kind]
    report: Report

    def of(self, e: tree.Expr) -> Kind:
        match e:
            case tree.Literal():
                return NULL if e.value is None else of_type(e.type)
            case tree.DurationLiteral():
                return DURATION
            case TrooleanLiteral():
                return TROOLEAN
            case EverySlice():
                return SLICES
            case Input():
                return self.input(e)
            case tree.Param():
                if e.name in self.context:
                    return self.context[e.name]
                hint = did_you_mean(e.name, self.context, "variables")
                return self.wrong(Finding("unknown-name", f"`${e.name}` has no value here", e, hint))
            case tree.Ref():
                return self.attribute_of_any(e)
            case Attribute():
                return self.attribute(e)
            case tree.IsNull():
                self.of(e.arg)
                return BOOL
            case tree.Unary(op="not"):
                return self.need(e.arg, self.of(e.arg), "bool", BOOL, TROOLEAN)
            case tree.Unary():
                return self.need(e.arg, self.of(e.arg), "a number", NUMBER, DURATION)
            case tree.Binary():
                return self.binary(e)
            case tree.Call():
                return self.call(e)
            case ListOf():
                return list_of(joined([self.of(i) for i in e.items]) if e.items else ANY)
            case SetOf():
                return set_of(joined([self.of(i) for i in e.items]) if e.items else ANY)
            case TupleOf():
                return tuple_of(zip(e.names, [self.of(i) for i in e.items]))
            case Foreign():
                for a, wanted in zip(e.args, e.function.inputs):
                    self.need(a, self.of(a), str(wanted), wanted)
                return e.function.outputs[e.output]
        raise AssertionError(e)

    def wrong(self, finding: Finding) -> Kind:
        self.report(finding)
        return ANY

    def misfit(self, part: tree.Expr, found: Kind, wanted: str, what: str) -> Kind:
        return self.wrong(Finding("type-mismatch", f"{what} is {found}, not {wanted}", part, None, found, wanted))

    def need(self, part: tree.Expr, found: Kind, words: str, *wanted: Kind) -> Kind:
        """The type of an operand, which must go into one of ``wanted``."""
        if any(goes_into(found, w) for w in wanted):
            return found
        return self.misfit(part, found, words, "the operand")

    def input(self, e: Input) -> Kind:
        if e.index < len(self.inputs):
            return self.inputs[e.index]
        many = f"{len(self.inputs)} input{'s' * (len(self.inputs) != 1)}"
        return self.wrong(Finding("unknown-name", f"there is no `${e.index}`: the function has {many}", e))

    def attribute_of_any(self, e: tree.Ref) -> Kind:
        """The attribute of the first input that has one of this name."""
        names: list[str] = []
        for kind in self.inputs:
            found = self.part(kind, e.name)
            if found is not None:
                return found
            names += [n for n, _ in kind.columns or ()]
        hint = did_you_mean(e.name, names, "attributes")
        return self.wrong(Finding("unknown-attribute", f"no input has an attribute `{e.name}`", e, hint))

    def part(self, kind: Kind, name: str) -> Kind | None:
        """A column of a tuple; of events ``type`` and ``time`` too."""
        found = kind.column(name)
        if found is None and kind.columns is not None:
            return {"type": TEXT, "time": self.context.get(EVENT_TIME, ANY)}.get(name)
        return found

    def attribute(self, e: Attribute) -> Kind:
        of = self.of(e.of)
        found = self.part(of, e.name)
        if found is not None:
            return found
        if of.columns is None:
            return self.misfit(e.of, of, "a tuple", f"the operand of `.{e.name}`")
        hint = did_you_mean(e.name, [n for n, _ in of.columns], "attributes")
        inside = [n for n, _ in of.columns if n.startswith(f"{e.name}.")]
        if inside:
            hint = f"a value in a record is a separate attribute: `` .`{inside[0]}` ``"
        return self.wrong(Finding("unknown-attribute", f"there is no attribute `{e.name}`", e, hint))

    def binary(self, e: tree.Binary) -> Kind:
        left, right = self.of(e.left), self.of(e.right)
        if e.op in ("and", "or"):
            self.need(e.left, left, "bool", BOOL, TROOLEAN)
            self.need(e.right, right, "bool", BOOL, TROOLEAN)
            return _logical(left, right)
        if e.op in ("=", "!="):
            if not _comparable(left, right):
                self.misfit(e.right, right, str(left), f"the right side of `{e.op}`")
            return BOOL
        if e.op in tree.COMPARISONS:
            ordered = (NUMBER, TEXT, TIME, DURATION)
            self.need(e.left, left, "a number, a text, a time or a duration", *ordered)
            if any(goes_into(left, k) for k in ordered) and not _comparable(left, right):
                self.misfit(e.right, right, str(left), f"the right side of `{e.op}`")
            elif not any(goes_into(right, k) for k in ordered):
                self.need(e.right, right, "a number, a text, a time or a duration", *ordered)
            return BOOL
        return self.arithmetic(e, left, right)

    def arithmetic(self, e: tree.Binary, left: Kind, right: Kind) -> Kind:
        if ANY in (left, right) and {left, right} <= {ANY, NULL, TIME, DURATION}:
            return ANY
        known = _TIMES.get((left.name, e.op, right.name))
        if known is not None:
            return known
        for part, kind in ((e.left, left), (e.right, right)):
            if not goes_into(kind, NUMBER):
                return self.misfit(part, kind, "number", f"the operand of `{e.op}`")
        if e.op == "/":
            return NUMBER
        if ANY in (left, right):
            return NUMBER if NUMBER in (left, right) else ANY
        return INT if NUMBER not in (left, right) else NUMBER

    def call(self, e: tree.Call) -> Kind:
        signature = FUNCTIONS.get(e.name)
        if signature is None:
            hint = did_you_mean(e.name, [n for n in FUNCTIONS if n not in OPERATORS], "functions")
            return self.wrong(Finding("unknown-function", f"there is no function `{e.name}`", e, hint))
        kinds = [self.of(a) for a in e.args]
        many = len(kinds)
        if many < signature.least or (signature.most is not None and many > signature.most) or _uneven(e):
            return self.wrong(Finding("arity", f"`{e.name}` takes ({signature.words}), not {many} arguments", e))
        for i, (part, kind) in enumerate(zip(e.args, kinds)):
            condition = e.name == "if" and i % 2 == 0 and i < many - 1
            if not (goes_into(kind, BOOL) if condition else signature.takes_as(i, kind)):
                wanted = "bool" if condition else signature.parameter(i)
                return self.misfit(part, kind, wanted, f"argument {i} of `{e.name}`")
        self.constants(e)
        if e.name in ("maximum", "minimum") and not _comparable(*kinds):
            return self.misfit(e.args[1], kinds[1], str(kinds[0]), f"argument 1 of `{e.name}`")
        if e.name in ("element", "get") and kinds[0].name == "tuple":
            return self.column(e, kinds[0])
        if e.name == "power":
            return _power(e, kinds)
        return signature.result if isinstance(signature.result, Kind) else signature.result(kinds)

    def constants(self, e: tree.Call) -> None:
        """Report a constant path or pattern that is none."""
        if e.name in _WRITTEN:
            at, problem = _WRITTEN[e.name]
            part = e.args[at]
            value = part.value if isinstance(part, tree.Literal) else None
            wrong = problem(value) if isinstance(value, str) else None
            if wrong is not None:
                self.wrong(Finding("type-mismatch", f"{value!r} {wrong}", part))

    def column(self, e: tree.Call, of: Kind) -> Kind:
        """``t["a"]``."""
        name = e.args[1]
        if not isinstance(name, tree.Literal) or not isinstance(name.value, str):
            return ANY
        return self.attribute(Attribute(e.args[0], name.value, span=e.span))


def _pattern_problem(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as problem:
        return f"is not a regular expression: {problem}"
    return None


def _xpath_problem(path: str) -> str | None:
    import elementpath

    try:
        elementpath.XPath1Parser().parse(path)
    except (elementpath.ElementPathError, TypeError, ValueError) as problem:
        return f"is not a supported XPath: {problem}"
    return None


def _json_problem(path: str) -> str | None:
    from occurs.operators.process.documents import json_steps

    try:
        json_steps(path)
    except Fault as fault:
        return fault.message
    return None


#: functions with an argument that is of a form: its number, and what is wrong with it
_WRITTEN: dict[str, tuple[int, Callable[[str], str | None]]] = {
    "matches": (1, _pattern_problem),
    **dict.fromkeys(("xpath", "xpath_text", "xpath_number"), (1, _xpath_problem)),
    "json_path": (1, _json_problem),
}

_TIMES: dict[tuple[str, str, str], Kind] = {
    ("time", "-", "time"): DURATION,
    ("time", "+", "duration"): TIME,
    ("time", "-", "duration"): TIME,
    ("duration", "+", "time"): TIME,
    ("duration", "+", "duration"): DURATION,
    ("duration", "-", "duration"): DURATION,
}


def _comparable(a: Kind, b: Kind) -> bool:
    """Whether two values can be equal."""
    if goes_into(a, b) or goes_into(b, a):
        return True
    return a.name == b.name or {a, b} <= {DURATION, INT, NUMBER} or {a, b} <= {INT, NUMBER}


def _logical(a: Kind, b: Kind) -> Kind:
    if TROOLEAN in (a, b):
        return TROOLEAN
    return ANY if ANY in (a, b) else BOOL


def _uneven(e: tree.Call) -> bool:
    return e.name == "if" and len(e.args) % 2 == 0


def _power(e: tree.Call, kinds: Kinds) -> Kind:
    """``^``: an int of ints, if the exponent is known not to be negative."""
    exponent = e.args[1]
    whole = isinstance(exponent, tree.Literal) and isinstance(exponent.value, int) and exponent.value >= 0
    return INT if whole and kinds[0] == INT else NUMBER
