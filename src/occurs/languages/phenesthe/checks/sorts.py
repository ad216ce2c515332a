"""Names, arguments and sorts in the formulas of a definition (phenesthe.md, section 3)."""

from __future__ import annotations

from occurs.errors import did_you_mean
from occurs.expr.text import Text
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import FACT, Catalogue, Phenomenon, article, count
from occurs.languages.phenesthe.checks.scope import place
from occurs.languages.phenesthe.functions import FUNCTIONS
from occurs.languages.phenesthe.syntax import Relation

E, S, D, C = "event", "state", "dynamic", FACT
_LASTING, _ANY = (S, D), (E, S, D)
#: what each relation takes left and right
_RELATED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "before": (_ANY, _ANY), "after": (_ANY, _ANY),
    **dict.fromkeys(("meets", "met_by", "overlaps", "overlapped_by", "equals"), (_LASTING, _LASTING)),
    "finishes": (_ANY, _LASTING), "finished_by": (_LASTING, _ANY),
    "starts": (_ANY, _LASTING), "started_by": (_LASTING, _ANY),
    "contains": (_LASTING, _ANY), "during": (_ANY, _LASTING),
}  # fmt: skip
#: operators whose operands have fixed sorts: how they are written, the sorts, the sort of the whole
_FIXED: dict[type[Relation], tuple[str, tuple[tuple[str, ...], ...], str]] = {
    syntax.In: ("in", ((E,), (S,)), E),
    syntax.Start: ("start", ((S,),), E),
    syntax.End: ("end", ((S,),), E),
    syntax.Iteration: ("@", ((E,),), S),
    syntax.MaximalRange: ("↣", ((E,), (E,)), S),
    syntax.MinimalRange: ("~>>", ((E,), (E,)), S),
    syntax.Union: ("⊔", ((S,), (S,)), S),
    syntax.Intersection: ("⊓", ((S,), (S,)), S),
    syntax.Complement: ("\\", ((S,), (S,)), S),
}
JOIN = "combine the condition with a formula: `p(X) ∧ X > 3`"
_INSTEAD_OF_AND = {S: "intersect states with `⊓`", D: "relate dynamic phenomena with `overlaps`, `before` ..."}
_INSTEAD_OF_OR = {
    S: "unite states with `⊔`",
    D: "define each of them, and combine the definitions that use them",
    C: "`∨` cannot have a condition on only one side: write `(a ∨ b) ∧ X > 3`",
}
_WORDS = {E: "an event formula", S: "a state", D: "a dynamic phenomenon", C: "a condition"}


class Sorts:
    """The sorts of one definition; ``clean``: no name is unknown and all sorts fit."""

    def __init__(self, definition: syntax.Definition, source: Text, catalogue: Catalogue):
        self.definition = definition
        self.source = source
        self.catalogue = catalogue
        self.clean = True

    def check(self) -> None:
        """Report what does not fit; of operands that are wrong themselves nothing more is said."""
        d = self.definition
        found = self.sort(d.body)
        if found is not None and found != d.sort:
            message = f"`{d.name}` is defined as {article(d.sort)}, but its formula is {_WORDS[found]}"
            hint = (
                f"write `{found} {d.name} : ...`"
                if found != C
                else "combine the condition with a formula: `p(X) ∧ X > 3`"
            )
            if d.sort == "state" and found == "dynamic":
                hint += ", or `a intersection b` for the time that two states have in common"
            self._wrong(message, d.body, hint)
        if d.where is not None:
            found = self.sort(d.where)
            if found is not None and found != C:
                message = f"`where` takes a condition, but this is {_WORDS[found]}"
                self._wrong(message, d.where, "a condition consists of comparisons and facts")
        for atom in d.measured:
            found = self.sort(atom)
            if found is not None and found != E:
                message = f"only events can be counted or aggregated, but this is {_WORDS[found]}"
                self._wrong(message, atom, f"count the starts: `event begins : start({atom.name}(...)).`")

    def sort(self, node: Relation, goal: bool = False) -> str | None:
        """The sort of a formula, None if it is not known; ``goal``: it is the right side of `aand`."""
        if isinstance(node, syntax.Atom):
            return self._atom(node, goal)
        if isinstance(node, syntax.Comparison):
            return C
        if isinstance(node, syntax.Not):
            found = self.sort(node.operand, goal)
            self._takes("¬", node.operand, found, (E, C), None)
            return found if found in (E, C) else None
        if isinstance(node, syntax.And | syntax.Or):
            return self._connective(node)
        if isinstance(node, syntax.Filter):
            found = self.sort(node.operand)
            self._takes("filter", node.operand, found, _LASTING, None)
            return found if found in _LASTING else None
        if isinstance(node, syntax.Related):
            for part, side, sorts in zip(node.parts, ("left", "right"), _RELATED[node.rel]):
                self._takes(node.rel, part, self.sort(part), sorts, side)
            return D
        sign, takes, made = _FIXED[type(node)]
        for part, where, sorts in zip(node.parts, ("left", "right") if len(takes) == 2 else (None,), takes):
            self._takes(sign, part, self.sort(part), sorts, where)
        return made

    def _connective(self, node: syntax.And | syntax.Or) -> str | None:
        left = self.sort(node.left)
        right = self.sort(node.right, isinstance(node, syntax.And) and node.ported)
        if left is None or right is None:
            return left if left not in (None, C) else right if right != C else None
        if isinstance(node, syntax.And):
            if C in (left, right):
                return left if right == C else right
            sign, hint = "∧", _INSTEAD_OF_AND
        else:
            sign, hint = "∨", _INSTEAD_OF_OR
            if left == right == C:
                return C
        if left == right == E:
            return E
        wrong = C if C in (left, right) else left if left != E else right
        part, side = (node.left, "left") if left == wrong else (node.right, "right")
        message = f"`{sign}` takes event formulas, but its {side} operand is {_WORDS[wrong]}"
        self._wrong(message, part, hint.get(wrong))
        return None

    def _takes(self, sign: str, part: Relation, found: str | None, sorts: tuple[str, ...], side: str | None) -> None:
        if found is None or found in sorts:
            return
        wanted = ", ".join(_WORDS[s] for s in sorts[:-1]) + " or " * (len(sorts) > 1) + _WORDS[sorts[-1]]
        message = f"`{sign}` takes {wanted}, but its {side + ' ' if side else ''}operand is {_WORDS[found]}"
        if found == C:
            hint = JOIN
        elif found == D:
            hint = "dynamic phenomena can only be related and filtered: `c before d`"
        elif found == S:
            hint = "write `start(p)` or `end(p)` for the instants at which a state begins or ends"
        else:
            hint = "write a state from one event to another: `a ~> b`"
        self._wrong(message, part, hint)

    def _wrong(self, message: str, node: Relation, hint: str | None) -> None:
        self.clean = False
        self.source.report("sort", message, place(node), hint)

    # --- atoms -------------------------------------------------------------------------------------------------------

    def _atom(self, atom: syntax.Atom, goal: bool) -> str | None:
        known = self.catalogue.get(atom.name.text)
        if known is None:
            self.clean = False
            self._unknown(atom, goal)
            return None
        before = len(self.source.problems)
        self._arguments(atom, known)
        self.clean &= len(self.source.problems) == before
        return known.sort

    def _unknown(self, atom: syntax.Atom, goal: bool) -> None:
        name = atom.name.text
        if name in self.catalogue.unread:
            return  # what is wrong with its statement has been said
        if self.definition.ported and (goal or name == "collector"):
            hint = "a condition consists of comparisons and facts; declare a table as `input fact type_of(Ship, Type).`"
            self.source.report("unsupported", f"the Prolog goal `{name}` is not supported", atom.name.span, hint)
            return
        columns = [_column(argument, number) for number, argument in enumerate(atom.arguments, 1)]
        hint = self.catalogue.unknown_hint(name, columns)
        if name.lower() in FUNCTIONS:
            hint = f"compare the value of the function: `{name}(..) = true`"
        self.source.report("unknown-name", f"`{name}` is neither declared nor defined", atom.name.span, hint)

    def _arguments(self, atom: syntax.Atom, known: Phenomenon) -> None:
        placed = [a for a in atom.arguments if a.name is None]
        named = [a for a in atom.arguments if a.name is not None]
        total = len(known.attributes)
        related = (known.place,) if known.place else ()
        listed = f"attributes: {known.listed()}"
        if placed and not known.ordered:
            hint = f"name them: `attribute = X`; {listed}"
            self.source.report(
                "arity", f"the order of the attributes of `{atom.name}` is unknown", placed[0].span, hint
            )
        elif len(placed) > total:
            message = f"`{atom.name}` has {count(total, 'attribute')}, but this has {len(placed)} arguments"
            self.source.report("arity", message, placed[total].span, listed, "error", related)
        elif len(placed) < total and not (atom.rest or named):
            message = f"`{atom.name}` has {count(total, 'attribute')}, but this has {count(len(placed), 'argument')}"
            short = ", ".join(["..."] if not placed else ["X", "..."])
            hint = f"`...` stands for the rest: `{atom.name}({short})`; {listed}"
            self.source.report("arity", message, place(atom), hint, "error", related)
        taken = set(known.names[: len(placed)])
        for argument in named:
            name = argument.name
            if name is None:
                continue
            if name.text in taken:
                self.source.report("duplicate-name", f"`{name}` of `{atom.name}` is named twice", name.span,
                                   "compare two variables instead: `... ∧ X = Y`")  # fmt: skip
            elif name.text not in known.names and not known.rest:
                message = f"`{atom.name}` has no attribute `{name}`"
                near = did_you_mean(name.text, known.names, "attributes")
                hint = near if near.startswith("did") else listed
                self.source.report("unknown-attribute", message, name.span, hint, "error", related)
            taken.add(name.text)


def _column(argument: syntax.Argument, number: int) -> str:
    """What the column of an argument may be called."""
    if argument.name is not None:
        return argument.name.text
    return argument.value.name.lower() if isinstance(argument.value, syntax.Variable) else f"a{number}"
