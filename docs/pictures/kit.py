"""What the pictures of the documentation are drawn with: shapes and text in a light and a dark theme, as SVG.

A picture is 800 wide and has no background of its own.  ``Picture.problems`` reports text that overlaps other text or
leaves the picture; a test holds that there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from occurs.plot.drawing import text_width

WIDTH = 800.0
THEMES = ("light", "dark")
#: name -> (light, dark).  Blue is input, orange a detection, green an interval, purple the engine's state: the colours
#: of Okabe and Ito, which colour-blind readers can tell apart, each dark or light enough for its theme
COLOURS = {
    "ink": ("#1b1f24", "#e6e9ee"),
    "dim": ("#57606a", "#a0a9b4"),
    "line": ("#b4bcc5", "#545d68"),
    "faint": ("#8792a2", "#8792a2"),
    "blue": ("#0067a3", "#56b4e9"),
    "orange": ("#b84e00", "#f0a030"),
    "green": ("#00755a", "#2fc79c"),
    "purple": ("#95437a", "#e3a0c8"),
}
_SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
#: how much of a colour is in a filled area
_FILL = {"light": 0.16, "dark": 0.24}


def n(value: float) -> str:
    """A coordinate, as short as it is exact enough."""
    return f"{round(value, 1):g}"


@dataclass(frozen=True)
class Written:
    """A line of text and the rectangle that it takes."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Written) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


@dataclass
class Picture:
    """A drawing of ``height``; ``title`` and ``description`` are for readers who do not see it.

    Shapes are kept with the names of their colours, so that one drawing has both themes.
    """

    name: str
    height: float
    title: str
    description: str
    width: float = WIDTH
    parts: list[str] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)

    # --- text
    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        anchor: str = "start",
        colour: str = "ink",
        bold: bool = False,
        mono: bool = False,
    ) -> float:
        """A line of text on the base line ``y``; returns where it ends."""
        wide = text_width(text, size, bold=bold, mono=mono)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        self.written.append(Written(text, left, y - size * 0.74, left + wide, y + size * 0.2))
        weight = ' font-weight="600"' if bold else ""
        family = f' font-family="{_MONO}"' if mono else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self.parts.append(
            f'<text x="{n(x)}" y="{n(y)}" font-size="{n(size)}" fill="{{{colour}}}"{place}{weight}{family}'
            f' xml:space="preserve">{_safe(text)}</text>'
        )
        return left + wide

    def lines(
        self, x: float, y: float, texts: Sequence[str], *, size: float = 13, step: float = 1.4, **how: object
    ) -> float:
        """Lines below one another; returns the base line of the next."""
        for text in texts:
            self.text(x, y, text, size=size, **how)  # type: ignore[arg-type]
            y += size * step
        return y

    # --- shapes
    def rect(
        self,
        x: float,
        y: float,
        wide: float,
        high: float,
        *,
        colour: str = "line",
        fill: str | None = None,
        round_: float = 4,
        dash: bool = False,
        stroke: float = 1.2,
    ) -> None:
        """A rectangle; ``fill``: the colour of its area, thinned."""
        inside = "none" if fill is None else f"{{{fill}}}"
        thin = "" if fill is None else ' fill-opacity="{fill}"'
        dashed = ' stroke-dasharray="5 4"' if dash else ""
        edge = f'stroke="{{{colour}}}" stroke-width="{n(stroke)}"' if stroke else ""
        self.parts.append(
            f'<rect x="{n(x)}" y="{n(y)}" width="{n(wide)}" height="{n(high)}" rx="{n(round_)}" fill="{inside}"{thin} '
            f"{edge}{dashed}/>"
        )

    def line(
        self, points: Sequence[tuple[float, float]], *, colour: str = "line", dash: bool = False, stroke: float = 1.2
    ) -> None:
        path = " L ".join(f"{n(x)} {n(y)}" for x, y in points)
        dashed = ' stroke-dasharray="5 4"' if dash else ""
        self.parts.append(f'<path d="M {path}" fill="none" stroke="{{{colour}}}" stroke-width="{n(stroke)}"{dashed}/>')

    def arrow(
        self, points: Sequence[tuple[float, float]], *, colour: str = "dim", dash: bool = False, stroke: float = 1.5
    ) -> None:
        """A line with a head at its end."""
        self.line(points, colour=colour, dash=dash, stroke=stroke)
        (x0, y0), (x1, y1) = points[-2:]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5 or 1.0
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        head = [(x1, y1), (x1 - 9 * dx - 4 * dy, y1 - 9 * dy + 4 * dx), (x1 - 9 * dx + 4 * dy, y1 - 9 * dy - 4 * dx)]
        path = " ".join(f"{n(x)},{n(y)}" for x, y in head)
        self.parts.append(f'<polygon points="{path}" fill="{{{colour}}}"/>')

    def event(self, x: float, y: float, *, colour: str = "blue", size: float = 7, hollow: bool = False) -> None:
        """An instant: a diamond; ``hollow``: one that does not count."""
        path = f"{n(x)},{n(y - size)} {n(x + size)},{n(y)} {n(x)},{n(y + size)} {n(x - size)},{n(y)}"
        inside = "none" if hollow else f"{{{colour}}}"
        self.parts.append(f'<polygon points="{path}" fill="{inside}" stroke="{{{colour}}}" stroke-width="1.6"/>')

    def bar(
        self, x0: float, x1: float, y: float, *, high: float = 20, colour: str = "green", open_: bool = False
    ) -> None:
        """An interval from ``x0`` to ``x1``, with its middle at ``y``; an open one ends in an arrow."""
        if not open_:
            self.rect(x0, y - high / 2, x1 - x0, high, colour=colour, fill=colour, round_=2, stroke=1.6)
            return
        top, low = y - high / 2, y + high / 2
        path = (
            f"M {n(x1)} {n(top)} L {n(x0)} {n(top)} L {n(x0)} {n(low)} L {n(x1)} {n(low)} L {n(x1 + high / 2)} {n(y)} Z"
        )
        self.parts.append(
            f'<path d="{path}" fill="{{{colour}}}" fill-opacity="{{fill}}" stroke="{{{colour}}}" stroke-width="1.6"/>'
        )

    def box(
        self,
        x: float,
        y: float,
        wide: float,
        high: float,
        title: str,
        lines: Sequence[str] = (),
        *,
        colour: str = "dim",
        size: float = 14,
    ) -> None:
        """A named box with lines of small text in it, all in its middle."""
        self.rect(x, y, wide, high, colour=colour, fill=colour)
        total = size + len(lines) * 12 * 1.4
        base = y + (high - total) / 2 + size * 0.85
        self.text(x + wide / 2, base, title, size=size, anchor="middle", bold=True)
        self.lines(x + wide / 2, base + size * 1.35, lines, size=12, anchor="middle", colour="dim")

    def axis(self, x0: float, x1: float, y: float, ticks: Sequence[tuple[float, str]] = (), name: str = "time") -> None:
        """A time axis with an arrow; ``ticks``: place and text."""
        self.arrow([(x0, y), (x1, y)], colour="dim")
        if name:
            self.text(x1 + 6, y + 4, name, colour="dim", size=12)
        for x, text in ticks:
            self.line([(x, y - 4), (x, y + 4)], colour="dim")
            self.text(x, y + 20, text, size=12, anchor="middle", colour="dim")

    # --- the result
    def svg(self, theme: str) -> str:
        """The drawing in a theme."""
        column = THEMES.index(theme)
        names = {f"{{{name}}}": pair[column] for name, pair in COLOURS.items()} | {"{fill}": str(_FILL[theme])}
        body = "\n".join(self.parts)
        for name, value in names.items():
            body = body.replace(name, value)
        size = f'width="{n(self.width)}" height="{n(self.height)}" viewBox="0 0 {n(self.width)} {n(self.height)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_SANS}">\n'
            f"<title>{_safe(self.title)}</title>\n<desc>{_safe(self.description)}</desc>\n{body}\n</svg>\n"
        )

    def problems(self) -> list[str]:
        """Text over other text, and text that leaves the picture."""
        out = []
        for i, one in enumerate(self.written):
            if one.left < 0 or one.top < 0 or one.right > self.width or one.bottom > self.height:
                out.append(f"{self.name}: `{one.text}` leaves the picture")
            out += [f"{self.name}: `{one.text}` is over `{o.text}`" for o in self.written[i + 1 :] if one.overlaps(o)]
        return out


def _safe(text: str) -> str:
    # braces are the names of colours
    return escape(text).replace("{", "&#123;").replace("}", "&#125;")
