"""A timeline as shapes on a sheet, which the SVG and the PNG draw; and the sheet as SVG.

Places are pixels from the left and from the top.  Colours are names of a theme (``ink``) or values (``#56b4e9``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from xml.sax.saxutils import escape

import numpy as np

from occurs.model.colours import INPUT, THEMES
from occurs.model.time import TimeKind
from occurs.plot.lanes import Chart, Group, Lane

#: heights of a row of bars or marks, of the name of a group, of a line of the legend
ROW, HEAD, LEGEND = 26.0, 24.0, 22.0
#: the border, sizes of text, and half of a mark
PAD, SMALL, PLAIN, TITLE, MARK = 16.0, 11.0, 12.5, 17.0, 5.5
#: names of lanes have so much of the width at most
_GUTTER = 0.28
#: between the texts of two marks of the axis
_APART = 84.0
#: an axis above the lanes, too, if they are so high
_TALL = 700.0
#: shapes that explain themselves under the pointer, at most
_TIPS = 3000


@dataclass(frozen=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    fill: str
    edge: str = ""
    tip: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Line:
    """A line through points; None breaks it."""

    points: tuple[tuple[float, float] | None, ...]
    colour: str
    width: float = 1.0


@dataclass(frozen=True)
class Polygon:
    points: tuple[tuple[float, float], ...]
    fill: str
    edge: str = ""
    tip: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    radius: float
    fill: str
    tip: str = ""


@dataclass(frozen=True)
class Text:
    """Text around the middle height ``y``; ``role``: ``label`` and ``group`` stand among the lanes."""

    x: float
    y: float
    text: str
    size: float
    colour: str = "ink"
    anchor: str = "start"
    bold: bool = False
    role: str = ""


Shape = Rect | Line | Polygon | Dot | Text


@dataclass
class Sheet:
    """The shapes of a timeline, in the order in which they are drawn."""

    width: float
    height: float
    title: str
    shapes: list[Shape] = field(default_factory=list)


def drawn(chart: Chart, width: float) -> Sheet:
    """The sheet of a timeline that is ``width`` pixels wide."""
    return _Drawing(chart, width).sheet()


class _Drawing:
    def __init__(self, chart: Chart, width: float) -> None:
        self.chart, self.width = chart, width
        self.colour = chart.colours
        # one type only: the names of groups stand where those of lanes would all be the same
        self.inline = len(chart.types) == 1 and all(g.name and len(g.lanes) == 1 for g in chart.groups)
        names = [self.beside(g, lane) for g in chart.groups for lane in g.lanes]
        wide = max((text_width(n, PLAIN, bold=True) for n in names), default=30.0)
        self.left = PAD + min(wide, width * _GUTTER) + 12
        if any(lane.values is not None for g in chart.groups for lane in g.lanes):
            self.left += 34  # for the ends of the scale of signals
        self.right = width - PAD
        # a picture of one instant has a width, too
        self.span = max(chart.end - chart.start, 1)
        self.out: list[Shape] = []
        self.tips = sum(len(lane.start) for g in chart.groups for lane in g.lanes) <= _TIPS

    def beside(self, group: Group, lane: Lane) -> str:
        return group.name if self.inline else lane.name

    def x(self, t: np.ndarray | int) -> np.ndarray:
        """Places on the axis; there is a little room on both sides of it."""
        part = (np.asarray(t, float) - float(self.chart.start)) / float(self.span)
        return np.asarray(self.left + 10 + part * (self.right - self.left - 20))

    def sheet(self) -> Sheet:
        chart, y = self.chart, PAD
        if chart.title:
            self.text(PAD, y + 9, shortened(chart.title, TITLE, self.width - 2 * PAD, bold=True), TITLE, bold=True)
            y += 28
        y = self.legend(y) + 6 if chart.groups else y
        marks = [m for m in self.marks() if self.left < self.x(m.at) < self.right]
        heights = [self.height(g) for g in chart.groups]
        total = sum(heights) or 40.0
        if total > _TALL:
            y += 40
            self.axis(marks, y, up=True)
        top = y
        for number, high in enumerate(heights):
            if number % 2 == 0 and len(chart.groups) > 1:
                self.out.append(Rect(0, y, self.width, high, "band"))
            y += high
        # the grid lies on the bands, and below everything else
        for m in marks:
            at = round(float(self.x(m.at))) + 0.5
            self.out.append(Line(((at, top), (at, top + total)), "grid"))
        for t in sorted({*(chart.answer.asked or ())}):
            at = round(float(self.x(t))) + 0.5
            self.out.append(Line(((at, top), (at, top + total)), "warn", 1.5))
        y = top
        for group, high in zip(chart.groups, heights):
            self.group(group, y)
            y += high
        if not chart.groups:
            self.text(self.width / 2, top + 20, "nothing to show", PLAIN, anchor="middle", colour="dim")
        y = top + total
        self.axis(marks, y, up=False)
        y += 46
        for notice in chart.notices:
            self.text(PAD, y + 6, shortened(notice, PLAIN, self.width - 2 * PAD), PLAIN, colour="warn")
            y += 20
        return Sheet(self.width, y + PAD / 2, chart.title, self.out)

    def height(self, group: Group) -> float:
        head = HEAD if group.name and not self.inline else 0.0
        return head + sum(lane.rows * ROW for lane in group.lanes)

    def text(self, x: float, y: float, text: str, size: float, **how: object) -> None:
        self.out.append(Text(float(x), y, text, size, **how))  # type: ignore[arg-type]

    # --- around the lanes
    def legend(self, y: float) -> float:
        """Detections, then input, then what heads mean; in as many lines as it takes."""
        lasting = {lane.type: lane.lasting for g in self.chart.groups for lane in g.lanes}
        entries = [(t, t) for t in self.chart.types if t not in self.chart.inputs]
        lanes = [lane for g in self.chart.groups for lane in g.lanes]
        entries += [("input events", "input")] * any(
            lane.type in self.chart.inputs and lane.values is None for lane in lanes
        )
        entries += [("input signals", "signal")] * any(lane.values is not None for lane in lanes)
        entries += [("goes on", "head")] * any(
            bool((lane.open | (lane.end > self.chart.end) | (lane.start < self.chart.start)).any())
            for lane in lanes
            if lane.lasting
        )
        entries += [("asked time", "asked")] * (self.chart.answer.asked is not None)
        x, middle = PAD, y + LEGEND / 2
        for name, what in entries:
            shown = shortened(name, PLAIN, 220)
            wide = 20 + text_width(shown, PLAIN) + 18
            if x > PAD and x + wide > self.width - PAD + 18:
                x, middle = PAD, middle + LEGEND
            if what == "head":
                self.head(x + 11, middle, 1)
            elif what == "asked":
                self.out.append(Line(((x + 7, middle - 8), (x + 7, middle + 8)), "warn", 1.5))
            elif what == "signal":
                wave = ((x, middle + 4), (x + 5, middle - 4), (x + 10, middle + 2), (x + 15, middle - 3))
                self.out.append(Line(wave, "signal", 1.5))
            elif lasting.get(what):
                fill, edge, dashed = self.look(what)
                self.out.append(Rect(x, middle - 6, 15, 12, fill, edge, "", dashed))
            else:
                fill, edge, dashed = (INPUT, "edge", False) if what == "input" else self.look(what)
                self.mark(x + 7, middle, fill, edge, dashed=dashed)
            self.text(x + 20, middle, shown, PLAIN)
            x += wide
        return middle + LEGEND / 2

    def look(self, type: str) -> tuple[str, str, bool]:
        """The fill and the edge of rows of a type, and whether the edge is dashed: those that are added are empty."""
        if type in self.chart.answer.added:
            return "back", "ink", True
        return self.colour[type], "edge", False

    def marks(self) -> list[Tick]:
        most = max(2, int((self.right - self.left) / _APART))
        return ticks(self.chart.start, self.chart.end, self.chart.kind, most)

    def axis(self, marks: list[Tick], y: float, *, up: bool) -> None:
        """A line with marks and their texts below it, or above it (``up``)."""
        sign = -1 if up else 1
        self.out.append(Line(((self.left, y), (self.right, y)), "dim"))
        free, free_below = self.left - 30, self.left - 30
        for m in marks:
            x = float(self.x(m.at))
            half, below = text_width(m.text, SMALL) / 2, text_width(m.below, SMALL, bold=True) / 2
            self.out.append(Line(((x, y), (x, y + sign * 4)), "dim"))
            if x - half > free and x + half < self.width - 2:
                self.text(x, y + sign * 13, m.text, SMALL, anchor="middle")
                free = x + half + 6
            if m.below and x - below > free_below and x + below < self.width - 2:
                self.text(x, y + sign * 28, m.below, SMALL, anchor="middle", bold=True)
                free_below = x + below + 10
        name = "UTC" if self.chart.kind.timestamp else f"time ({self.chart.kind.unit or 'ticks'})"
        self.text(PAD, y + sign * 13, name, SMALL, colour="dim")

    # --- lanes
    def group(self, group: Group, y: float) -> None:
        if group.name and not self.inline:
            name = shortened(group.name, PLAIN, self.width - 2 * PAD, bold=True)
            self.text(PAD, y + HEAD / 2 + 1, name, PLAIN, bold=True, role="group")
            y += HEAD
        for lane in group.lanes:
            high, middle = lane.rows * ROW, y + lane.rows * ROW / 2
            role = "group" if self.inline else ""
            room = self.left - PAD - 12 - (34 if lane.values is not None else 0)
            name = self.beside(group, lane)
            if lane.signal and text_width(name, PLAIN) > room:
                name = lane.signal  # of both names the one that differs in the group
            shown = shortened(name, PLAIN, room, bold=self.inline)
            colour = "dim" if lane.type in self.chart.inputs else "ink"
            self.text(PAD, middle, shown, PLAIN, colour=colour, bold=self.inline, role=role)
            if lane.values is not None:
                self.signal(lane, lane.values, y)
            elif lane.lasting:
                self.bars(lane, y)
            else:
                self.points(lane, y)
            y += high
            self.out.append(Line(((PAD, y), (self.right, y)), "grid", 0.6))

    def signal(self, lane: Lane, values: np.ndarray, y: float) -> None:
        known = values[~np.isnan(values)]
        if not len(known):
            return
        low, high = float(known.min()), float(known.max())
        top, bottom = y + 7, y + lane.rows * ROW - 7
        part = (values - low) / (high - low) if high > low else np.full(len(values), 0.5)
        xs, ys = self.x(lane.start), bottom - part * (bottom - top)
        points = [None if np.isnan(v) else (float(a), float(v)) for a, v in zip(xs, ys)]
        self.out.append(Line(tuple(points), "signal", 1.3))
        if len(values) * 7 < self.right - self.left:
            tips = lane.text if self.tips else [""] * len(values)
            self.out += (Dot(*p, 2.2, "signal", tip) for p, tip in zip(points, tips) if p is not None)
        texts = [(high, top + 1), (low, bottom - 1)] if high > low else [(high, (top + bottom) / 2)]
        for value, at in texts:
            self.text(self.left - 6, at, _short(value), SMALL - 1, anchor="end", colour="dim")

    def bars(self, lane: Lane, y: float) -> None:
        chart = self.chart
        colour, line, dashed = self.look(lane.type)
        low, high = self.x(np.maximum(lane.start, chart.start)), self.x(np.minimum(lane.end, chart.end))
        # a bar too short to be seen is a hair wide
        wide = np.maximum(high - low, 1.2)
        tops = y + lane.row * ROW + 3
        for i in range(len(low)):
            tip = lane.text[i] if self.tips else ""
            edge = line if wide[i] > 3 else ""
            self.out.append(Rect(float(low[i]), float(tops[i]), float(wide[i]), ROW - 6, colour, edge, tip, dashed))
        # an interval that goes on beyond the picture, or is open, has a head there
        for i in np.flatnonzero(lane.open | (lane.end > chart.end)).tolist():
            self.head(float(self.x(chart.end)) + 8, float(tops[i]) + ROW / 2 - 3, 1)
        for i in np.flatnonzero(lane.start < chart.start).tolist():
            self.head(float(self.x(chart.start)) - 8, float(tops[i]) + ROW / 2 - 3, -1)
        # where bars are drawn over one another, their labels would be, too
        for i in np.flatnonzero(~lane.crowded).tolist():
            self.label(lane.label[i], float(low[i]) + 5, float(wide[i]) - 9, float(tops[i]) + ROW / 2 - 3,
                       "ink" if dashed else "on")  # fmt: skip

    def points(self, lane: Lane, y: float) -> None:
        xs, middle = self.x(lane.start), y + ROW / 2
        # of marks that stand close together there would be nothing but edges: they have one of their own colour
        fill, edge, dashed = self.look(lane.type)
        if not dashed and len(xs) * MARK >= self.right - self.left:
            edge = _darker(fill)
        for i, x in enumerate(xs):
            self.mark(float(x), middle, fill, edge, lane.text[i] if self.tips else "", dashed=dashed)
        room = np.append(xs[1:], self.right + MARK) - xs
        for i in np.flatnonzero(room > 3 * MARK).tolist():
            self.label(lane.label[i], float(xs[i]) + MARK + 4, float(room[i]) - 2 * MARK - 8, middle, "ink")

    def label(self, text: str, x: float, room: float, y: float, colour: str) -> None:
        if text and text_width(text, SMALL) <= room:
            self.text(x, y, text, SMALL, colour=colour, role="label")

    def mark(self, x: float, y: float, fill: str, edge: str = "edge", tip: str = "", *, dashed: bool = False) -> None:
        points = ((x, y - MARK), (x + MARK, y), (x, y + MARK), (x - MARK, y))
        self.out.append(Polygon(points, fill, edge, tip, dashed))

    def head(self, x: float, y: float, way: int) -> None:
        """A small triangle with its point at ``x``."""
        self.out.append(Polygon(((x, y), (x - 7 * way, y - 4.5), (x - 7 * way, y + 4.5)), "ink"))


def _darker(colour: str) -> str:
    return "#" + "".join(f"{int(colour[i : i + 2], 16) * 7 // 10:02x}" for i in (1, 3, 5))


def _short(value: float) -> str:
    """A number in few letters: 1,500 as 1.5k."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1e3 if name == 'k' else unit):.3g}{name}"
    return f"{value:.4g}"


# --- how wide text is, without a font ---------------------------------------------------------------------------------
# The advance widths of DejaVu Sans, which is as wide as any common sans serif: a text that has room here also has room
# in the narrower fonts of a browser.

#: thousandths of the font size, from the space (U+0020) to the tilde
_PLAIN = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
#: any other letter
_OTHER = 840
_BOLD, _MONO = 1.12, 602


def text_width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """The width of one line of ``text``, in the unit of ``size``; never less than it takes in DejaVu Sans."""
    if mono:
        return len(text) * _MONO * size / 1000
    total = sum(_PLAIN[ord(c) - 32] if " " <= c <= "~" else _OTHER for c in text)
    return total * size / 1000 * (_BOLD if bold else 1.0)


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """``text``, or as much of it as has room, with an ellipsis."""
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text.rstrip() + "…"


# --- where a time axis has its marks, and what they are called --------------------------------------------------------


_MS, _SECOND = 1_000, 1_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3_600 * _SECOND, 86_400 * _SECOND
_STEPS = (
    *(n * 10**k for k in range(6) for n in (1, 2, 5)),
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000)
_MONTH = 30.44 * _DAY
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Tick:
    """A mark at ``at`` (ticks of time), its text, and a second line where what the text leaves out has changed."""

    at: int
    text: str
    below: str = ""


def ticks(start: int, end: int, kind: TimeKind, most: int) -> list[Tick]:
    """About ``most`` marks between two instants, at round times."""
    rough = max(end - start, 1) / max(most, 1)
    if not kind.timestamp:
        step = next(n * 10**k for k in range(20) for n in (1, 2, 5) if n * 10**k >= rough)
        return [Tick(t, f"{t}") for t in range(-(-start // step) * step, end + 1, step)]
    try:
        found = _months(start, end, rough) if rough > 14 * _DAY else _steps(start, end, rough)
    except OverflowError:  # before the year 1, or after 9999
        return []
    return [
        Tick(t, text, below if not i or below != found[i - 1][2] else "") for i, (t, text, below) in enumerate(found)
    ]


def _steps(start: int, end: int, rough: float) -> list[tuple[int, str, str]]:
    step = next((s for s in _STEPS if s >= rough), 14 * _DAY)
    # weeks begin on Mondays: the first day of 1970 was a Thursday
    shift = 4 * _DAY if step % (7 * _DAY) == 0 else 0
    return [(t, *_called(t, step)) for t in range(-(-(start - shift) // step) * step + shift, end + 1, step)]


def _called(t: int, step: int) -> tuple[str, str]:
    at = _EPOCH + timedelta(microseconds=t)
    day = f"{at.day} {_NAMES[at.month - 1]}"
    if step >= _DAY:
        return day, str(at.year)
    text = f"{at:%H:%M}" if step >= _MINUTE else f"{at:%H:%M:%S}"
    if step < _SECOND:
        text += f".{at.microsecond // _MS:03d}" if step >= _MS else f".{at.microsecond:06d}"
    return text, f"{day} {at.year}"


def _months(start: int, end: int, rough: float) -> list[tuple[int, str, str]]:
    step = next((m for m in _MONTHS if m * _MONTH >= rough), _MONTHS[-1])
    first = _EPOCH + timedelta(microseconds=start)
    month = first.year * 12 + first.month - 1
    out = []
    for m in range(-(-month // step) * step, 9999 * 12, step):
        at = datetime(m // 12, m % 12 + 1, 1, tzinfo=UTC)
        t = (at - _EPOCH) // timedelta(microseconds=1)
        if t > end:
            break
        if t >= start:
            out.append((t, str(at.year), "") if step >= 12 else (t, _NAMES[m % 12], str(at.year)))
    return out


# --- SVG, which needs nothing to be written and nothing but fonts of the reader's machine to be shown ----------------

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
        yield _closed("rect", f"{place} {_paint(shape.fill, shape.edge, shape.dashed)}", shape.tip)
    elif isinstance(shape, Polygon):
        points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
        yield _closed("polygon", f'points="{points}" {_paint(shape.fill, shape.edge, shape.dashed)}', shape.tip)
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


def _paint(fill: str, edge: str, dashed: bool = False) -> str:
    """Colours of a theme are classes, others attributes."""
    own = [f'fill="{fill}"'] * fill.startswith("#") + [f'stroke="{edge}"'] * edge.startswith("#")
    names = [fill] * (not fill.startswith("#")) + [f"{edge}-line"] * bool(edge and not edge.startswith("#"))
    classes = [f'class="{" ".join(names)}"'] * bool(names)
    stroke = ['stroke-width="1.2" stroke-dasharray="3 2"' if dashed else 'stroke-width="0.7"'] * bool(edge)
    return " ".join([*own, *classes, *stroke])


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
