"""A timeline as PNG, drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from occurs.errors import ResourceProblem
from occurs.model.colours import THEMES
from occurs.plot.drawing import Dot, Line, Polygon, Rect, Shape, Text, drawn
from occurs.plot.lanes import Chart

#: pixels of the picture to a pixel of the sheet
SCALE = 2
#: sheet pixels to an inch, and points
_INCH, _POINT = 100.0, 72.0 / 100.0


def png(chart: Chart, *, width: float = 1200, theme: str | None = None, scale: float = SCALE) -> bytes:
    """The picture.  Raises ResourceProblem if matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        hint = "pip install 'occurs[plot]', or write .svg or .html, which need nothing"
        raise ResourceProblem.of(
            "not-installed", "PNG is drawn with matplotlib, which is not installed", hint=hint
        ) from None
    sheet = drawn(chart, width)
    colours = THEMES[theme or "light"]
    figure = Figure((sheet.width / _INCH, sheet.height / _INCH), dpi=_INCH * scale)
    FigureCanvasAgg(figure)
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, sheet.width)
    axes.set_ylim(sheet.height, 0)
    order = 1
    for _, run in groupby(sheet.shapes, key=_alike):
        for artist in _artists(list(run), axes, colours):
            artist.set_zorder(order)
        order += 1
    out = io.BytesIO()
    figure.savefig(out, format="png", facecolor=colours["back"], metadata={"Software": None})
    return out.getvalue()


def _alike(shape: Shape) -> tuple[object, ...]:
    """Neighbours of one kind and colour are drawn at once."""
    if isinstance(shape, Rect | Polygon):
        return Polygon, shape.fill, shape.edge, shape.dashed
    if isinstance(shape, Dot):
        return Dot, shape.fill, shape.radius
    return (id(shape),)


def _artists(run: list[Shape], axes: Any, colours: dict[str, str]) -> Iterator[Any]:
    from matplotlib.collections import PolyCollection

    def colour(name: str) -> str:
        return colours.get(name, name)

    first = run[0]
    if isinstance(first, Rect | Polygon):
        edge = colour(first.edge) if first.edge else "none"
        corners = [_corners(s) for s in run if isinstance(s, Rect | Polygon)]
        width = (1.2 if first.dashed else 0.7) * _POINT if first.edge else 0
        style: Any = (0, (3, 2)) if first.dashed else "solid"
        yield axes.add_collection(
            PolyCollection(corners, facecolor=colour(first.fill), edgecolor=edge, linewidth=width, linestyle=style),
            autolim=False,
        )
    elif isinstance(first, Dot):
        dots = [s for s in run if isinstance(s, Dot)]
        yield from axes.plot(
            [d.x for d in dots], [d.y for d in dots], "o", color=colour(first.fill), linestyle="none",
            markersize=2 * first.radius * _POINT, markeredgewidth=0,
        )  # fmt: skip
    elif isinstance(first, Line):
        nan = float("nan")
        points = [p or (nan, nan) for p in first.points]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        yield from axes.plot(xs, ys, color=colour(first.colour), linewidth=first.width * _POINT)
    elif isinstance(first, Text):
        how = {
            "fontsize": first.size * _POINT, "color": colour(first.colour), "va": "center_baseline",
            "ha": {"start": "left", "middle": "center", "end": "right"}[first.anchor],
            "fontweight": "bold" if first.bold else "normal",
        }  # fmt: skip
        if first.role:
            yield axes.annotate(_plain(first.text), (first.x, first.y), **how)
        else:
            yield axes.text(first.x, first.y, _plain(first.text), **how)


def _corners(shape: Rect | Polygon) -> list[tuple[float, float]]:
    if isinstance(shape, Polygon):
        return list(shape.points)
    x, y, right, low = shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    return [(x, y), (right, y), (right, low), (x, low)]


def _plain(text: str) -> str:
    """matplotlib reads text between dollar signs as formulas."""
    return text.replace("$", r"\$")
