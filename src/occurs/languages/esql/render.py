"""eSQL trees as canonical text: what is parsed from it is the same tree (pipes.md, 2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from occurs.expr.render import string_text, timestamp_text
from occurs.expr.text import Name
from occurs.languages.esql import syntax
from occurs.languages.esql.grammar import (
    BY_KIND,
    COMPARISON,
    CONSTANTS,
    IMPLIES,
    KEYWORDS,
    NEGATION,
    OPERAND,
    OPERATORS,
    POWER,
    SUM,
    UNARY,
    Choice,
    Element,
    Option,
    Pattern,
    Slot,
)

#: what needs parentheses wherever it is an operand: WHERE and its kin, forms that end in a function
_PIPE = -1
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ORDINALS = {1: "ST", 2: "ND", 3: "RD"}


def render(node: syntax.File | syntax.Statement | syntax.Node) -> str:
    """The canonical text of a file (a statement a line), a statement, a pipe or a function."""
    match node:
        case syntax.File():
            return "".join(f"{render(s)}\n" for s in node.statements)
        case syntax.Let():
            return f"LET {name_text(node.name.text)} BE {render(node.pipe)}."
        case syntax.Definition():
            head = f"DEFINE {name_text(node.name.text)}{' WITH ABOUT' * node.about} AS " if node.name else ""
            pipe = render(node.pipe)
            pipe = f"({pipe})" if pipe[0] == "#" else pipe  # which would begin a comment
            return f"{head}{pipe}{f' AT END {node.at_end}' if node.at_end else ''}."
        case syntax.Phrase():
            params = ", ".join(f"@{n} IS A {c.upper()}" for n, c in node.parameters)
            body = render(node.body) if node.body is not None else ""
            when = f"WHEN {params}: " if params else ""
            return f"{when}{' '.join(node.pattern)} IS THE {node.category.upper()} {body}."
    return _text(node)[0]


def name_text(name: str) -> str:
    """A name, in backticks if it needs them."""
    plain = _NAME.match(name) and name not in KEYWORDS and name not in CONSTANTS and name != "TIME"
    return name if plain else f"`{name}`"


def _within(node: syntax.Node, least: int) -> str:
    text, level = _text(node)
    return text if level >= least else f"({text})"


def _text(node: syntax.Node) -> tuple[str, int]:
    """The text of a node and how tightly it binds."""
    match node:
        case syntax.Number():
            text = "1e999" if node.value == float("inf") else repr(node.value)
            return text, NEGATION if text.startswith("-") else OPERAND
        case syntax.Text():
            return _string(node.value), OPERAND
        case syntax.Constant():
            return node.word, OPERAND
        case syntax.Time():
            return "TIME" + timestamp_text(node.microseconds).removeprefix("timestamp"), OPERAND
        case syntax.Length():
            return f"{node.amount!r} {node.unit}", OPERAND
        case syntax.Variable():
            return f"${node.name}", OPERAND
        case syntax.Parameter():
            return f"@{node.name}", OPERAND
        case syntax.Named():
            return name_text(node.name), OPERAND
        case syntax.Star():
            return "*", OPERAND
        case syntax.Access():
            return f"{_base(node.of)}.{name_text(node.name)}", OPERAND
        case syntax.Element():
            return f"{_base(node.of)}[{_within(node.at, IMPLIES)}]", OPERAND
        case syntax.Items():
            inside = _commas(node.items)
            return f"{{{inside}}}" if node.set else f"[{inside}]", OPERAND
        case syntax.Call():
            return f"{name_text(node.name)}({_commas(node.args)})", OPERAND
        case syntax.Unary() | syntax.Binary() | syntax.IsNull() | syntax.Quantifier() | syntax.Where():
            return _operator(node)
        case syntax.Form():
            return _form(node), _PIPE if _is_open(node) else OPERAND
        case syntax.Machine():
            return _machine(node), OPERAND
        case syntax.Use():
            return _use(node), OPERAND
    raise TypeError(f"not a pipe: {node!r}")


def _string(value: str) -> str:
    if '"' in value and "'" not in value:
        return "'" + string_text(value.replace('"', "'"))[1:-1].replace("'", '"') + "'"
    return string_text(value)


def _base(node: syntax.Node) -> str:
    """What attributes and elements are asked of: a primary, and behind nothing else may stand a dot."""
    text, level = _text(node)
    prefix = isinstance(node, (syntax.Form, syntax.Use, syntax.Machine, syntax.Number, syntax.Text, syntax.Constant,
                               syntax.Time))  # fmt: skip
    if prefix or level < OPERAND or (isinstance(node, syntax.Items) and node.set):
        return f"({text})"
    return text


def _commas(nodes: Sequence[syntax.Node]) -> str:
    """Items of a list; what takes commas itself stands in parentheses."""
    return ", ".join(_item(n) for n in nodes)


def _item(node: syntax.Node) -> str:
    text, level = _text(node)
    return f"({text})" if level < IMPLIES or any(_takes_commas(n) for n in node.walk()) else text


def _takes_commas(node: syntax.Node) -> bool:
    """Whether there is a form with a list of its own, which would take the commas behind it."""
    return isinstance(node, syntax.Form) and _is_list(_last(BY_KIND[node.kind]))


def _operator(node: Any) -> tuple[str, int]:
    match node:
        case syntax.Unary(op="-"):
            inner = _within(node.operand, NEGATION)
            return f"- {inner}" if inner.startswith("-") else f"-{inner}", NEGATION
        case syntax.Unary():
            return f"{node.op} {_within(node.operand, UNARY)}", UNARY
        case syntax.Binary(op="^"):
            return f"{_within(node.left, OPERAND)} ^ {_within(node.right, NEGATION)}", POWER
        case syntax.Binary():
            level, right = OPERATORS[node.op]
            # those that group to the right may not stand bare on the left
            left = level + 1 if right == level else level
            return f"{_within(node.left, left)} {node.op} {_within(node.right, right)}", level
        case syntax.IsNull():
            return f"{_within(node.operand, COMPARISON)} IS {'NOT ' * node.negated}NULL", COMPARISON
        case syntax.Quantifier():
            on = f" ON {_operand(node.on)}" if node.on is not None else ""
            domain = _within(node.domain, SUM)
            return f"{node.word} ${node.variable} IN {domain}{on} : {_within(node.body, UNARY)}", UNARY
    text, level = _text(node.pipe)
    if level < IMPLIES and not isinstance(node.pipe, syntax.Where):
        text = f"({text})"
    if node.word == "WHERE" and isinstance(node.pipe, syntax.Form) and node.pipe.kind == "select":
        text = f"({text})" if node.pipe["where"] is None else text
    elif node.word == "WHERE" and _ends_in_select(node.pipe):
        text = f"({text})"
    condition = _within(node.condition, IMPLIES)
    return f"{text} {node.word} {condition}", _PIPE


def _ends_in_select(node: syntax.Node) -> bool:
    return any(isinstance(n, syntax.Form) and n.kind == "select" for n in node.walk())


def _operand(node: syntax.Node) -> str:
    """An operand of a prefix form."""
    text = _within(node, OPERAND)
    commas = isinstance(node, (syntax.Form, syntax.Machine, syntax.Use)) and not text.startswith("(")
    return f"({text})" if commas else text


# --- forms ----------------------------------------------------------------------------------------------------------


def _form(node: syntax.Form) -> str:
    out: list[str] = []
    _elements(BY_KIND[node.kind].elements, node, out)
    return " ".join(out).replace(" ,", ",")


def _is_open(node: syntax.Form) -> bool:
    """Whether a form ends in a function, which would take the operators behind it."""
    pattern = BY_KIND[node.kind]
    options = (p for e in pattern.elements if isinstance(e, Option) for p in e.elements if isinstance(p, Slot))
    slots = [_last(pattern), *(p for p in options if node[p.name] is not None)]
    return any(isinstance(s, Slot) and s.what == "expression" for s in slots)


def _last(pattern: Pattern) -> Element:
    """The last element that must be there."""
    return next(e for e in reversed(pattern.elements) if not isinstance(e, Option))


def _is_list(element: Element) -> bool:
    return isinstance(element, Slot) and (element.many or element.what in ("sources", "variables"))


def _elements(elements: Sequence[Element], node: syntax.Form, out: list[str]) -> None:
    for e in elements:
        if isinstance(e, str):
            out.append(e)
        elif isinstance(e, Slot):
            out.append(_slot(e, node[e.name]))
        elif isinstance(e, Choice):
            out += [node[e.name]] if node[e.name] is not None else []
        elif isinstance(e, Option):
            names = [p.name for p in e.elements if isinstance(p, Slot)]
            if node[e.flag or names[0]] is not None:
                _elements(e.elements, node, out)
        else:  # of numbers
            n = node["n"].value if isinstance(node["n"], syntax.Number) else 0
            teen = isinstance(n, int) and n % 100 in (11, 12, 13)
            out.append("TH" if teen else _ORDINALS.get(int(n) % 10, "TH"))


def _slot(slot: Slot, value: Any) -> str:
    if slot.what in ("columns", "sources", "variables"):
        return ", ".join(_column(c) if isinstance(c, syntax.Column) else _source(c, slot.what) for c in value)
    return ", ".join(_one(slot.what, v) for v in value) if slot.many else _one(slot.what, value)


def _one(what: str, value: Any) -> str:
    if isinstance(value, Name):
        return value.text if value.text == "BAG UNION" else name_text(value.text)
    if isinstance(value, syntax.Signature):
        return f"{name_text(value.name.text)}({', '.join(name_text(d.text) for d in value.domains)})"
    if what == "operand":
        return _operand(value)
    if what == "expression":
        return _item(value)
    if what == "primary":
        return _primary(value)
    return render(value)


def _primary(node: syntax.Node) -> str:
    text, level = _text(node)
    simple = (syntax.Number, syntax.Text, syntax.Constant, syntax.Time, syntax.Variable, syntax.Parameter,
              syntax.Named, syntax.Star, syntax.Items, syntax.Call)  # fmt: skip
    return text if isinstance(node, simple) and level >= OPERAND else f"({text})"


def _column(column: syntax.Column) -> str:
    return _item(column.value) + (f" AS {name_text(column.name)}" if column.name is not None else "")


def _source(source: syntax.Source, what: str) -> str:
    if source.name is None:
        return _operand(source.pipe)
    name = name_text(source.name) if what == "sources" else f"${source.name}"
    return f"{_operand(source.pipe)} AS {name}"


def _use(node: syntax.Use) -> str:
    out, args = [], list(node.args)
    categories = dict(node.phrase.parameters)
    for word in node.phrase.pattern:
        if not word.startswith("@"):
            out.append(word)
            continue
        category, arg = categories[word[1:]], args.pop(0)
        out.append(_operand(arg) if category in ("processor", "function") else render(arg))
    return " ".join(out)


# --- machines -------------------------------------------------------------------------------------------------------


def _machine(node: syntax.Machine) -> str:
    inputs = ", ".join(_operand(i) for i in node.inputs)
    registers = f" WITH {_registers(node.registers)}" if node.registers else ""
    states = "".join(f" {_state(s)}" for s in node.states)
    return f"MACHINE ON {inputs}{registers} START {name_text(node.start.text)}{states} END"


def _registers(registers: Sequence[syntax.Register]) -> str:
    return ", ".join(f"${r.name} := {_item(r.value)}" for r in registers)


def _state(state: syntax.State) -> str:
    output = f" OUTPUT {_within(state.output, IMPLIES)}" if state.output is not None else ""
    return f"IN {name_text(state.name.text)}{output}:" + "".join(f" {_transition(t)}" for t in state.transitions)


def _transition(t: syntax.Transition) -> str:
    condition = "OTHERWISE" if t.condition is None else f"WHEN {_within(t.condition, IMPLIES)}"
    sets = f" SET {_registers(t.sets)}" if t.sets else ""
    return f"{condition} GO TO {name_text(t.target.text)}{sets};"
