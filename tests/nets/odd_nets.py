"""A net with all that files find hard."""

from __future__ import annotations

from small_nets import INT, gives, number, takes

from occurs.expr.tree import Binary, Call, Literal
from occurs.model.types import Type
from occurs.nets.colours import Bool, Enum, List, Product, Real, Record, String, Union
from occurs.nets.net import P_MIN, Net, Page, Place, Transition
from occurs.nets.terms import EnumTerm, Inject, RecordTerm, TupleTerm, var


def wild() -> Net:
    """Names that ML does not take, all kinds of colours, fused places, integers beyond 31 bits, reals compared."""
    real, text, flag = Real("real number"), String("STRING"), Bool("BOOL")
    kind = Enum("val", ("end", "of the day"))
    event = Record("event", (("type", kind), ("mc$", real), ("ts", INT)))
    nothing = Record("nothing", ())
    message = Union("message", (("p A", event), ("none", None), ("empty", nothing)))
    row = Product("row", (INT, message))
    rows = List("rows", row)
    early = ("p A", ("end", 2.5, 1_700_000_000_000_000))
    late = ("p A", ("of the day", -1e-9, 1_700_000_000_000_001))
    o, e, x, y, names = var("o"), var("e 1"), var("x"), var("y"), var("names")
    search = Page(
        "1 search",
        (
            Place("In put", row, ((1, early), (2, ("none", ())), (3, late), (4, ("empty", ()))), fusion="in!"),
            Place("Ok?", flag, (True,)),
            Place("Out-put", rows, ((), ())),
            Place("Höhe", text, ('a\n"ü"',)),
        ),
        (
            Transition("move a row", (Binary("<=", o, number(3)),)),
            Transition("compare", (Binary("!=", x, y), Binary(">", Call("length", (y,)), number(0))), P_MIN),
        ),
        (
            takes("In put", "move a row", TupleTerm((o, e))),
            takes("Out-put", "move a row", x),
            gives("Out-put", "move a row", Call("cons", (TupleTerm((o, e)), x))),
            takes("Out-put", "compare", x, y),
            gives("Out-put", "compare", x),
            takes("Höhe", "compare", names),
            gives("Höhe", "compare", Call("concat", (names, Literal("!", Type.STRING)))),
            takes("Ok?", "compare", Literal(True, Type.BOOL)),
            gives("Ok?", "compare", Literal(False, Type.BOOL)),
        ),
    )
    made = Inject("p A", RecordTerm(("type", "mc$", "ts"), (EnumTerm("end"), Call("real", (o,)), number(2**40))))
    feed = Page(
        "1_search",
        (
            Place("In_put", row, ((1, early), (2, ("none", ())), (3, late), (4, ("empty", ()))), fusion="in!"),
            Place("Clock", INT, (7,)),
        ),
        (Transition("feed", priority=50),),
        (takes("Clock", "feed", o), gives("In_put", "feed", TupleTerm((Binary("%", o, number(4)), made)))),
    )
    variables = (("o", INT), ("e 1", message), ("x", rows), ("y", rows), ("names", text))
    return Net("wild", (INT, real, text, flag, kind, event, nothing, message, row, rows), variables, (search, feed))
