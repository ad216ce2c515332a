"""Why a detection exists: its derivation down to rows of the input, with what was checked (why.md, section 10)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import like
from occurs.errors import UsageProblem, did_you_mean
from occurs.explain.absent import absences
from occurs.explain.input import Input, Sliced
from occurs.explain.question import Question, plain, same
from occurs.explain.tree import RowNode, Trees, instants, is_row
from occurs.explain.whynot import check_type, table_of
from occurs.explain.words import json_time, length, others_text, ticks_of, value_text, when
from occurs.explain.world import Rule, Variant, World
from occurs.expr.text import Text
from occurs.hosts.local import detect
from occurs.languages.kit.clauses import Clause, Seen, spliced
from occurs.languages.kit.language import folder
from occurs.model.astext import dumps
from occurs.model.time import TimeKind
from occurs.model.values import short

if TYPE_CHECKING:
    from occurs.plot.timeline import Timeline

#: the columns of the table, in their order
COLUMNS = (
    ("node", pa.int32()), ("parent", pa.int32()), ("depth", pa.int32()), ("kind", pa.string()), ("role", pa.string()),
    ("type", pa.string()), ("time", None), ("end", None), ("label", pa.string()), ("attributes", pa.string()),
    ("clause", pa.string()), ("place", pa.string()), ("found", pa.string()), ("needed", pa.string()),
    ("message", pa.string()), ("definition", pa.string()), ("file", pa.string()), ("line", pa.int32()),
    ("column", pa.int32()),
)  # fmt: skip
#: kinds of clauses that are shown as checks
SHOWN = ("threshold", "equality", "window", "count", "relation")
#: so many rows that only count are shown one by one, and so many are tried one by one
LISTED, TRIED = 20, 300
#: what a negation begins with
_NEGATION = re.compile(r"^(not|minus|complement|\\)\s*")
_LABEL = re.compile(r"[0-9a-fA-F]{32}")


@dataclass(frozen=True)
class Node:
    """A node of a derivation: the row of the table, as attributes; times are ticks."""

    node: int
    parent: int | None
    depth: int
    kind: str
    role: str | None = None
    type: str | None = None
    time: int | None = None
    end: int | None = None
    label: str | None = None
    attributes: str | None = None
    clause: str | None = None
    place: str | None = None
    found: str | None = None
    needed: str | None = None
    message: str | None = None
    definition: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True)
class Why:
    """The answer to :meth:`occurs.Program.why`: the derivation of a detection; as text it prints the tree.

    Attributes:
        row: The detection.
        nodes: The nodes of the tree, parents first.
        leaves: The rows of the input that the detection depends on, as dicts, in their order.

    Examples:
        >>> import occurs, pyarrow as pa
        >>> program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> events = pa.table({"type": ["Temp"], "time": [60], "Value": [50]})
        >>> answer = program.why({"type": "Hot", "time": 60, "v": 50}, events, time_unit="s")
        >>> [(n.kind, n.type, n.found) for n in answer.nodes]
        [('detection', 'Hot', None), ('event', 'Temp', None), ('clause', 'Temp', '50')]
    """

    row: Mapping[str, Any]
    nodes: tuple[Node, ...] = field(repr=False)
    leaves: list[dict[str, Any]] = field(repr=False)
    kind: TimeKind = field(repr=False)
    sample: Any = field(repr=False, default=None)
    notes: tuple[str, ...] = ()

    @cached_property
    def table(self) -> Any:
        """The nodes of the derivation, one row each, as a table of the kind of the events."""
        return like(self.sample, self.arrow)

    @property
    def arrow(self) -> pa.Table:
        """The table as Arrow."""
        return table_of(COLUMNS, self.nodes, self.kind)

    def text(self, *, ascii: bool = False) -> str:
        """Return the tree as text.

        Args:
            ascii: Use the sign ``+`` in place of ``✓``.
        """
        from occurs.explain.text import why_text

        return why_text(self, ascii=ascii)

    def __str__(self) -> str:
        return self.text()

    def timeline(self) -> Timeline:
        """Return a timeline of the rows of the derivation."""
        from occurs.explain.picture import why_timeline

        return why_timeline(self)

    def _repr_html_(self) -> str:
        from occurs.explain.picture import html_of

        return html_of(self.text(), self.timeline())

    def data(self) -> dict[str, Any]:
        """Return the answer as plain data (why.md, section 9)."""
        nodes = []
        for n in self.nodes:
            row = {name: getattr(n, name) for name, _ in COLUMNS}
            nodes.append(row | {"time": json_time(n.time, self.kind), "end": json_time(n.end, self.kind)})
        return {"row": dict(self.row), "nodes": nodes}

    def to_json(self) -> str:
        """Return the answer as JSON (why.md, section 9)."""
        return dumps(self.data())


# -- asking ------------------------------------------------------------------------------------------------------------
def why(program: CheckedProgram, row: Any, given: Input, *, between: Any = None, max_rows: int = 100_000) -> Why:
    """Explain a detection, see :meth:`occurs.Program.why`."""
    label, values = _asked(row)
    type = None if values is None else values.get("type")
    if values is not None and type not in program.defined:
        hint = did_you_mean(str(type), program.defined, "types")
        raise UsageProblem.of("unknown-name", f"no definition makes `{type}`", hint=hint)
    top = type if type is not None else next(iter(sorted(program.defined)), "")
    sliced = given.history(program, top, between, max_rows=max_rows)
    return Explained(program, given, sliced).of(label, values)


def _asked(row: Any) -> tuple[str | None, dict[str, Any] | None]:
    """A label, or the columns of a row."""
    if isinstance(row, str):
        if not _LABEL.fullmatch(row):
            text = f"{short(row)} is not a label"
            raise UsageProblem.of("bad-option", text, hint="a label has 32 hexadecimal digits")
        return row.lower(), None
    if hasattr(row, "asDict"):
        row = row.asDict()
    elif hasattr(row, "to_dict"):
        row = row.to_dict()
    if isinstance(row, pa.Table) and len(row) == 1:
        row = row.to_pylist()[0]
    if not isinstance(row, Mapping) or "type" not in row:
        hint = "pass a row of the detections, with its column `type`, or a label"
        raise UsageProblem.of("bad-option", f"{short(row)} is not a row of detections", hint=hint)
    return None, {str(n): v for n, v in row.items()}


class Explained:
    """A run with reasons, of which single rows are explained."""

    def __init__(self, program: CheckedProgram, given: Input, sliced: Sliced):
        self.program, self.given, self.sliced = program, given, sliced
        self.history, self.kind = sliced.history, sliced.history.kind
        self.found = detect(program.reasoning(), self.history, ended=given.ended, because=True, progress=False)
        self.types = self.found.made

    def of(self, label: str | None, values: Mapping[str, Any] | None) -> Why:
        """The derivation of a row."""
        for type in self.types if values is None else (str(values["type"]),):
            if type not in self.program.defined:
                continue
            table = self.found.arrow(type)
            for i in self._rows(table, label, values):
                return self.explain(type, table.slice(i, 1).to_pylist()[0])
        what = f"label {label}" if values is None else f"{values['type']} at {values.get('time')}"
        hint = "ask `why_not` (occurs why-not) for the reasons why it is not detected"
        raise UsageProblem.of("unknown-row", f"{what} is not detected in these events", hint=hint)

    def _rows(self, table: pa.Table, label: str | None, values: Mapping[str, Any] | None) -> Iterator[int]:
        if values is None:
            yield from (i for i, found in enumerate(table["label"].to_pylist()) if found == label)
            return
        fits = [True] * len(table)
        for name, value in values.items():
            if name in ("type", "label", "because") or name not in table.column_names:
                if name not in ("type", "label", "because") and not _missing(value):
                    return
                continue
            column = plain(table[name])
            wanted = _ticks(value, name, table.schema.field(name).type)
            fits = [f and same(v, wanted) for f, v in zip(fits, column, strict=True)]
        yield from (i for i, f in enumerate(fits) if f)

    def explain(self, type: str, row: Mapping[str, Any]) -> Why:
        """The derivation of a detected row."""
        world = World(self.program, self.history, type, zone=self.given.zone, ended=self.given.ended)
        trees = Trees(self.found, world.defined)
        tree = trees.of_row(type, row)
        return _Derivation(self, world, trees, tree, row).answer()


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _ticks(value: Any, name: str, of: pa.DataType) -> Any:
    """A value of a given row as the columns of detections have it."""
    if hasattr(value, "item") and not hasattr(value, "isoformat"):
        value = value.item()
    if value is None or value != value:  # NaN, NaT
        return None
    if pa.types.is_timestamp(of):
        if isinstance(value, int):
            return value
        if hasattr(value, "to_pydatetime"):
            value = value.to_pydatetime()
        column = pa.array([value])
        if pa.types.is_string(column.type):
            from occurs.model.ticks import parse_timestamps

            return parse_timestamps(pa.chunked_array([column])).cast(pa.int64())[0].as_py()
        return column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())[0].as_py()
    return value


class _Derivation:
    def __init__(self, explained: Explained, world: World, trees: Trees, tree: RowNode, row: Mapping[str, Any]):
        self.explained, self.world, self.trees, self.tree, self.row = explained, world, trees, tree, row
        self.kind = explained.kind
        self.history = explained.history
        self.nodes: list[Node] = []
        self.raw: list[RowNode] = []
        self.gathered: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
        self.copies = self._copies()

    def answer(self) -> Why:
        """The derivation with its leaves."""
        self._put(self.tree, None, 0, None)
        leaves = self._leaves()
        shown = {n: v for n, v in self.row.items() if n != "because"}
        return Why(
            shown, tuple(self.nodes), leaves, self.kind, self.explained.given.sample, self.explained.sliced.notes
        )

    # -- the values that clauses met ---------------------------------------------------------------------------------
    def _copies(self) -> dict[int, pa.Table]:
        """Per rule of the derivation the rows of a copy with the values of its clauses."""
        used = {(n.type) for n in self.tree.walk() if n.derived}
        rules = [r for r in self.world.rules if r.defines in used and r.clauses.probed is not None]
        names, texts = {}, []
        gathered: dict[tuple[int, int], str] = {}
        for rule in rules:
            for k, (_, edit) in enumerate(rule.clauses.gathered):
                r = rule.clauses
                text, _, language = self.world.texts[rule.text]
                gathered[rule.number, k] = f"{r.defines}__entered_{rule.number}_{k}"
                splices = [*edit.splices, *r.named(gathered[rule.number, k])]
                ending = self.world.languages[folder(language)].ENDING
                written = spliced(text, splices, r.start, r.stop) + ending
                texts.append((written, f"entered {rule.number}/{k}", language))
            values = {}
            for i, c in enumerate(rule.clauses.clauses):
                if c.kind in SHOWN and c.value is not None:
                    values[f"occurs_{i}"] = c.value
                    if c.wanted is not None:
                        values[f"occurs_{i}w"] = c.wanted
            if not values or rule.clauses.probed is None:
                continue
            r = rule.clauses
            text, _, language = self.world.texts[rule.text]
            names[rule.number] = f"{r.defines}__why_{rule.number}"
            splices = [*r.named(names[rule.number]), *rule.clauses.probed(values)]
            ending = self.world.languages[folder(language)].ENDING
            texts.append((spliced(text, splices, r.start, r.stop) + ending, f"why {rule.number}", language))
        if not texts:
            return {}
        program = CheckedProgram([*self.world.texts, *texts], folders=self.world.program.folders)
        program = program.adjusted(zone=self.world.zone, facts=self.world.program.facts).reasoning()
        found = detect(program, self.history, ended=self.world.ended, because=True, progress=False)
        self.gathered = {at: found.arrow(name).to_pylist() for at, name in gathered.items()}
        return {number: found.arrow(name) for number, name in names.items()}

    def _values(self, rule: Rule, node: RowNode) -> Mapping[str, Any] | None:
        """The row of a rule's copy that has the constituents of a derived row."""
        table = self.copies.get(rule.number)
        if table is None:
            return None
        wanted = [(c.role, c.label) for c in node.children if c.label is not None]
        for row in table.to_pylist():
            if [(p["role"], p["label"]) for p in row["because"] if p["label"] is not None] == wanted:
                found: Mapping[str, Any] = row
                return found
        return None

    def _rule(self, node: RowNode) -> tuple[Rule | None, Mapping[str, Any] | None]:
        """The rule that made a derived row."""
        rules = self.world.makers(node.type)
        for rule in rules:
            values = self._values(rule, node)
            if values is not None:
                return rule, values
        own = {c.role for c in node.children}
        for rule in rules:
            roles = {c.role for c in rule.clauses.clauses if c.kind == "missing"}
            if roles & own:
                return rule, None
        return (rules[0] if rules else None), None

    # -- nodes -------------------------------------------------------------------------------------------------------
    def _new(self, parent: int | None, depth: int, kind: str, **fields: Any) -> int:
        self.nodes.append(Node(len(self.nodes) + 1, parent, depth, kind, **fields))
        return len(self.nodes)

    def _put(self, node: RowNode, parent: int | None, depth: int, role: str | None) -> None:
        kind = "detection" if node.derived else "timer" if node.type in ("timer", "Timer") else "event"
        row = {
            "role": role, "type": node.type, "time": node.time, "end": node.end, "label": node.label,
            "attributes": dumps(dict(node.values)),
        }  # fmt: skip
        if not node.derived:
            self._new(parent, depth, kind, **row)
            self.raw.append(node)
            return
        rule, values = self._rule(node)
        if rule is not None and self.world.fixed:
            row["definition"] = rule.clauses.title
        elif rule is not None:
            text, file, _ = self.world.texts[rule.text]
            span = Text(text, None).span(rule.clauses.start, rule.clauses.start)
            row |= {
                "definition": rule.clauses.title, "file": file, "line": span.line, "column": span.column,
                "place": f"{file or 'rules'}:{span.line}:{span.column}",
            }  # fmt: skip
        number = self._new(parent, depth, kind, **row)
        read = {} if rule is None else self._seen(rule, node)
        for child in node.children:
            if is_row(child):
                self._put(child, number, depth + 1, child.role)
                at = len(self.nodes)
                for c, seen in read.get(id(child), ()):
                    assert rule is not None
                    self._read(rule, c, seen, child, at, depth + 2)
        if rule is not None and rule.clauses.followed is None:
            for i, c in enumerate(rule.clauses.clauses):
                if c.kind in SHOWN:
                    self._clause(rule, i, c, node, values, number, depth + 1)
        times: dict[str, int] = {}
        for child in node.children:
            if not is_row(child):
                nth = times[str(child.role)] = times.get(str(child.role), -1) + 1
                self._check(child, number, depth + 1, rule, node, nth)
        if rule is not None and not self.world.fixed and parent is None:
            recorded = {c.type for c in node.children if str(c.role).startswith("not ")}
            for clause in rule.clauses.clauses:
                if clause.kind == "absence" and clause.type is not None and clause.type not in recorded:
                    self._absent(rule, clause, node, number, depth + 1)

    def _seen(self, rule: Rule, node: RowNode) -> dict[int, list[tuple[Clause, Seen]]]:
        """Of a rule that reads states: per state of a derivation the clauses that were read there."""
        if rule.clauses.followed is None or self.world.fixed:
            return {}
        states = [c for c in node.children if c.role == "state"]
        states.sort(key=lambda c: c.time)
        out: dict[int, list[tuple[Clause, Seen]]] = {}
        times: list[int] = []
        if rule.clauses.whole is not None:
            times = instants(rule.clauses.whole, node, lambda t: self.trees.table(t, self.history.tables))
        for seen in rule.clauses.followed([(s.time, s.values) for s in states], times) or ():
            kinds = ("window",) if seen.kind == "window" else ("threshold", "equality")
            last = seen.start + (len(seen.right) if seen.kind == "window" else 0)
            fitting = (c for c in rule.clauses.clauses if c.kind in kinds and seen.start <= c.start <= last)
            clause = next(fitting, None)
            if clause is None and seen.text:  # below a negation, where it can be repaired only as a whole
                clause = Clause("equality", seen.start, seen.start + len(seen.text), seen.text)
            if clause is not None:
                out.setdefault(id(states[seen.state]), []).append((clause, seen))
        return out

    def _read(self, rule: Rule, c: Clause, seen: Seen, state: RowNode, parent: int, depth: int) -> None:
        """A clause at the state at which it was read."""
        found, needed = "true" if seen.holds else "false", c.needed
        said = " ".join(c.text.split())
        if seen.apart is not None:
            found = length(seen.apart, self.kind)
            said = f"{found}, {needed}"
        elif seen.value is not None and seen.wanted is not None:
            found, wanted = value_text(seen.value), value_text(seen.wanted)
            needed = f"{seen.op} {wanted}" if seen.holds else f"not {seen.op} {wanted}"
            own = "" if wanted == " ".join(seen.right.split()) else f" = {wanted}"
            said = f"{seen.left} = {found} {seen.op} {seen.right}{own}"
            if not seen.holds:
                said = f"{seen.left} = {found}, not {seen.op} {seen.right}{own}"
            elif seen.op == "=":
                said = f"{seen.left} = {found}" if not own else f"{seen.left} = {found} = {seen.right}"
        elif not seen.holds:
            said, needed = said if "not" in seen.path else f"not {said}", "false"
        message = f"{' '.join(seen.path)}: {said}" if seen.path else said
        self._new(parent, depth, "clause", type=state.type, time=state.time, end=state.end, label=state.label,
                  **self._placed(rule, c), found=found, needed=needed, message=message)  # fmt: skip

    def _absent(self, rule: Rule, clause: Clause, node: RowNode, parent: int, depth: int) -> None:
        """A negation that `because` does not record: the stretches in which a row would have prevented the row."""
        for found in absences(self.world, rule, clause, node, lambda o: self._there(o.table(self.tree.type))):
            others = len(self._between(found.type, found.first, found.last))
            span = f"from {when(found.first, self.kind)} to {when(found.last, self.kind)}"
            if found.first == found.last:
                span = f"at {when(found.first, self.kind)}"
            what = " ".join(clause.text.split())
            what = _NEGATION.sub("", what)
            message = f"no {what} {span} {others_text(others)}"
            self._new(parent, depth, "absence", type=found.type, time=found.first, end=found.last, found=str(others),
                      needed="none", message=message, **self._placed(rule, clause))  # fmt: skip

    def _placed(self, rule: Rule, c: Clause) -> dict[str, Any]:
        text, file, _ = self.world.texts[rule.text]
        span = Text(text, None).span(c.start, c.start)
        return {
            "clause": c.text, "place": f"{file or 'rules'}:{span.line}:{span.column}", "file": file, "line": span.line,
            "column": span.column, "definition": rule.clauses.title,
        }  # fmt: skip

    def _clause(
        self, rule: Rule, i: int, c: Clause, node: RowNode, values: Mapping[str, Any] | None, parent: int, depth: int
    ) -> None:
        """A clause that holds on this binding."""
        row = next((p for p in node.children if _has_role(p, c.role)), None)
        ref = next((p for p in node.children if _has_role(p, c.reference)), None)
        value, known = None, False
        if values is not None and f"occurs_{i}" in values:
            value, known = values[f"occurs_{i}"], True
        elif c.detail.get("own") is not None and row is not None:
            value, known = row.values.get(c.detail["own"][1]), c.detail["own"][1] in row.values
        at: dict[str, Any] = {} if row is None else {
            "role": None, "type": row.type, "time": row.time, "end": row.end, "label": row.label,
        }  # fmt: skip
        found, needed, message = self._said(c, value, known, values, i, row, ref, node)
        self._new(parent, depth, "clause", **at, **self._placed(rule, c), found=found, needed=needed, message=message)

    def _said(
        self, c: Clause, value: Any, known: bool, values: Mapping[str, Any] | None, i: int, row: RowNode | None,
        ref: RowNode | None, node: RowNode,
    ) -> tuple[str, str, str]:  # fmt: skip
        """What a clause found and needed, and both as a sentence."""
        if c.kind == "window":
            if not known and c.detail.get("backwards"):
                first, last = ref, node
                value = None if first is None else last.time - first.time
            elif not known and row is not None and ref is not None:
                value = abs(ref.time - row.time)
            elif not known and c.detail.get("length") and node.end is not None:
                value = node.end - node.time
            found = "" if value is None else length(_plain(value), self.kind)
            said = f"{node.type} is {found} long" if c.detail.get("length") else found
            return found, c.needed, f"{said}, {c.needed}" if found else c.needed
        if c.kind == "threshold":
            found = value_text(value) if known else "true"
            if known and c.detail.get("duration") and value is not None:
                found = length(_plain(value), self.kind)
            return found, c.needed, f"{c.subject} = {found} {c.needed}" if known else c.text
        if c.kind == "equality" and known:
            found = value_text(value)
            wanted = None if values is None else values.get(f"occurs_{i}w")
            needed = (
                f"{c.needed} {value_text(wanted)}"
                if values is not None
                else f"{c.needed} {c.detail.get('other_text', '')}"
            )
            other = c.detail.get("other_subject")
            shown = f" {c.needed} {other}" if other else "" if c.needed == "=" else f" {needed}"
            return found, needed.strip(), f"{c.subject} = {found}{shown}"
        return "true", c.text, f"{c.detail['form']} {c.text}" if "form" in c.detail else c.text

    def _check(
        self, node: RowNode, parent: int, depth: int, rule: Rule | None, of: RowNode, nth: int
    ) -> None:  # fmt: skip
        """A negation or an aggregate, as `because` has it."""
        role = str(node.role)
        if role.startswith("not "):
            inside = self._between(node.type, node.time, node.end)
            others = len(inside) - int(node.values.get("rows") or 0)
            clause = None
            if rule is not None and not self.world.fixed:
                clause = next((c for c in rule.clauses.clauses if c.kind == "absence" and c.type == node.type), None)
            placed = {} if rule is None or clause is None else self._placed(rule, clause)
            what = node.type if clause is None else clause.text.removeprefix("not ")
            span = f"from {when(node.time, self.kind)} to {when(node.end, self.kind)}"
            message = f"no {what} {span} {others_text(others)}"
            self._new(parent, depth, "absence", type=node.type, time=node.time, end=node.end, found=str(others),
                      needed="none", message=message, **placed)  # fmt: skip
            return
        if "rows" not in node.values:  # what a variable remembers
            value = node.values.get(role)
            message = f"{role} = {value_text(value)}, remembered at {when(node.time, self.kind)}"
            self._new(parent, depth, "clause", time=node.time, found=value_text(value), clause=role, message=message)
            return
        value = node.values.get("value")
        count = node.values.get("rows")
        message = f"{role} = {value_text(value)} over {count} row{'s' if count != 1 else ''}"
        number = self._new(parent, depth, "aggregate", role=None, type=node.type, time=node.time, end=node.end,
                           found=value_text(value), clause=role, message=message)  # fmt: skip
        for one in self._entered(node, rule, of, nth):
            self._put(one, number, depth + 1, None)

    def _entered(self, node: RowNode, rule: Rule | None, of: RowNode, nth: int) -> list[RowNode]:
        """The rows that an aggregate ranges over: those that a copy of the rule binds, and bound rows among them."""
        inside, count = self._between(node.type, node.time, node.end), node.values.get("rows")
        if rule is None or count is None or len(inside) == count:
            return inside
        numbers = [k for k, (role, _) in enumerate(rule.clauses.gathered) if role == node.role]
        if nth >= len(numbers):
            return inside
        own = [(c.role, c.label) for c in of.children if c.label is not None]
        out: list[RowNode] = []
        for row in self.gathered.get((rule.number, numbers[nth]), ()):
            parts = [p for p in row["because"] if p["label"] is not None]
            if [(p["role"], p["label"]) for p in parts[:-1]] == own:
                out.append(self.trees.of_part(parts[-1]))
        bound = [c for c in of.children if c.type == node.type and c.label is not None]
        bound = [c for c in bound if node.time <= c.time <= (c.time if node.end is None else node.end)]
        return sorted([*out, *bound[: max(0, count - len(out))]], key=lambda n: (n.time, str(n.values)))

    def _between(self, type: str, first: int, last: int | None) -> list[RowNode]:
        """The rows of a type in an interval, in their order."""
        out: list[RowNode] = []
        end = 2**63 - 1 if last is None else last
        if type in self.world.defined:
            for row in self.trees.rows(type).values():
                time = ticks_of(row["time"])
                if time is not None and first <= time <= end:
                    out.append(self.trees.of_row(type, row))
            return out
        table = self.history.tables.get(type)
        for row in [] if table is None else table.to_pylist():
            if first <= row["time"] <= end:
                values = {n: v for n, v in row.items() if n not in ("time", "end", "sequence", "label")}
                out.append(RowNode(None, type, row["time"], row.get("end"), row.get("label"), values))
        return sorted(out, key=lambda n: (n.time, str(n.values)))

    # -- leaves ------------------------------------------------------------------------------------------------------
    def _leaves(self) -> list[dict[str, Any]]:
        """The raw rows of the tree, and those that only count, found by runs without them."""
        tables = {t: table for t, table in self.history.tables.items() if t in self.world.given}
        chosen = {t: [False] * len(table) for t, table in tables.items()}
        rows = {t: table.to_pylist() for t, table in tables.items()}
        for node in self.raw:
            self._mark(node, rows, chosen)
        every = [(t, i) for t in sorted(rows) for i in range(len(rows[t]))]
        more: list[tuple[str, int]] = []
        if self._needs_trial() and len(every) <= TRIED:
            missing = [at for at in every if not chosen[at[0]][at[1]]]
            lost = self._lost([{at} for at in missing], every)
            more = [at for at, gone in zip(missing, lost, strict=True) if gone]
            for t, i in more:
                chosen[t][i] = True
        if len(every) <= TRIED * 4:
            kept = {at for at in every if chosen[at[0]][at[1]]}
            if not self._sufficient([kept])[0]:
                found = self._reduced(set(every), kept)
                more += sorted(found - kept)
                for t, i in found:
                    chosen[t][i] = True
        self._passed(more, rows)
        out = []
        for t, i in every:
            if chosen[t][i]:
                row = rows[t][i]
                values = {n: v for n, v in row.items() if n not in ("time", "end", "sequence", "label")}
                entry = {"type": t, "time": _given_time(row["time"], self.kind)}
                if "end" in row:
                    entry["end"] = _given_time(row["end"], self.kind)
                sequence = row.get("sequence")
                if sequence is not None:
                    entry["sequence"] = sequence
                out.append(((row["time"], -(2**63) if sequence is None else sequence, t, str(values)), entry | values))
        return [entry for _, entry in sorted(out, key=lambda item: item[0])]

    def _mark(self, node: RowNode, rows: Mapping[str, list[dict[str, Any]]], chosen: Mapping[str, list[bool]]) -> None:
        """Note the input row that a node of the tree is."""
        if node.role in ("activation", "state") or node.type == "state":
            for t, found in rows.items():
                for i, row in enumerate(found):
                    if row["time"] == node.time:
                        chosen[t][i] = True
            return
        for i, row in enumerate(rows.get(node.type, ())):
            if row["time"] != node.time or chosen[node.type][i]:
                continue
            if "end" in row and node.end is not None and row["end"] != node.end:
                continue
            if all(n not in row or _same(row[n], v) for n, v in node.values.items()):
                chosen[node.type][i] = True
                return

    def _needs_trial(self) -> bool:
        """Whether rows can count that are not in the tree."""
        if any(r.language not in ("tesla", "phenesthe") or r.clauses.consumes for r in self.world.closure):
            return True
        return bool(self.world.shadowed & self.world.defined) or any(
            r.language == "phenesthe" for r in self.world.closure
        )

    def _detected(self, kept: Sequence[set[tuple[str, int]]]) -> list[bool]:
        """Per set of rows whether the row is detected from these alone."""
        out: list[bool] = []
        for start in range(0, len(kept), 100):
            variants = []
            for some in kept[start : start + 100]:
                rows = {}
                for t in self.world.given:
                    mask = [(t, i) in some for i in range(len(self.history.tables[t]))]
                    if not all(mask):
                        rows[t] = self.history.tables[t].filter(pa.array(mask, pa.bool_()))
                variants.append(Variant(rows=rows))
            for outcome in self.world.run(variants):
                out.append(outcome is not None and self._there(outcome.table(self.tree.type)))
        return out

    def _there(self, table: pa.Table) -> bool:
        for row in table.to_pylist():
            if all(_same(row.get(n), v) for n, v in self.row.items() if n not in ("type", "label", "because")):
                return True
        return False

    def _lost(self, removed: Sequence[set[tuple[str, int]]], every: Sequence[tuple[str, int]]) -> list[bool]:
        whole = set(every)
        return [not there for there in self._detected([whole - some for some in removed])]

    def _sufficient(self, kept: Sequence[set[tuple[str, int]]]) -> list[bool]:
        return self._detected(kept)

    def _reduced(self, whole: set[tuple[str, int]], kept: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """A small set of rows around ``kept`` from which the row is detected."""
        now = set(whole)
        size = max(1, len(whole - kept) // 2)
        while True:
            rest = sorted(now - kept)
            parts = [set(rest[i : i + size]) for i in range(0, len(rest), size)]
            fine = self._detected([now - part for part in parts]) if parts else []
            removed = next((part for part, ok in zip(parts, fine, strict=True) if ok), None)
            if removed is not None:
                now -= removed
            elif size == 1:
                return now
            else:
                size = max(1, size // 2)

    def _passed(self, more: Sequence[tuple[str, int]], rows: Mapping[str, list[dict[str, Any]]]) -> None:
        """Nodes for rows that only count."""
        more = sorted(set(more), key=lambda at: rows[at[0]][at[1]]["time"])
        if len(more) > LISTED:
            first, last = rows[more[0][0]][more[0][1]]["time"], rows[more[-1][0]][more[-1][1]]["time"]
            message = f"the detection also depends on {len(more)} more rows"
            self._new(1, 1, "passed", time=first, end=last, found=str(len(more)), message=message)
            return
        for t, i in more:
            row = rows[t][i]
            values = {n: v for n, v in row.items() if n not in ("time", "end", "sequence", "label")}
            message = f"the detection also depends on {t} at {when(row['time'], self.kind)}"
            self._new(1, 1, "passed", type=t, time=row["time"], end=row.get("end"), label=row.get("label"),
                      attributes=dumps(values), message=message)  # fmt: skip


def _given_time(ticks: int | None, kind: TimeKind) -> Any:
    """A time as the output has it."""
    if ticks is None or not kind.timestamp:
        return ticks
    return pa.scalar(ticks, pa.int64()).cast(pa.timestamp("us", tz="UTC")).as_py()


def _has_role(node: RowNode, role: str | None) -> bool:
    return role is not None and (node.role == role or str(node.role).startswith((f"{role}[", f"{role}(")))


def _same(one: Any, other: Any) -> bool:
    if hasattr(one, "isoformat") or hasattr(other, "isoformat"):
        return _stamp(one) == _stamp(other)
    if isinstance(one, float) and isinstance(other, float) and one != one and other != other:
        return True
    return bool(same(one, other)) if not isinstance(one, list | dict) else one == other


def _stamp(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return ticks_of(pa.scalar(value.removesuffix("Z")).cast(pa.timestamp("us")).as_py())
        except (pa.ArrowInvalid, ValueError):
            return value
    return ticks_of(value) if hasattr(value, "isoformat") else value


def _plain(value: Any) -> int:
    if hasattr(value, "total_seconds"):
        return int(value.total_seconds() * 1_000_000)
    return int(value)


def why_all(
    program: CheckedProgram, given: Input, type: str, *, where: Any = None, between: Any = None, limit: int = 10,
    max_rows: int = 100_000,
) -> list[Why]:  # fmt: skip
    """Explain the detections of a type that fit a question, at most ``limit``, in their order."""
    check_type(program, type)
    sliced = given.history(program, type, between, max_rows=max_rows, where=where)
    explained = Explained(program, given, sliced)
    schema = program.bind(sliced.history.schemas, sliced.history.kind).schemas[type]
    question = Question.of(type, where, between, schema, sliced.history.kind, sliced.clock)
    fitting = question.fitting(explained.found.arrow(type))
    return [explained.explain(type, fitting.slice(i, 1).to_pylist()[0]) for i in range(min(limit, len(fitting)))]
