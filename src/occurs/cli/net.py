"""``occurs net``: EPL statements as coloured Petri nets."""

from __future__ import annotations

import click

from occurs.cli import _nets, _options
from occurs.cli._output import counted
from occurs.connect.atomic_files import new_file, write_whole
from occurs.errors import UsageProblem
from occurs.nets.net import Net

_FORMATS = (".cpn", ".net.json", ".svg")


@click.command("net")
@click.argument("sources", nargs=-1, required=True, metavar="RULES.epl...|NET")
@_options.inputs(required=False)
@click.option("--language", metavar="NAME", help="Language of all rules; overrides the suffix.")
@click.option(
    "--out", "-o", metavar="PATH", help="Write a CPN Tools file (.cpn), a .net.json file or a drawing (.svg)."
)
@_options.overwrite
@click.option(
    "--black/--encoded",
    default=None,
    help="Keep black transitions, or encode them with priorities.  [default: encoded for .cpn, else black]",
)
@click.option("--compact", is_flag=True, help="Draw one transition per pattern operator, without inscriptions (.svg).")
@_options.first
@_nets.sink_exits
@_nets.max_events
def command(
    given: _options.Input,
    sources: tuple[str, ...],
    language: str | None,
    out: str | None,
    overwrite: bool,
    black: bool | None,
    compact: bool,
    first: int,
    sink_exits: bool,
    max_events: int,
) -> None:
    """Translate EPL to a coloured Petri net, or convert a net.

    Events become tokens on the input places.  CPN Tools has no black transitions, so a .cpn file encodes them with
    priorities; the outputs are the same.  Without --out, a summary of the net is printed.
    """
    if out is not None and not out.endswith(_FORMATS):
        raise UsageProblem.of(
            "unknown-format", f"--out {out}: unsupported output format", hint="use .cpn, .net.json or .svg"
        )
    if out is not None and black and out.endswith(".cpn"):
        raise UsageProblem.of(
            "bad-option", "--black: CPN Tools has no black transitions", hint="use --encoded or .net.json"
        )
    if compact and (out is None or not out.endswith(".svg") or black is False):
        text = "--compact is a view for drawings of nets with black transitions"
        raise UsageProblem.of("bad-option", text, hint="-o X.svg, without --encoded")
    target = None if out is None else new_file(out, "--out", overwrite)
    loaded = _nets.load(sources, given, language, first=first, sink_exits=sink_exits, max_events=max_events)
    encoded = out is not None and out.endswith(".cpn") if black is None else not black
    net = loaded.with_encoding(encoded)
    if out is None or target is None:
        click.echo(summary(net))
        return
    data = _bytes(net, out, compact)
    write_whole(target, data, out)
    if compact:
        from occurs.nets import compact as view

        net = view.compact(net, net.initial)[0]
    click.echo(f"{out}: {sizes(net)}", err=True)


def _bytes(net: Net, out: str, compact: bool) -> bytes:
    if out.endswith(".cpn"):
        from occurs.nets import cpn_write

        return cpn_write.write(net)
    if out.endswith(".svg"):
        from occurs.nets import svg

        return svg.draw(net, compact=compact).encode()
    from occurs.nets import netjson

    return netjson.write(net).encode()


def sizes(net: Net) -> str:
    """``3 pages, 12 places, 10 transitions (4 black), 40 arcs``."""
    black = sum(t.black is not None for t in net.transitions.values())
    parts = [
        counted(len(net.pages), "page"),
        counted(len(net.places), "place"),
        counted(len(net.transitions), "transition") + (f" ({black} black)" if black else ""),
        counted(len(net.arcs), "arc"),
    ]
    return ", ".join(parts)


def summary(net: Net) -> str:
    """The net in words: its sizes, then page by page its places and transitions."""
    lines = [f"{net.name}: {sizes(net)}"]
    for page in net.pages:
        lines.append(f"{page.name}:")
        for p in page.places:
            more = [f"fused as {p.fusion}"] if p.fusion else []
            more += [p.role.value] if p.role else []
            more += [counted(len(p.initial), "token")] if p.initial else []
            lines.append(f"  place {p.name}: {p.colour.name}" + (f" ({', '.join(more)})" if more else ""))
        for t in page.transitions:
            kind = "black transition" if t.black else "transition"
            lines.append(f"  {kind} {t.name}, priority {t.priority}")
    return "\n".join(lines)
