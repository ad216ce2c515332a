"""A net as a drawing (SVG): its pages one below the other (epl-and-nets.md, sections 4B and 8).

Places are ellipses with their colour and tokens, transitions boxes with their guard, black ones filled black; arcs have
their inscriptions, those in both directions with the same one have two heads.  Fused places say what they are fused in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from occurs.nets.drawing import DrawnArc, DrawnPage, DrawnPlace, DrawnTransition, Note, drawing
from occurs.nets.layout import LINE, Point, text_size
from occurs.nets.ml import right_token, token_text
from occurs.nets.net import Marking, Net, Place, Role

#: the gap around pages, and the height of their titles
MARGIN, TITLE = 24.0, 30.0
#: how many different tokens of a place are shown, and how many characters of one
SHOWN, WIDEST = 4, 34
#: the colours of the two themes, by their use
THEMES: dict[str, dict[str | Role, str]] = {
    "light": {
        "back": "#fff", "frame": "#ccc", "ink": "#111", "edge": "#333", "arc": "#555", "text": "#333", "note": "#777",
        "tokens": "#146c2e", "guard": "#8a1c1c", "black": "#000", "on black": "#fff",
        Role.INIT: "#e8f1fb", Role.EXIT: "#f3f3f3", Role.END: "#eaf6ea", Role.F: "#fdf3e1", Role.INPUT: "#fdf3e1",
        Role.OUTPUT: "#fdf3e1",
    },
    "dark": {
        "back": "#14171c", "frame": "#343b45", "ink": "#e6e9ee", "edge": "#a0a9b4", "arc": "#a0a9b4", "text": "#c6cdd5",
        "note": "#8b949e", "tokens": "#5fd08a", "guard": "#ff9d8a", "black": "#e6e9ee", "on black": "#14171c",
        Role.INIT: "#1d3147", Role.EXIT: "#252a31", Role.END: "#1c3527", Role.F: "#3d3118", Role.INPUT: "#3d3118",
        Role.OUTPUT: "#3d3118",
    },
}  # fmt: skip


def _style(colour: Mapping[str | Role, str]) -> str:
    mono = '"DejaVu Sans Mono", Menlo, monospace'
    return f"""
  text {{ font: 12px "DejaVu Sans", Verdana, sans-serif; fill: {colour["ink"]} }}
  .name {{ text-anchor: middle; dominant-baseline: central }}
  .black {{ fill: {colour["on black"]} }}
  .title {{ font-size: 15px; font-weight: bold }}
  .arc {{ stroke: {colour["arc"]}; stroke-width: 1.1; fill: none }}
  .label {{ font: 11px {mono}; fill: {colour["text"]}; text-anchor: middle }}
  .note {{ text-anchor: middle; font-size: 10.5px; fill: {colour["note"]}; font-style: italic }}
  .tokens {{ font: 11px {mono}; fill: {colour["tokens"]} }}
  .guard {{ font: 11px {mono}; fill: {colour["guard"]}; text-anchor: middle }}
  .ground {{ fill: {colour["back"]}; fill-opacity: 0.85 }}
"""


def draw(net: Net, marking: Marking | None = None, *, compact: bool = False, theme: str = "light") -> str:
    """The SVG text of ``net``, with the tokens of ``marking`` (without: the initial ones).

    ``compact``: one transition per pattern operator, without inscriptions (:mod:`occurs.nets.compact`).  ``theme``:
    ``light`` or ``dark``.  Nodes without a place on their page are laid out (:func:`occurs.nets.layout.placed`).
    """
    tokens = marking or net.initial
    if compact:
        from occurs.nets.compact import compact as view

        net, tokens = view(net, tokens)
    colours = THEMES[theme]
    parts: list[str] = []
    width = height = MARGIN
    for page in drawing(net, lambda place: list(_tokens(net, tokens, place)), compact=compact):
        drawn, wide, high = _page(page, height, colours)
        parts += drawn
        width, height = max(width, wide + 2 * MARGIN), height + high + MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}"'
    head += f' viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    arrow = (
        '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        f'orient="auto-start-reverse"><path d="M 0 1 L 10 5 L 0 9 z" fill="{colours["arc"]}"/></marker></defs>'
    )
    style = f"<style>{_style(colours)}</style>"
    return "\n".join([head, f"<title>{_safe(net.name)}</title>", style, arrow, *parts, "</svg>"]) + "\n"


def _tokens(net: Net, marking: Marking, place: Place) -> Iterator[str]:
    """The tokens of a place, a line for each value; the last line counts those that are left out."""
    tokens = marking.tokens.get(net.holder(place.name), Counter())
    shown = [(v, n) for v, n in tokens.items() if n]
    for value, count in shown[: SHOWN if len(shown) > SHOWN + 1 else SHOWN + 1]:
        text = token_text(value, place.colour) if right_token(value, place.colour) else repr(value)
        text = text if len(text) <= WIDEST else text[: WIDEST - 2] + ".."
        yield f"{count}`{text}"
    if len(shown) > SHOWN + 1:
        rest = shown[SHOWN:]
        yield f".. {sum(n for _, n in rest)} more"


def _page(page: DrawnPage, top: float, colours: Mapping[str | Role, str]) -> tuple[list[str], float, float]:
    """The elements of a page below ``top``, and its width and height."""
    wide = max(page.right - page.left, 160.0) + 2 * MARGIN
    tall = page.high - page.low + 2 * MARGIN + TITLE
    view = _View(MARGIN * 2 - page.left, top + TITLE + MARGIN + page.high, colours)
    ground = f'fill="{colours["back"]}" stroke="{colours["frame"]}"'
    out = [f'<rect x="{MARGIN}" y="{top:.1f}" width="{wide:.1f}" height="{tall:.1f}" {ground}/>']
    out.append(f'<text class="title" x="{MARGIN + 12}" y="{top + 22:.1f}">{_safe(page.page.name)}</text>')
    out += [view.line(arc) for arc in page.arcs]
    for place in page.places:
        out += view.place(place, colours.get(place.place.role or "back", colours["back"]))
    for transition in page.transitions:
        out += view.transition(transition)
    for note in page.notes:
        out += view.text(note)
    return out, wide, tall


@dataclass(frozen=True)
class _View:
    """From the page, where y grows upwards, to the drawing, where it grows downwards."""

    dx: float
    dy: float
    colours: Mapping[str | Role, str]

    def point(self, at: Point) -> Point:
        return at[0] + self.dx, self.dy - at[1]

    def line(self, arc: DrawnArc) -> str:
        (x0, y0), (x1, y1) = self.point(arc.begin), self.point(arc.end)
        heads = ' marker-start="url(#head)"' * arc.line.out + ' marker-end="url(#head)"' * arc.line.into
        middle = "L "
        if arc.bend is not None:
            bx, by = self.point(arc.bend)
            # a curve through a point is drawn towards one that is as far again beyond it
            middle = f"Q {2 * bx - (x0 + x1) / 2:.1f} {2 * by - (y0 + y1) / 2:.1f} "
        return f'<path class="arc" d="M {x0:.1f} {y0:.1f} {middle}{x1:.1f} {y1:.1f}"{heads}/>'

    def place(self, drawn: DrawnPlace, fill: str) -> list[str]:
        (x, y), (wide, high), place = self.point(drawn.at), drawn.size, drawn.place
        shape = (
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{wide / 2:.1f}" ry="{high / 2:.1f}" fill="{fill}" '
            f'stroke="{self.colours["edge"]}"'
        )
        double = ' stroke-width="2.2"' if place.fusion is not None else ""
        return [f"{shape}{double}/>", f'<text class="name" x="{x:.1f}" y="{y:.1f}">{_safe(place.name)}</text>']

    def transition(self, drawn: DrawnTransition) -> list[str]:
        (x, y), (wide, high), transition = self.point(drawn.at), drawn.size, drawn.transition
        black = transition.black is not None
        box = f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        name = f'<text class="name{" black" * black}" x="{x:.1f}" y="{y:.1f}">{_safe(transition.name)}</text>'
        paint = f'fill="{self.colours["black" if black else "back"]}" stroke="{self.colours["black"]}"'
        return [f"{box}{paint}/>", name]

    def text(self, note: Note) -> list[str]:
        """Lines around a middle, on a ground of their own; tokens begin at the left of it."""
        (x, y), (wide, high) = self.point(note.at), text_size(note.lines)
        ground = f'<rect class="ground" x="{x - wide / 2 - 1:.1f}" y="{y - high / 2:.1f}" '
        drawn = [f'{ground}width="{wide + 2:.1f}" height="{high:.1f}"/>']
        begin = x - wide / 2 if note.kind == "tokens" else x
        for k, line in enumerate(note.lines):
            base = y - high / 2 + LINE * (k + 0.78)
            drawn.append(f'<text class="{note.kind}" x="{begin:.1f}" y="{base:.1f}">{_safe(line)}</text>')
        return drawn


def _safe(text: str) -> str:
    """For XML: markup escaped, characters left out that it cannot have."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" if ord(c) > 126 else " " for c in text)
    return escape(clean)
