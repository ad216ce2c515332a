"""Terms as JSON and back, losslessly (epl-and-nets.md, section 4B, `.net.json`).

A term is an object with its class as ``node`` and its parts by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from occurs.errors import DefinitionProblem, Problem, did_you_mean
from occurs.expr.tree import Binary, Call, Expr, In, IsNull, Like, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.nets.colours import Real
from occurs.nets.netjson_at import At, Json, array, flag, members, text, texts, whole
from occurs.nets.netjson_colours import UNBOUNDED, write_value
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, Term, TupleTerm

_CLASSES: tuple[type[Expr], ...] = (
    Literal, Ref, Unary, Binary, IsNull, In, Like, Call,
    TupleTerm, RecordTerm, Inject, ListTerm, FieldTerm, EnumTerm,
)  # fmt: skip
#: the classes of terms that a net may hold
TERMS = {c.__name__: c for c in _CLASSES}


def write_term(term: Term) -> Json:
    if type(term).__name__ not in TERMS:
        raise DefinitionProblem(Problem("no-json", f"nets do not support {type(term).__name__}"))
    parts = {f.name: getattr(term, f.name) for f in fields(term) if f.compare}
    return {"node": type(term).__name__} | {n: _write_part(v) for n, v in parts.items()}


def _write_part(part: Any) -> Json:
    if isinstance(part, Expr):
        return write_term(part)
    if isinstance(part, tuple):
        return [_write_part(p) for p in part]
    if isinstance(part, Type):
        return part.value
    return write_value(part, Real("")) if isinstance(part, float) else part


def read_term(found: Json, at: At) -> Term:
    """The term that is written so; a DefinitionProblem if it is none."""
    if not isinstance(found, dict) or not isinstance(found.get("node"), str):
        at.wrong(found, "a term: an object with `node`")
    name = found["node"]
    if name not in TERMS:
        at.key("node").refuse("unknown-node", f"there is no `{name}`", did_you_mean(name, TERMS, "nodes"))
    cls = TERMS[name]
    names = [f.name for f in fields(cls) if f.compare]
    given = members(found, at, ["node", *names])
    made = {n: _READERS[n](given[n], at.key(n)) for n in names}
    if name == "Literal":
        made["value"] = _constant(made["value"], made["type"], at.key("value"))
    if name == "RecordTerm" and len(made["names"]) != len(made["parts"]):
        at.refuse("bad-value", "as many names as parts")
    if (name == "Binary" and made["op"] not in _BINARY) or (name == "Unary" and made["op"] not in ("neg", "not")):
        at.key("op").wrong(made["op"], "an operator")
    return cls(**made)


_BINARY = ("+", "-", "*", "/", "%", "mod", "div", "=", "!=", "<", "<=", ">", ">=", "and", "or")
_OF_TYPE: dict[Type, type | tuple[type, ...]] = {
    Type.INT: int, Type.TIMESTAMP: int, Type.DURATION: int, Type.FLOAT: (int, float), Type.STRING: str, Type.BOOL: bool,
    Type.NULL: type(None),
}  # fmt: skip


def _constant(value: Any, type_: Type, at: At) -> Any:
    if type_ is Type.FLOAT and isinstance(value, str):
        value = UNBOUNDED.get(value, value)
    if not isinstance(value, _OF_TYPE.get(type_, ())) or (isinstance(value, bool) and type_ is not Type.BOOL):
        at.wrong(value, f"a constant of type {type_}")
    return value


def _maybe(read: Callable[[Json, At], Any]) -> Callable[[Json, At], Any]:
    return lambda found, at: None if found is None else read(found, at)


def _type(found: Json, at: At) -> Type:
    known = {t.value: t for t in Type}
    return known[found] if isinstance(found, str) and found in known else at.wrong(found, "a type")


def _arg(found: Json, at: At) -> Term | None:
    return None if found is None and at.path.endswith(".arg") else read_term(found, at)


def _terms(found: Json, at: At) -> tuple[Term, ...]:
    return tuple(read_term(f, a) for f, a in array(found, at))


def _value(found: Json, at: At) -> Any:
    if isinstance(found, list | dict):
        at.wrong(found, "a constant")
    return found


#: how the parts of terms are read, by their names
_READERS: Mapping[str, Callable[[Json, At], Any]] = {
    "value": _value, "type": _type, "scope": _maybe(text), "name": text, "index": _maybe(whole), "op": text,
    "arg": _arg, "left": read_term, "right": read_term, "negated": flag, "items": _terms, "pattern": read_term,
    "args": _terms, "parts": _terms, "names": texts, "constructor": text,
}  # fmt: skip
