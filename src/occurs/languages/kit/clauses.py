"""What a language says of its rules so that detections can be explained: their clauses, each with its edits.

A language that takes part has a module ``clauses`` with a function ``rules(part, texts, kind)``, which returns a
:class:`RuleClauses` per definition in the order of the part's ``nodes``, and a function ``declared(part, texts)``,
which returns the places of the types that the texts declare.  Everything is a change of the text: a variant of a rule
is its text with splices, so what is run is what a reader would write (why.md, sections 6 and 11).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

from occurs.errors import Span
from occurs.expr.dialect import Dialect
from occurs.expr.evaluate import leaves
from occurs.expr.text import Name, Text
from occurs.expr.tree import COMPARISONS, Binary, DurationLiteral, Expr, Literal, Ref, Unary
from occurs.model.time import UNIT_MICROSECONDS, TimeKind
from occurs.model.types import Type

#: the shift of an edit that drops a clause
DROPPED = math.inf

#: the attribute in which a copy of a rule shows the values of a comparison
VALUE = "occurs_value"

#: what the kinds of clauses weigh in the order of reasons (why.md, section 4)
WEIGHTS = {
    "late": 0, "outside": 0, "pending": 0, "threshold": 1, "window": 1, "count": 1, "absence": 2, "choice": 2,
    "restart": 2, "equality": 3, "relation": 3, "missing": 4,
}  # fmt: skip


@dataclass(frozen=True)
class Splice:
    """``text`` in place of what stands from ``start`` to before ``stop`` in a text."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True)
class Edit:
    """One way to relax a clause: ``splices`` of the text; ``repair``: the new text of the clause (empty: removed);
    ``shift``: how far the written value moves, :data:`DROPPED` if the clause is dropped."""

    splices: tuple[Splice, ...]
    repair: str = ""
    shift: float | Fraction = DROPPED


@dataclass(frozen=True)
class Evidence:
    """How a run shows what a clause met: ``edit`` (given the new names of types) takes the place of the clause's own,
    so that the rule also binds the row in question, under the name ``role``."""

    edit: Callable[[Mapping[str, str]], Edit]
    role: str


@dataclass(frozen=True)
class Source:
    """Where an expression has a value from: ``attribute`` of the row in ``role``, which is of ``type`` (None: of any
    type with this attribute)."""

    role: str
    type: str | None
    attribute: str


@dataclass(frozen=True)
class Reading:
    """The side of a comparison whose values its constant moves to: ``expression`` with the source of each leaf.

    ``every``: the ticks at whose multiples, behind the first row, the rule also reads what is valid then.
    """

    expression: Expr
    dialect: Dialect
    sources: Mapping[Expr, Source]
    every: int | None = None


@dataclass(frozen=True)
class Clause:
    """A clause of a rule, as written from ``start`` to before ``stop``.

    ``drop``: the edit that drops it, None if there is none.  ``loosest``: of a clause that cannot be dropped, such as a
    window, the edit after which it excludes nothing.  ``moved``: the edit for a value that the other side of the
    comparison takes (of a window: for a difference of times in ticks), None if that is no relaxation.  ``value``: the
    other side as an expression of the language; ``wanted``: what it is compared with, if that is no constant.
    ``role``: the name of the row at which it fails.  ``subject``, ``needed``: the parts of its message.
    ``others``: of a clause with a choice of edits (relations, counts) all of them, the nearest first.
    ``evidence``: see there.  ``reference``: the role from which a window is measured.  ``type``: of ``missing`` the
    type of the row to add.  ``reading``: the other side of a threshold, to be evaluated; ``shown``: the edit after
    which the rule makes a row per value of the other side, as attribute :data:`VALUE` or as its only attribute.
    """

    kind: str
    start: int
    stop: int
    text: str
    drop: Edit | None = None
    loosest: Edit | None = None
    moved: Callable[[Any], Edit | None] | None = field(default=None, compare=False)
    value: str | None = None
    wanted: str | None = None
    role: str | None = None
    reference: str | None = None
    subject: str = ""
    needed: str = ""
    others: tuple[Edit, ...] = ()
    evidence: Evidence | None = None
    type: str | None = None
    reading: Reading | None = field(default=None, compare=False)
    shown: Edit | None = None
    detail: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def widest(self) -> Edit | None:
        """Of a window the edit that makes it longer than any history; None if there is none."""
        return self.moved(2**53) if self.kind == "window" and self.moved is not None else None


@dataclass(frozen=True)
class Uses:
    """The texts that a parsed rule consists of, such as names of attributes.

    ``texts``: how often each stands in the conditions and patterns; ``outputs``: per attribute of the output the texts
    of its expression.
    """

    texts: Mapping[str, int]
    outputs: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, parts: Iterable[Any], outputs: Mapping[str, Any]) -> Uses:
        """From trees of dataclasses."""
        texts: Counter[str] = Counter()
        for part in parts:
            texts.update(_texts(part))
        return cls(texts, {name: frozenset(_texts(tree)) for name, tree in outputs.items()})


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Mapping):
        yield from (text for pair in tree.items() for part in pair for text in _texts(part))
    elif isinstance(tree, Iterable):
        yield from (text for part in tree for text in _texts(part))
    elif is_dataclass(tree):
        yield from (text for f in fields(tree) if f.name != "span" for text in _texts(getattr(tree, f.name)))


@dataclass(frozen=True)
class Seen:
    """A condition at one of the states of a derivation: ``kind`` (``comparison``, ``window``, ``condition``), ``start``
    (of a window that of its operator's bound, in which the clause lies), ``text``, and the number of the ``state``.

    ``path``: the operators that lead to the state, outermost first.  A comparison has its sides as text and their
    values there (None: not known); an operator with a bound has ``apart``, the ticks between its two states.
    ``holds``: whether the condition holds there; below a negation it does not.
    """

    kind: str
    start: int
    state: int
    path: tuple[str, ...]
    left: str = ""
    value: Any = None
    op: str = ""
    right: str = ""
    wanted: Any = None
    apart: int | None = None
    holds: bool = True
    text: str = ""


#: see :attr:`RuleClauses.followed`; None if the states do not show how the formula holds
Follow: TypeAlias = Callable[[Sequence[tuple[int, Mapping[str, Any]]], Sequence[int]], Sequence[Seen] | None]


@dataclass(frozen=True)
class Loosening:
    """An edit without which a rule may lose bindings that a repair keeps.

    It is needed if a clause of ``role`` is relaxed, or rows of one of ``types`` come or go; ``always``: in any case.
    """

    edit: Edit
    role: str | None = None
    types: frozenset[str] = frozenset()
    always: bool = False


@dataclass(frozen=True)
class Whole:
    """Of a rule that is one formula: the places of its conditions that must all hold, and the ``name`` under which its
    notices are.

    ``ahead``: the formula looks ahead, and a notice tells that it cannot be satisfied any more.  ``keys``: the columns
    of notices with the attributes of its output that have the same values.  ``observed``: the types whose rows make
    states (empty: not known); ``apart``: only those that have the values of ``keys``, too.
    """

    name: str
    parts: tuple[tuple[int, int], ...]
    ahead: bool
    keys: Mapping[str, str] = field(default_factory=dict)
    observed: tuple[str, ...] = ()
    apart: bool = False


@dataclass(frozen=True)
class Box:
    """An operator of a pipe as the answer names it; ``written``: its rows as a definition of a name, with splices."""

    text: str
    written: Callable[[str, Sequence[Splice]], str] = field(compare=False)


@dataclass(frozen=True)
class RuleClauses:
    """A definition with its clauses.

    ``start``, ``stop``: its statement in the text of number ``text``.  ``positive``: types that it reads positively;
    ``negative``: those under a negation; ``folded``: those that it aggregates.  ``loosened``: what, together with
    dropped clauses, lets every binding through that any repair lets through; None: there is nothing such.  ``renamed``:
    the splices that give types other names; ``probed``: those that add attributes ``name -> expression``.
    ``opaque``: attributes of its output whose values depend on more than the bound rows.
    ``consumes``: roles whose rows are used up.
    """

    text: int
    start: int
    stop: int
    defines: str
    name: str | None
    clauses: tuple[Clause, ...]
    positive: frozenset[str]
    negative: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    loosened: tuple[Loosening, ...] | None = None
    renamed: Callable[[Mapping[str, str]], Sequence[Splice]] = field(default=lambda names: (), compare=False)
    named: Callable[[str], Sequence[Splice]] = field(default=lambda name: (), compare=False)
    probed: Callable[[Mapping[str, str]], Sequence[Splice]] | None = field(default=None, compare=False)
    opaque: frozenset[str] = frozenset()
    consumes: tuple[str, ...] = ()
    #: whether it chooses one row among several for a role
    chooses: bool = False
    #: its roles in the order in which their rows are chosen, if it binds them one after the other
    roles: tuple[str, ...] = ()
    #: whether it counts rows that it does not bind to do so
    counts: bool = False
    #: whether rows of every type of the input matter to it, also of those that it does not read
    observes: bool = False
    #: the longest way back from its output to a row that it reads, in ticks; None: there is no bound
    reach: int | None = None
    #: durations that it writes, in ticks
    durations: tuple[int, ...] = ()
    #: constants that it writes
    constants: tuple[Any, ...] = ()
    #: per aggregate, as `because` calls it, the edit after which a copy also binds each row that enters, as its last
    #: role
    gathered: tuple[tuple[str, Edit], ...] = ()
    #: types of which only the rows at the time of its output matter
    anchors: frozenset[str] = frozenset()
    #: the types whose rows may complete a row of its output, each with how many ticks before that row; None: not known
    ends: frozenset[tuple[str, int]] | None = None
    #: the names that it uses, if it uses no attribute without its name; None: it may
    uses: Uses | None = field(default=None, compare=False)
    #: attributes of its output that are constants: their values, and where they are assigned in the text
    fixed: Mapping[str, tuple[Any, int]] = field(default_factory=dict, compare=False)
    #: its formula, if it is one
    whole: Whole | None = field(default=None, compare=False)
    #: the operators through which items come to its output, of the branch of a place, in the order of the flow
    boxes: Callable[[int], Sequence[Box]] | None = field(default=None, compare=False)
    #: of the states of a derivation (time, values) the conditions that were read there, beside the times of all states
    followed: Follow | None = field(default=None, compare=False)

    @property
    def reads(self) -> frozenset[str]:
        """All types that it reads."""
        return self.positive | self.negative | self.folded

    @property
    def title(self) -> str:
        """The output type, and the name if there is one."""
        return self.defines if not self.name or self.name == self.defines else f"{self.defines} ({self.name})"


@dataclass(frozen=True)
class Declaration:
    """A statement that declares an input type, and where the name of the type stands in it.

    ``written``: the declaration of the type alone under another name, where a statement may declare several.
    """

    text: int
    start: int
    stop: int
    type: str
    name: tuple[int, int]
    written: Callable[[str], str] | None = field(default=None, compare=False)

    def under(self, text: str, name: str) -> str:
        """The declaration under another name."""
        if self.written is not None:
            return self.written(name)
        return spliced(text, [Splice(*self.name, f"`{name}`")], self.start, self.stop)


def declarations(
    files: Iterable[Sequence[Any]],
    texts: Sequence[str],
    named: Callable[[Any], Name | None],
    written: Callable[[Any, str], str] | None = None,
) -> list[Declaration]:
    """The statements of parsed ``files`` that declare a type, each with the text of its file.

    ``named``: the name of the type that a statement declares, None if it declares none; ``written``: the declaration
    of a statement under another name, where this is more than another name in its place.
    """
    out = []
    for number, statements in enumerate(files):
        source = Text(texts[number], None)
        for s in statements:
            name = named(s)
            if name is not None and name.span is not None and s.span is not None:
                place = source.offsets(name.span)
                under = None if written is None else partial(written, s)
                out.append(Declaration(number, *source.offsets(s.span), name.text, place, under))
    return out


def of_text(span: Span | None) -> Span:
    """The place of something that was parsed, which always has one."""
    assert span is not None
    return span


def distinct(found: Iterable[Clause]) -> list[Clause]:
    """Clauses in the order of their places, ``missing`` behind others; of those of one place and kind the first."""
    seen: dict[tuple[str, int, int], Clause] = {}
    for c in found:
        seen.setdefault((c.kind, c.start, c.stop), c)
    return sorted(seen.values(), key=lambda c: (c.start, c.kind == "missing"))


def spliced(text: str, splices: Iterable[Splice], start: int = 0, stop: int | None = None) -> str:
    """``text[start:stop]`` with splices, which must lie inside; one inside another is left out."""
    stop = len(text) if stop is None else stop
    out, at = [], start
    for s in sorted(splices, key=lambda s: (s.start, s.stop > s.start, -s.stop)):
        if s.start < start or s.stop > stop or s.start < at < s.stop:
            raise ValueError(f"overlapping edits at {s.start}")
        if s.start < at:
            continue  # inside another
        out += [text[at : s.start], s.text]
        at = s.stop
    return "".join([*out, text[at:stop]])


_UNITS = tuple((u, UNIT_MICROSECONDS[u]) for u in ("d", "h", "min", "s", "ms", "us"))


def duration_of(ticks: int, kind: TimeKind, names: Mapping[str, str] | None = None) -> str:
    """A duration in the greatest unit in which it is whole: ``6 min``.  ``names``: other spellings of units."""
    if kind.tick is None:
        return str(ticks)
    micros = ticks * kind.tick
    unit = next(u for u, size in _UNITS if not micros % size) if micros else "s"
    return f"{micros // UNIT_MICROSECONDS[unit]} {(names or {}).get(unit, unit)}"


def number_of(value: Any) -> str:
    """A number as rules write it."""
    if isinstance(value, float):
        text = repr(value + 0.0)  # 0 as threshold has no sign
        return text.replace("e+", "e")
    return str(value)


def comparison_edit(
    text: str, clause: tuple[int, int], literal: tuple[int, int], between: tuple[int, int], limit: Any, greater: bool,
    right: bool, written: Callable[[Any], str],
) -> Callable[[Any], Edit | None] | None:  # fmt: skip
    """The edit that moves the constant of a comparison to a value of its other side; None if no sign stands there, as
    in `V between 1 and 2`.

    ``clause``, ``literal``, ``between`` (the sides): places in ``text``; ``limit``: the constant; ``greater``: whether
    the other side has to be great; ``right``: whether the constant stands on the right; ``written``: a value as text.
    The moved comparison is not strict.
    """
    found = OPERATOR.search(text, *between)
    if found is None:
        return None
    at = found.span()
    sign = ">=" if greater == right else "<="

    def moved(value: Any) -> Edit | None:
        if value is None or isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            return None
        strict = found[0] in ("<", ">")
        if (value > limit if greater else value < limit) or (value == limit and not strict):
            return None
        if abs(value) == math.inf:
            return None
        splices = (Splice(*at, sign), Splice(*literal, written(value)))
        repair = spliced(text, splices, *clause)
        return Edit(splices, repair, abs(Fraction(value) - Fraction(limit)))

    return moved


#: the sign of a comparison
OPERATOR = re.compile(r"<=|>=|≤|≥|<|>")


def span_of(expr: Expr) -> Any:
    """The place of an expression."""
    return getattr(expr, "span", None)


def turned(op: str) -> str:
    """A comparison with its sides exchanged."""
    return {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)


def sign_of(expr: Expr) -> Literal | DurationLiteral | None:
    """The number, duration or timestamp that an expression is, with its sign; None if it is another."""
    if isinstance(expr, Unary) and expr.op == "neg":
        inner = sign_of(expr.arg)
        if isinstance(inner, DurationLiteral):
            return replace(inner, value=replace(inner.value, amount=-inner.value.amount))
        if inner is not None and isinstance(inner.value, int | float):
            return replace(inner, value=-inner.value)
        return None
    if isinstance(expr, DurationLiteral):
        return expr
    if isinstance(expr, Literal) and expr.type in (Type.INT, Type.FLOAT, Type.TIMESTAMP):
        return expr
    return None


#: (role, attribute): where the witness of a reason has a value; a role without a name is that of the clause
Where = tuple[str | None, str]


def comparison(
    text: str, offsets: Callable[[Any], tuple[int, int]], part: Expr, drop: Edit, role: str | None, kind: TimeKind, *,
    where: Callable[[Expr], Where | None], shown: Callable[[Expr], str],
    duration: Callable[[int], str] | None = None, stamp: Callable[[int], str] = str,
    source: Callable[[Expr], Source | None] | None = None, dialect: Dialect | None = None,
) -> Clause:  # fmt: skip
    """A condition as a clause: a ``threshold`` if it compares with a constant, else an ``equality``.

    ``offsets``: of a span in ``text``; ``where``: the place of a value in the witness, None if an expression is no
    attribute; ``shown``: an expression as messages write it; ``duration``, ``stamp``: ticks as the language writes
    them; ``source``: where a leaf has its values from; ``dialect``: that in which expressions are evaluated.
    """
    start, stop = offsets(span_of(part))
    written = text[start:stop]
    if not isinstance(part, Binary) or part.op not in COMPARISONS:
        return Clause("equality", start, stop, written, drop, role=role, needed=written)
    left, right = sign_of(part.left), sign_of(part.right)
    if part.op not in ("=", "!=") and (left is None) != (right is None):
        on_right = right is not None
        other, constant = (part.left, part.right) if on_right else (part.right, part.left)
        literal = right if on_right else left
        assert literal is not None
        if isinstance(literal, DurationLiteral):
            limit: Any = math.floor(kind.convert(literal.value) or 0)
        else:
            limit = literal.value

        def value_text(value: Any) -> str:
            if isinstance(literal, DurationLiteral):
                return duration_of(value, kind) if duration is None else duration(value)
            return stamp(value) if literal.type is Type.TIMESTAMP else number_of(value)

        at, between = offsets(span_of(constant)), (offsets(span_of(part.left))[1], offsets(span_of(part.right))[0])
        greater = (part.op in (">", ">=")) == on_right
        moved = comparison_edit(text, (start, stop), at, between, limit, greater, on_right, value_text)
        op = part.op if on_right else turned(part.op)
        found = where(other)
        leaf = source(other) if source is not None and isinstance(other, Ref) else None
        detail: dict[str, Any] = {"own": found, "duration": isinstance(literal, DurationLiteral)}
        if leaf is not None and leaf.type is not None:
            detail["attribute_of"] = leaf.type, leaf.attribute
        return Clause(
            "threshold", start, stop, written, drop, None, moved, role=role, subject=shown(other),
            needed=f"{op} {text[at[0] : at[1]]}", reading=reading(other, source, dialect), detail=detail,
        )  # fmt: skip
    own, other, op = part.left, part.right, part.op
    if where(own) is None and where(other) is not None:
        own, other, op = other, own, turned(op)
    detail = {"own": where(own), "other": where(other)}
    if where(other) is None:
        detail["other_text"] = text[slice(*offsets(span_of(other)))]
    return Clause("equality", start, stop, written, drop, role=role, subject=shown(own), needed=op, detail=detail)


def reading(
    expression: Expr, source: Callable[[Expr], Source | None] | None, dialect: Dialect | None
) -> Reading | None:
    """An expression with the source of each leaf; None if the source of one is not known."""
    if source is None or dialect is None:
        return None
    found = {leaf: source(leaf) for leaf in leaves(expression)}
    known = {leaf: s for leaf, s in found.items() if s is not None}
    return Reading(expression, dialect, known) if len(known) == len(found) else None
