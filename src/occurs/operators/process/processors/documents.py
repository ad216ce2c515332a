"""Documents, tuples of texts, pictures, printing (pipes.md, 4.8).

Pictures are drawn without a display, with matplotlib (the extra ``plot``).  There are no dates and no names of software
in them, so that equal items give equal bytes on one installation.  Nulls, and what is not finite, are left out.
"""

from __future__ import annotations

import io
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from occurs.errors import ResourceProblem
from occurs.model.colours import COLOURS
from occurs.operators.process import documents, scalars, tree
from occurs.operators.process.columns import Obj, column_of
from occurs.operators.process.items import CallSteps, Items
from occurs.operators.process.operator import Operator, operator
from occurs.operators.process.state import Latest, Part, State
from occurs.operators.process.values import Bag, Fault, Map, Record, Set


def each(values: Sequence[Any], run: Callable[[Any], Any]) -> list[Any]:
    """``run`` of every value that is not null.  A Fault says the row."""
    out = []
    for i, v in enumerate(values):
        try:
            out.append(None if v is None else run(v))
        except Fault as fault:
            fault.row = i
            raise
    return out


class _ByValue(Operator):
    def run(self, value: Any) -> Any:
        """What becomes of a value.  Raises Fault."""
        raise AssertionError  # pragma: no cover

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        return x.with_value(column_of(each(x.value.pylist(), self.run)))


class _Reading(_ByValue):
    def read(self, value: Any) -> Any:
        """The document that a text is.  Raises Fault."""
        raise AssertionError  # pragma: no cover

    def run(self, value: Any) -> Any:
        try:
            return self.read(value)
        except Fault:
            if self.p.bad == "null":
                return None
            raise


@operator(tree.Xml)
class Xml(_Reading):
    """Each text as an XML document."""

    def read(self, value: Any) -> Any:
        return documents.read_xml(value)


@operator(tree.Json)
class Json(_Reading):
    """Each text as a JSON document."""

    def read(self, value: Any) -> Any:
        return documents.read_json(value)


@operator(tree.Regex)
class Regex(_ByValue):
    """A tuple of the groups of the first match; null if nothing matches."""

    @cached_property
    def expression(self) -> re.Pattern[str] | None:
        return scalars.pattern(self.p.pattern)

    def run(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise Fault("bad-value", "is not text", value)
        if self.expression is None:
            raise Fault("bad-value", "is not a regular expression", self.p.pattern)
        found = self.expression.search(value)
        if found is None:
            return None
        groups = found.groups()
        return Record(tuple((n, groups[i] if i < len(groups) else None) for i, n in enumerate(self.p.names)))


@operator(tree.Tuples)
class Tuples(Operator):
    """The first line names the columns, the others are tuples of text."""

    def fresh(self) -> dict[str, Part]:
        return {"names": Latest()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        kept: Latest = state["names"]
        names: dict[int, Any] = dict(zip(kept.code.tolist(), kept.value.pylist()))
        out: list[Any] = []
        rows: list[int] = []
        # the number of a line in its trace is not that of an item: a Fault is of the item
        for i, (c, lines) in enumerate(zip(x.codes.tolist(), each(x.value.pylist(), documents.csv_lines))):
            for line in lines or ():
                if c not in names:
                    if len(set(line)) < len(line):
                        raise Fault("bad-value", "names a column twice", line, i)
                    names[c] = tuple(n or "" for n in line)
                    kept.put(np.array([c]), Obj.of([names[c]]))
                    continue
                if len(line) > len(names[c]):
                    raise Fault("bad-value", f"has {len(line)} fields, but there are {len(names[c])} columns", line, i)
                missing = [None] * (len(names[c]) - len(line))
                out.append(Record(tuple(zip(names[c], [*line, *missing]))))
                rows.append(i)
        return x.take(np.array(rows, np.int64)).with_value(column_of(out)).with_ends(x.ends)


@operator(tree.Plot)
class Plot(_ByValue):
    """A picture of each item."""

    def run(self, value: Any) -> Any:
        return draw(self.p, value)


@operator(tree.Print)
class Print(Operator):
    """Passes the items through and writes them to stderr."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        for v in x.value.pylist():
            print("null" if v is None else documents.text(v), file=sys.stderr)
        return x


# --- Pictures ---------------------------------------------------------------------------------------------------------


#: pixels per inch
_DPI = 100
#: below this many inches there are axes only
_SMALL = 1.6
#: of heatmaps: labels on an axis, of cells that have names of their own
_LABELS = 12


def draw(plot: tree.Plot, value: Any) -> bytes:
    """The picture of an item.

    Scatterplots are of a collection of (x, y), or of a map; heatmaps of rows of numbers, the first one on top, or of a
    map (x, y) -> z; histograms of a collection of numbers; pie charts of a map of names to numbers.  Raises Fault for
    what is none of this, ResourceProblem if matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        message, hint = "plots need matplotlib, which is not installed", "pip install 'occurs[plot]'"
        raise ResourceProblem.of("not-installed", message, hint=hint) from None
    width, height = plot.size[0] / _DPI, plot.size[1] / _DPI
    figure = Figure((width, height), dpi=_DPI)
    FigureCanvasAgg(figure)
    bare = min(width, height) < _SMALL
    top = _TITLED if plot.title else _TOP
    frame = (0.0, 0.0, 1.0, 1.0)
    if not bare:
        frame = (_LEFT / width, _BOTTOM / height, 1 - (_LEFT + _RIGHT) / width, 1 - (_BOTTOM + top) / height)
    axes = figure.add_axes(frame)
    _DRAWN[plot.what](axes, value, plot)
    if bare:
        axes.set_axis_off()
    elif plot.title:
        axes.set_title(plot.title, fontsize=12, fontweight="bold", loc="left", parse_math=False)
    out = io.BytesIO()
    figure.savefig(out, format="png", facecolor="white", metadata={"Software": None})
    return out.getvalue()


def _scatter(axes: Any, value: Any, plot: tree.Plot) -> None:
    given = value.items if isinstance(value, Map) else _elements(value, "collection of points (x, y)")
    points = [(_number(x), _number(y)) for x, y in (_pair(p) for p in given if p is not None)]
    points = [p for p in points if not math.isnan(p[0]) and not math.isnan(p[1])]
    size = max(6.0, min(36.0, 4000.0 / max(len(points), 1)))
    axes.scatter([x for x, _ in points], [y for _, y in points], s=size, color=COLOURS[0], edgecolors="#35516b",
                 linewidths=0.6, zorder=3)  # fmt: skip
    _plain(axes)


def _histogram(axes: Any, value: Any, plot: tree.Plot) -> None:
    numbers = _finite(map(_number, _elements(value, "collection of numbers")))
    if numbers:
        axes.hist(numbers, bins=plot.bins, color=COLOURS[0], edgecolor="#35516b", linewidth=0.6, zorder=3)
    _plain(axes)
    axes.grid(visible=False, axis="x")
    axes.set_ylim(bottom=0)
    axes.yaxis.get_major_locator().set_params(integer=True)


def _pie(axes: Any, value: Any, plot: tree.Plot) -> None:
    if not isinstance(value, Map):
        raise Fault("bad-value", "is not a map of numbers", value)
    found = [(_text(name), _number(size)) for name, size in value.items]
    if any(size < 0 for _, size in found):
        raise Fault("bad-value", "has a negative number, which a pie chart cannot show", value)
    found = [(name, size) for name, size in found if size > 0 and math.isfinite(size)]
    axes.set_aspect("equal")
    axes.set_axis_off()
    if found:
        names, sizes = zip(*found)
        colours = [COLOURS[i % len(COLOURS)] for i in range(len(found))]
        axes.pie(sizes, labels=names, colors=colours, startangle=90, counterclock=False, textprops={"fontsize": 9},
                 wedgeprops={"edgecolor": "white", "linewidth": 0.8})  # fmt: skip


def _plain(axes: Any) -> None:
    """Numbers on both axes, light lines behind."""
    axes.grid(color="#e2e2e2", linewidth=0.6, zorder=0)
    axes.tick_params(labelsize=9, color="#888888")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _heatmap(axes: Any, value: Any, plot: tree.Plot) -> None:
    if isinstance(value, Map):
        cells = {_pair(k): _number(z) for k, z in value.items if k is not None}
        across, upward = (_ascending(list(dict.fromkeys(k[i] for k in cells))) for i in (0, 1))
        rows = [[cells.get((x, y), math.nan) for x in across] for y in reversed(upward)]
        names = list(map(_text, across)), [_text(y) for y in reversed(upward)]
    else:
        rows = [
            [_number(z) for z in _elements(r, "row of numbers")]
            for r in _elements(value, "collection of rows of numbers")
        ]
        wide = max(map(len, rows), default=0)
        rows = [r + [math.nan] * (wide - len(r)) for r in rows]
        names = [str(i) for i in range(wide)], [str(i) for i in range(len(rows))]
    axes.tick_params(labelsize=9, length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    if not rows or not rows[0]:
        axes.set_xticks([])
        axes.set_yticks([])
        return
    image = axes.imshow(rows, aspect="auto", cmap="viridis", interpolation="nearest")
    for axis, labels in ((axes.xaxis, names[0]), (axes.yaxis, names[1])):
        step = -(-len(labels) // _LABELS)
        axis.set_ticks(range(0, len(labels), step), labels[::step])
    if min(plot.size) >= _SMALL * _DPI and _finite(z for r in rows for z in r):
        bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.03)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, length=0)


def _ascending(values: list[Any]) -> list[Any]:
    """Numbers in their order, anything else in that in which it came."""
    return sorted(values) if all(isinstance(v, (int, float)) for v in values) else values


def _text(value: Any) -> str:
    text = "null" if value is None else format(value, "g") if isinstance(value, float) else str(value)
    return (text if len(text) <= _LABELS else text[: _LABELS - 1] + "…").replace("$", r"\$")


_DRAWN: dict[str, Callable[[Any, Any, tree.Plot], None]] = {
    "scatter": _scatter,
    "heatmap": _heatmap,
    "histogram": _histogram,
    "pie": _pie,
}


def _elements(value: Any, wanted: str) -> tuple[Any, ...]:
    if isinstance(value, tuple):
        return value
    if isinstance(value, (Set, Bag)):
        return value.elements
    raise Fault("bad-value", f"is not a {wanted}", value)


def _number(value: Any) -> float:
    """NaN for what is not drawn."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Fault("bad-value", "is not a number and cannot be drawn", value)
    return float(value) if math.isfinite(value) else math.nan


def _pair(value: Any) -> tuple[Any, Any]:
    """The two parts of (x, y)."""
    found: Any = tuple(v for _, v in value.columns) if isinstance(value, Record) else value
    if not isinstance(found, tuple) or len(found) != 2:
        raise Fault("bad-value", "is not a pair (x, y)", value)
    return found


def _finite(numbers: Iterable[float]) -> list[float]:
    return [n for n in numbers if not math.isnan(n)]


#: inches around the axes: left, bottom, right, top (without and with a title)
_LEFT, _BOTTOM, _RIGHT, _TOP, _TITLED = 0.65, 0.42, 0.2, 0.18, 0.45
