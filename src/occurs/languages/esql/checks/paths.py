"""Values in records of the input: `Request.user.id` is the attribute `user.id`, once the input is known.

eSQL also has records of its own, which SELECT makes and lists hold.  So `a.b` is the attribute `a.b` only if the
input has one, and no attribute `a`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from occurs.languages.esql import syntax
from occurs.model.types import Schema


def with_paths(file: syntax.File, schemas: Mapping[str, Schema]) -> syntax.File:
    """The file with the attributes of records under their whole names; ``schemas``: of the types of the input."""
    if not any("." in name for schema in schemas.values() for name in schema.names):
        return file
    every = {name for schema in schemas.values() for name in schema.names}
    found: syntax.File = _Paths(schemas, every).of(file)
    return found


class _Paths:
    def __init__(self, schemas: Mapping[str, Schema], every: Collection[str]) -> None:
        self.schemas = schemas
        self.every = every

    def of(self, value: Any) -> Any:
        """A value of the tree with all that is in it."""
        if isinstance(value, tuple):
            new = tuple(map(self.of, value))
            return new if any(a is not b for a, b in zip(value, new, strict=True)) else value
        if isinstance(value, syntax.Access):
            return self._access(value)
        if not is_dataclass(value) or isinstance(value, type):
            return value
        before = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        after = {name: self.of(part) for name, part in before.items()}
        changed = {name: part for name, part in after.items() if part is not before[name]}
        return replace(value, **changed) if changed else value

    def _access(self, node: syntax.Access) -> syntax.Node:
        names: list[str] = []
        base: syntax.Node = node
        while isinstance(base, syntax.Access):
            names.insert(0, base.name)
            base = base.of
        schema = self.schemas.get(base.name) if isinstance(base, syntax.Named) else None
        if isinstance(base, syntax.Named) and schema is None:  # an attribute of the items at hand
            whole = self._together([base.name, *names], self.every)
            out: syntax.Node = syntax.Named(whole[0], span=base.span)
            names = whole[1:]
        else:
            out = self.of(base)
            names = self._together(names, self.every if schema is None else schema.names)
        for name in names:
            out = syntax.Access(out, name, span=node.span)
        return node if out == node else out

    def _together(self, names: list[str], known: Collection[str]) -> list[str]:
        """The names of a path, those that make one attribute as one."""
        if names[0] in known:
            return names
        for n in range(len(names), 1, -1):
            if ".".join(names[:n]) in known:
                return [".".join(names[:n]), *names[n:]]
        return names
