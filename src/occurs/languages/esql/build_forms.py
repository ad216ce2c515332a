"""Prefix forms and the phrases of the prelude: eSQL trees to processors (pipes.md, 2.2)."""

from __future__ import annotations

from collections.abc import Callable

from occurs.errors import did_you_mean
from occurs.expr import tree as core
from occurs.expr.functions_text import regexp_problem
from occurs.expr.names import Name
from occurs.expr.tree import Expr
from occurs.languages.esql import syntax
from occurs.languages.esql.build_formula import Formulas
from occurs.languages.esql.build_scope import Level, Scope
from occurs.model.time import Duration
from occurs.model.types import Type
from occurs.operators.process import tree

_PLOTS = {"SCATTERPLOT": "scatter", "HEATMAP": "heatmap", "HISTOGRAM": "histogram"}
#: the greatest width and height of a picture, in pixels
_LARGEST = 10_000


class Forms(Formulas):
    """Builds prefix forms: each by the method of its kind."""

    def form(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        build: Callable[[syntax.Form, Scope], tree.Pipe] = getattr(self, f"form_{node.kind}")
        return build(node, scope)

    def prelude(self, node: syntax.Use, scope: Scope) -> tree.Pipe:
        """A phrase that every text knows."""
        pipe = self.pipe(node.args[-1], scope)
        word = node.phrase.pattern[1]
        processor: tree.Processor
        if word == "COUNT":
            processor = tree.Count()
        elif word == "AVERAGE":
            processor = tree.Moment(1)
        elif word == "MOMENT":
            processor = tree.Moment(self.count(node.args[0], scope, 0, "THE MOMENT"))
        elif word == "STANDARD":
            processor = tree.Deviation()
        else:
            processor = tree.Cumulate({"SUM": "addition"}.get(word, word.lower()))
        return self.node(processor, (pipe,), node, scope)

    def _over(self, processor: tree.Processor, node: syntax.Form, scope: Scope) -> tree.Pipe:
        """A processor over the part that is called ``pipe``."""
        return self.node(processor, (self.pipe(node["pipe"], scope),), node, scope)

    # --- numbers -----------------------------------------------------------------------------------------------------

    def count(self, node: syntax.Node, scope: Scope, least: int, what: str) -> int:
        """A whole number of at least ``least``."""
        value = getattr(self.function(node, scope.function(0)), "value", None)
        if isinstance(value, bool) or not isinstance(value, int):
            message = f"{what} counts items and needs a whole number"
        elif value < least:
            message = f"{what} needs a number of at least {least}, not {value}"
        elif value >= 2**31:
            message = f"{what} needs a number of less than 2**31 items"
        else:
            return value
        self.report("bad-bound", message, scope, scope.span(node))
        return max(1, least)

    def width(self, node: syntax.Node, scope: Scope, what: str) -> int | Duration:
        """A positive number of items, or a positive time."""
        if not isinstance(node, syntax.Length):
            return self.count(node, scope, 1, what)
        if node.duration.amount <= 0:
            self.report("bad-duration", f"{what} needs a positive time", scope, scope.span(node))
            return 1
        return node.duration

    # --- processors of the paper -------------------------------------------------------------------------------------

    def form_freeze(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Freeze(), node, scope)

    def form_trim(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Trim(self.count(node["n"], scope, 0, "TRIM")), node, scope)

    def form_decimate(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Decimate(self.count(node["n"], scope, 1, "EVERY"), bool(node["last"])), node, scope)

    def form_combine(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        pipe = self.pipe(node["pipe"], scope)
        name: Name = node["function"]
        word = name.text.lower()
        if word not in tree.CUMULATIVE or word.upper() != name.text:
            known = [w.upper() for w in tree.CUMULATIVE]
            hint = did_you_mean(name.text.upper(), known, "COMBINE functions")
            self.report("unknown-function", f"there is no COMBINE function `{name.text}`", scope,
                        scope.place or name.span, hint)  # fmt: skip
            return pipe
        start = self.function(node["start"], scope.function(0)) if node["start"] is not None else None
        return self.node(tree.Cumulate(word, start), (pipe,), node, scope)

    def form_filter(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        inputs = self.pipe(node["pipe"], scope), self.pipe(node["guard"], scope)
        return self.node(tree.Filter(), inputs, node, scope)

    def form_window(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        width = self.width(node["width"], scope, "WINDOW")
        pipe = self.pipe(node["pipe"], scope)
        return self.node(tree.Window(width, self.inner(node["inner"], "a window", scope)), (pipe,), node, scope)

    def form_slice(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        pipe = self.pipe(node["pipe"], scope)
        key = self.function(node["key"], scope.function(1))
        # the name is the processor's own, so it is not made unique
        within = scope.binds({"slice": core.Param("slice")})
        inner = tree.Inner(1, (self.pipe(node["inner"], within.inner(Level("a slice"))),))
        until = self.function(node["until"], within.function(1)) if node["until"] is not None else None
        form = node["form"].lower() if node["form"] else "map"
        return self.node(tree.Slice(key, inner, form, bool(node["exploded"]), until), (pipe,), node, scope)

    def form_apply(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        sources: tuple[syntax.Source, ...] = node["sources"]
        inputs = [self.pipe(s.pipe, scope) for s in sources]
        within = scope.function(len(inputs))
        for k, s in enumerate(sources):
            if s.name is None:
                continue
            if s.name in [t.name for t in sources[:k]]:
                self.report("duplicate-name", f"two inputs are called `${s.name}`", scope, scope.span(s))
            within = within.binds({s.name: tree.Input(k)})
        function = self.function(node["function"], within)
        return self.node(tree.Lift((function,), early=bool(node["early"])), inputs, node, scope)

    def form_select(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        sources: tuple[syntax.Source, ...] = node["sources"]
        columns: tuple[syntax.Column, ...] = node["columns"]
        aliases: dict[str, int] = {}
        for k, s in enumerate(sources):
            if s.name is not None and s.name in aliases:
                self.report("duplicate-name", f"two inputs are called `{s.name}`", scope, scope.span(s))
            elif s.name is not None:
                aliases[s.name] = k
        inputs = [self.pipe(s.pipe, scope) for s in sources]
        within = scope.function(len(inputs), aliases)
        values = self.functions([c.value for c in columns], within)
        where = self.function(node["where"], within) if node["where"] is not None else None
        function: Expr = values[0]
        if len(columns) > 1 or columns[0].name is not None:
            function = tree.TupleOf(self._names(columns, scope), values, span=scope.span(node))
        return self.node(tree.Lift((function,), where), inputs, node, scope)

    def _names(self, columns: tuple[syntax.Column, ...], scope: Scope) -> tuple[str, ...]:
        names: list[str] = []
        for k, column in enumerate(columns):
            value = column.value
            plain = value.name if isinstance(value, (syntax.Named, syntax.Access)) else f"c{k}"
            name = column.name or plain
            if name in names:
                self.report("duplicate-name", f"two columns are called `{name}`", scope, scope.span(column),
                            f"rename one: `AS {name}2`")  # fmt: skip
            names.append(name)
        return tuple(names)

    # --- processors beyond the paper ---------------------------------------------------------------------------------

    def form_first(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.First(self.count(node["n"], scope, 0, "THE FIRST")), node, scope)

    def form_last(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Last(), node, scope)

    def form_every(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        width = self.width(node["width"], scope, "EVERY")
        return self._over(tree.Every(width if isinstance(width, Duration) else node["width"].duration), node, scope)

    def form_merge(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self.node(tree.Merge(), [self.pipe(p, scope) for p in node["pipes"]], node, scope)

    def form_insert(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        n = self.count(node["n"], scope, 0, "PUT")
        value = self.function(node["value"], scope.function(0))
        return self._over(tree.Insert(n, value), node, scope)

    def form_repeat(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Repeat(self.count(node["n"], scope, 0, "REPEAT")), node, scope)

    def form_repeat_by(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        inputs = self.pipe(node["pipe"], scope), self.pipe(node["counts"], scope)
        return self.node(tree.RepeatBy(), inputs, node, scope)

    def form_pack(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        inputs = self.pipe(node["pipe"], scope), self.pipe(node["guard"], scope)
        return self.node(tree.Pack(), inputs, node, scope)

    def form_unpack(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Unpack(), node, scope)

    def form_run(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        pipe = self.pipe(node["pipe"], scope)
        return self.node(tree.Each(self.inner(node["inner"], "RUN", scope)), (pipe,), node, scope)

    def form_reset(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        inner = self.inner(node["inner"], "RESET", scope)
        inputs = self.pipe(node["pipe"], scope), self.pipe(node["guard"], scope)
        return self.node(tree.Reset(inner), inputs, node, scope)

    def form_collect(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Collect(node["into"].lower()), node, scope)

    def form_collect_map(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        inputs = self.pipe(node["keys"], scope), self.pipe(node["values"], scope)
        return self.node(tree.CollectMap(), inputs, node, scope)

    def form_peak(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        word = f"THE {node['what']} .. WITHIN"
        if node["what"] == "PEAK":
            reach = self.count(node["n"], scope, 1, word) if node["n"] is not None else 1
            return self._over(tree.Peaks(reach), node, scope)
        if node["n"] is None:
            return self.broken(
                "bad-bound", "a plateau needs a number of items", node, scope, "write for example `WITHIN 5`"
            )
        return self._over(tree.Plateaus(self.count(node["n"], scope, 1, word)), node, scope)

    # --- documents, plots, printing ----------------------------------------------------------------------------------

    def form_read(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        made: dict[str, tree.Processor] = {"TUPLES": tree.Tuples(), "XML": tree.Xml(), "JSON": tree.Json()}
        return self._over(made[node["what"]], node, scope)

    def form_xpath(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        call = syntax.Call("xpath", (node["path"], syntax.Variable("0", span=node.span)), span=node.span)
        return self._over(tree.Lift((self.function(call, scope.function(1)),)), node, scope)

    def text(self, node: syntax.Node, scope: Scope) -> str:
        """A constant text."""
        found = self.function(node, scope.function(0))
        return str(found.value) if isinstance(found, core.Literal) and found.type is Type.STRING else ""

    def form_regex(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        pattern = self.text(node["pattern"], scope)
        wrong = regexp_problem(pattern)
        if wrong:
            self.report("type-mismatch", f"not a regular expression: {wrong}", scope, scope.span(node["pattern"]))
        names = tuple(n.text for n in node["names"])
        for k, name in enumerate(node["names"]):
            if name.text in names[:k]:
                message = f"two groups are called `{name.text}`"
                self.report("duplicate-name", message, scope, scope.place or name.span)
        return self._over(tree.Regex(pattern, names), node, scope)

    def form_plot(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        title = self.text(node["title"], scope) if node["title"] is not None else ""
        size = (640, 480)
        if node["width"] is not None:
            sizes = [self.count(node[side], scope, 1, "SIZED") for side in ("width", "height")]
            if max(sizes) > _LARGEST:
                message = f"a picture can be at most {_LARGEST} pixels wide and high"
                self.report("bad-bound", message, scope, scope.span(node["width"]))
            size = (sizes[0], sizes[1])
        return self._over(tree.Plot(_PLOTS[node["what"]], title, size), node, scope)

    def form_gnuplot(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        """The plots are drawn already: what drew them in the old language passes them through."""
        pipe = self.pipe(node["pipe"], scope)
        if not isinstance(pipe.node.processor, tree.Plot):
            hint = "write for example `GNUPLOT ON THE SCATTERPLOT OF p`"
            return self.broken("type-mismatch", "GNUPLOT needs a plot as its operand", node, scope, hint)
        return pipe

    def form_print(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        return self._over(tree.Print(), node, scope)

    def form_file(self, node: syntax.Form, scope: Scope) -> tree.Pipe:
        if scope.level is not None:
            return self.outer("a file", node, scope)
        return self.node(tree.Lines(self.text(node["path"], scope), scope.source.file), (), node, scope)
