"""A pattern as a net, drawn by ``occurs net``: ``net`` has the compact view and one page of the full one, ``net-full``
all pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from kit import COLOURS, THEMES, WIDTH, n

from occurs.languages.epl.nets import to_net
from occurs.languages.epl.parser import parse
from occurs.nets.net import Net
from occurs.nets.svg import draw

STATEMENTS = """
create schema Temp(area string, value int);
create schema Smoke(area string);
insert into Fire select s.area as area, t.value as value
from pattern [every t=Temp(value > 45) -> s=Smoke(area = t.area)];
"""
PATTERN = "every t=Temp(value > 45) -> s=Smoke(area = t.area)"


def net() -> Net:
    text, problems = parse(STATEMENTS)
    if problems:
        raise SystemExit("\n".join(p.message for p in problems))
    return to_net(text)


def files() -> Iterator[tuple[str, bytes]]:
    whole = net()
    one = replace(whole, pages=tuple(page for page in whole.pages if page.name == "Fire_t"))
    for theme in THEMES:
        view, page = draw(whole, compact=True, theme=theme), draw(one, theme=theme)
        both = [(f"The compact view of  {PATTERN}", view), ("One page of the full view: the event t", page)]
        yield f"net-{theme}.svg", _below(both, "A pattern as a coloured Petri net", theme).encode()
        full = [(f"The full view of  {PATTERN}", draw(whole, theme=theme))]
        yield f"net-full-{theme}.svg", _below(full, "A pattern as a coloured Petri net, in full", theme).encode()


def _below(drawings: list[tuple[str, str]], title: str, theme: str) -> str:
    """Drawings below one another, each with a line above it, as wide as the page at most."""
    ink = COLOURS["ink"][THEMES.index(theme)]
    parts, y = [], 0.0
    for text, drawing in drawings:
        found = re.match(r'<svg [^>]*width="(\d+)" height="(\d+)"', drawing)
        if found is None:
            raise SystemExit("a drawing without a size")
        wide, high = float(found[1]), float(found[2])
        scale = min(1.0, WIDTH / wide)
        parts.append(
            f'<text x="24" y="{n(y + 20)}" style="font-size: 14px; font-weight: 600; fill: {ink}">{_safe(text)}</text>'
        )
        place = f'<svg x="0" y="{n(y + 20)}" width="{n(wide * scale)}" height="{n(high * scale)}" viewBox'
        body = re.sub(r"<svg [^>]*viewBox", place, drawing, count=1)
        parts.append(re.sub(r"<title>.*?</title>\n", "", body, count=1).replace(' role="img"', "", 1).rstrip())
        y += 20 + high * scale
    size = f'width="{n(WIDTH)}" height="{n(y)}" viewBox="0 0 {n(WIDTH)} {n(y)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{title}</title>\n'
    return head + "\n".join(parts) + "\n</svg>\n"


def _safe(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
