"""The phenomena and facts of a program: declared, defined and known from elsewhere (phenesthe.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from occurs.errors import Place, did_you_mean, nearest
from occurs.expr.text import Text
from occurs.languages.phenesthe import syntax
from occurs.model.types import RESERVED_INPUT, RESERVED_OUTPUT, Schema, Type, widen


class Catalogue:
    """All names of a program."""

    def __init__(self, inputs: Mapping[str, Schema] | None, foreign: Mapping[str, Schema]):
        self.inputs = inputs or {}
        self.known: dict[str, Phenomenon] = {
            name: Phenomenon(name, "dynamic" if s.lasting else "event", s.attributes, "foreign", ordered=s.ordered)
            for name, s in foreign.items()
        }
        #: names of statements that could not be read
        self.unread: set[str] = set()

    def get(self, name: str) -> Phenomenon | None:
        return self.known.get(name)

    @property
    def sorts(self) -> Mapping[str, str]:
        return SortsOf(self.known)

    def fill(self, statements: Sequence[tuple[Text, syntax.Statement]]) -> None:
        """Enter declarations, facts and definitions, and report what is there twice."""
        for source, s in statements:
            if isinstance(s, syntax.Declaration):
                self._declare(source, s)
        for source, s in statements:
            if isinstance(s, syntax.Definition):
                self._define(source, s)
        for source, s in statements:
            if isinstance(s, syntax.Fact):
                self._fact(source, s)

    def _enter(self, source: Text, name: syntax.Name, made: Phenomenon, verb: str) -> None:
        place = Place(f"`{name}` is {verb} here", source.file, name.span)
        before = self.known.get(name.text)
        if before is None:
            self.known[name.text] = replace(made, place=place)
            return
        if before.origin == "foreign":
            message = f"`{name}` is also defined in another language"
            hint = "rename one of the two definitions"
        else:
            old = "defined" if before.origin == "definition" else "declared"
            message = (
                f"`{name}` is {verb} here, but it was {old} before" if verb != old else f"`{name}` is {verb} twice"
            )
            hint = {"event": "combine the formulas with ∨ in one definition", "state": "combine the formulas with ⊔ in "
                    "one definition"}.get(made.sort, "rename one of the two definitions")  # fmt: skip
        related = (before.place,) if before.place else ()
        source.report("duplicate-definition", message, name.span, hint, "error", related)

    def _declare(self, source: Text, d: syntax.Declaration) -> None:
        seen = self.inputs.get(d.name.text)
        unread = "`type`, `time` and `end` are read from every row" if d.sort != FACT else None
        _names_once(source, d.name, [a.name for a in d.attributes], RESERVED_INPUT if d.sort != FACT else (), unread)
        attributes = []
        for a in d.attributes:
            observed = _observed(a.name.text, seen)
            attributes.append((a.name.text, a.type or (observed[1] if observed else None) or Type.NULL))
        if d.rest and seen is not None:
            taken = {*(n.lower() for n, _ in attributes), *(("holds",) if d.changes else ())}
            attributes += [(n, t) for n, t in seen if n.lower() not in taken]
        made = Phenomenon(d.name.text, d.sort, tuple(attributes), "input", d.rest and seen is None, changes=d.changes)
        before = self.known.get(d.name.text)
        if before is None or before.origin != "foreign":
            self._enter(source, d.name, made, "declared")
        elif self._agree(source, d, made, before):
            place = Place(f"`{d.name}` is declared here", source.file, d.name.span)
            typed = tuple((n, t if t is not Type.NULL else before.type_of(n)) for n, t in made.attributes)
            self.known[d.name.text] = replace(made, attributes=typed, origin="foreign", place=place)

    def _agree(self, source: Text, d: syntax.Declaration, made: Phenomenon, there: Phenomenon) -> bool:
        """Whether a declaration agrees with the type as another language defines it; reports if it does not."""
        kinds = ("event",) if there.sort == "event" else ("state", "dynamic")
        if made.sort not in kinds:
            message = f"`{d.name}` is declared as {article(made.sort)}, but defined as {article(there.sort)}"
            source.report("schema-conflict", message, d.name.span, f"write `input {kinds[0]} {d.name}(...)`")
            return False
        names = there.names[: len(made.names)] if d.rest else there.names
        same = made.names == names if there.ordered else set(made.names) <= set(there.names)
        if same and all(widen(t, there.type_of(n)) is not None for n, t in made.attributes):
            return True
        listed = ", ".join(f"{n}: {t}" if t is not Type.NULL else n for n, t in there.attributes)
        message = f"the declaration of `{d.name}` differs from its definition in another language"
        source.report("schema-conflict", message, d.name.span, f"it is defined as `{d.name}({listed})`")
        return False

    def _define(self, source: Text, d: syntax.Definition) -> None:
        hint = "every result has a column of this name"
        _names_once(source, d.name, [a.name for a in d.head], RESERVED_OUTPUT, hint)
        attributes = tuple((a.name.text, a.value.type if isinstance(a.value, syntax.Constant) else Type.NULL)
                           for a in d.head)  # fmt: skip
        self._enter(source, d.name, Phenomenon(d.name.text, d.sort, attributes, "definition"), "defined")

    def _fact(self, source: Text, fact: syntax.Fact) -> None:
        known = self.known.get(fact.name.text)
        types = [v.type for v in fact.values]
        if known is None:
            attributes = tuple((f"a{i}", t) for i, t in enumerate(types, 1))
            place = Place(f"the first fact `{fact.name}` is here", source.file, fact.name.span)
            self.known[fact.name.text] = Phenomenon(
                fact.name.text, FACT, attributes, "facts", rows=(fact,), place=place
            )
            return
        related = (known.place,) if known.place else ()
        if known.sort != FACT:
            message = f"`{fact.name}` is {article(known.sort)}, but this is a fact"
            hint = "rename the facts"
            source.report("duplicate-definition", message, fact.name.span, hint, "error", related)
            return
        if len(types) != len(known.attributes):
            message = f"`{fact.name}` has {count(len(known.attributes), 'attribute')}, but this fact has {len(types)}"
            source.report("arity", message, fact.span, f"attributes: {known.listed()}", "error", related)
            return
        merged = []
        for (name, old), value in zip(known.attributes, fact.values):
            both = widen(old, value.type)
            if both is None:
                message = f"`{name}` of `{fact.name}` is {old} elsewhere, but {value.type} here"
                source.report("type-mismatch", message, value.span, "a column must have one type", "error",
                              related)  # fmt: skip
            merged.append((name, both or old))
        self.known[fact.name.text] = replace(known, attributes=tuple(merged), rows=(*known.rows, fact))

    def retype(self, name: str, types: Mapping[str, Type]) -> None:
        """Enter the types of the attributes of a definition, once they are known."""
        known = self.known[name]
        attributes = tuple((n, types.get(n, t)) for n, t in known.attributes)
        self.known[name] = replace(known, attributes=attributes)

    def unknown_hint(self, name: str, arguments: Sequence[str]) -> str:
        """What to do about a name that is not known; ``arguments``: what its columns may be called."""
        if name in self.inputs:
            columns = ", ".join(self.inputs[name].names)
            return f"the input has it: declare it, as in `input event {name}({columns}).`"
        if nearest(name, self.known):
            return did_you_mean(name, self.known, "phenomena")
        columns = f"({', '.join(arguments)})" if arguments else ""
        return f"if the input has it, declare it with the names of its columns: `input event {name}{columns}.`"


def _observed(name: str, schema: Schema | None) -> tuple[str, Type] | None:
    """The column of a table that an attribute names: exactly, else ignoring case if there is one only."""
    if schema is None:
        return None
    near = [(n, t) for n, t in schema if n.lower() == name.lower()]
    exact = [(n, t) for n, t in near if n == name]
    return exact[0] if exact else near[0] if len(near) == 1 else None


def _names_once(
    source: Text, of: syntax.Name, names: Sequence[syntax.Name], reserved: Sequence[str], hint: str | None
) -> None:
    seen: set[str] = set()
    for name in names:
        if name.text in seen:
            advice = "write another attribute as `name = Variable`"
            message = f"`{of}` has two attributes called `{name}`"
            source.report("duplicate-definition", message, name.span, advice)
        elif name.text in reserved:
            source.report("reserved-name", f"`{name}` cannot be the name of an attribute", name.span, hint)
        seen.add(name.text)


# --- one phenomenon ---------------------------------------------------------------------------------------------------


#: the sort of facts, beside those of `syntax.SORTS`
FACT = "fact"


@dataclass(frozen=True)
class Phenomenon:
    """What is known under a name.

    ``attributes``: in order, NULL is an unknown type.  ``rest``: there are more, of which nothing is known.
    ``ordered``: arguments may stand by position.  ``origin``: ``input``, ``definition``, ``facts`` (rows written in the
    program only) or ``foreign``.
    """

    name: str
    sort: str
    attributes: tuple[tuple[str, Type], ...]
    origin: str
    rest: bool = False
    ordered: bool = True
    changes: bool = False
    #: the rows of facts written in the program
    rows: tuple[syntax.Fact, ...] = ()
    place: Place | None = field(default=None, compare=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.attributes)

    @property
    def schema(self) -> Schema:
        return Schema(self.attributes, self.ordered, self.sort in ("state", "dynamic"))

    def type_of(self, attribute: str) -> Type:
        """The type of an attribute, NULL if it is not known."""
        return dict(self.attributes).get(attribute, Type.NULL)

    def arguments(self, atom: syntax.Atom) -> tuple[tuple[str, syntax.Value], ...]:
        """The arguments of an atom without problems, each with the attribute it looks at."""
        names = self.names
        return tuple((a.name.text if a.name else names[i], a.value) for i, a in enumerate(atom.arguments))

    def listed(self) -> str:
        """The attributes as they are shown to the user."""
        names = ", ".join(f"`{n}`" for n in self.names) or "no attributes"
        return names + (", ..." if self.rest else "")


class SortsOf(Mapping[str, str]):
    """The sorts of phenomena by their names, as they are when they are asked for."""

    def __init__(self, phenomena: Mapping[str, Phenomenon]):
        self._phenomena = phenomena

    def __getitem__(self, name: str) -> str:
        return self._phenomena[name].sort

    def __iter__(self) -> Iterator[str]:
        return iter(self._phenomena)

    def __len__(self) -> int:
        return len(self._phenomena)


def article(sort: str) -> str:
    """``an event``, ``a state``, ``a dynamic phenomenon``, ``a condition``."""
    words = {"event": "an event", "dynamic": "a dynamic phenomenon", FACT: "a condition"}
    return words.get(sort, f"a {sort}")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
