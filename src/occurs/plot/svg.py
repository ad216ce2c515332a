"""A timeline as SVG, which needs nothing to be written and nothing but fonts of the reader's machine to be shown."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from occurs.model.colours import THEMES
from occurs.plot.drawing import Dot, Line, Polygon, Rect, Shape, drawn
from occurs.plot.lanes import Chart

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def svg(chart: Chart, *, width: float, theme: str | None = None, ground: bool = True) -> str:
    """The text of the picture.

    ``theme``: ``light`` or ``dark``; None: that of whoever looks at it.  ``ground``: with a background.
    """
    sheet = drawn(chart, width)
    size = f'width="{_n(sheet.width)}" height="{_n(sheet.height)}" viewBox="0 0 {_n(sheet.width)} {_n(sheet.height)}"'
    styles = [_style(THEMES[theme or "light"])]
    if theme is None:
        styles.append(f"@media (prefers-color-scheme: dark) {{\n{_style(THEMES['dark'])}\n}}")
    body = [f'<rect width="{_n(sheet.width)}" height="{_n(sheet.height)}" class="back"/>'] if ground else []
    body += (part for shape in sheet.shapes for part in _shape(shape))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_FONT}">',
        f"<title>{_safe(sheet.title or 'Timeline')}</title>",
        "<style>\n" + "\n".join(styles) + "\n</style>",
        *body,
        "</svg>",
    ]) + "\n"  # fmt: skip


def _style(theme: dict[str, str]) -> str:
    return "\n".join(f".{name} {{ fill: {v} }} .{name}-line {{ stroke: {v} }}" for name, v in theme.items())


def _shape(shape: Shape) -> Iterator[str]:
    if isinstance(shape, Rect):
        place = f'x="{_n(shape.x)}" y="{_n(shape.y)}" width="{_n(shape.width)}" height="{_n(shape.height)}"'
        yield _closed("rect", f"{place} {_paint(shape.fill, shape.edge)}", shape.tip)
    elif isinstance(shape, Polygon):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
        yield _closed("polygon", f'points="{points}" {_paint(shape.fill, shape.edge)}', shape.tip)
    elif isinstance(shape, Dot):
        place = f'cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
        yield _closed("circle", f"{place} {_paint(shape.fill, '')}", shape.tip)
    elif isinstance(shape, Line):
        path = _path(shape)
        if path:
            yield (
                f'<path d="{path}" fill="none" stroke-width="{_n(shape.width)}" stroke-linejoin="round" '
                f'class="{shape.colour}-line"/>'
            )
    elif shape.text:
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        weight = ' font-weight="600"' if shape.bold else ""
        # the middle of small letters, without the property that some readers of SVG do not know
        base = shape.y + shape.size * 0.36
        place = f'x="{_n(shape.x)}" y="{_n(base)}" font-size="{_n(shape.size)}" class="{shape.colour}"'
        yield f"<text {place}{anchor}{weight}>{_safe(shape.text)}</text>"


def _closed(name: str, attributes: str, tip: str) -> str:
    return f"<{name} {attributes}><title>{_safe(tip)}</title></{name}>" if tip else f"<{name} {attributes}/>"


def _paint(fill: str, edge: str) -> str:
    """Colours of a theme are classes, others attributes."""
    own = [f'fill="{fill}"'] * fill.startswith("#") + [f'stroke="{edge}"'] * edge.startswith("#")
    names = [fill] * (not fill.startswith("#")) + [f"{edge}-line"] * bool(edge and not edge.startswith("#"))
    classes = [f'class="{" ".join(names)}"'] * bool(names)
    return " ".join([*own, *classes, *(['stroke-width="0.7"'] * bool(edge))])


def _path(line: Line) -> str:
    parts, move = [], True
    for point in line.points:
        if point is None:
            move = True
            continue
        parts.append(f"{'M' if move else 'L'}{_n(point[0])} {_n(point[1])}")
        move = False
    return " ".join(parts)


def _n(value: float) -> str:
    return f"{round(value, 1):g}" if abs(value) < 1e5 else f"{value:.0f}"


def _safe(text: str) -> str:
    """For XML: markup escaped, characters left out that it cannot have."""
    clean = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return escape(clean)
