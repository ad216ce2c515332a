"""Rule texts of one shape and any size: what nests, what stands in a row, what repeats its operands, and numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """A text with ``n`` times ``opening`` before ``core`` and ``closing`` behind it."""

    language: str
    name: str
    before: str
    opening: str
    core: str
    closing: str
    behind: str

    def text(self, n: int) -> str:
        return f"{self.before}{self.opening * n}{self.core}{self.closing * n}{self.behind}"

    def __str__(self) -> str:
        return f"{self.language} {self.name}"


_EPL = "create schema A(v int); create schema B(v int);\ninsert into O select "
_TESLA = "event A(V: int) event B(V: int)\ndefine C(X) from A"
_PHENESTHE = "input event a(k), b(k).\ninput state r(k).\ninput dynamic d(k).\n"
_LOGIC = "state s(p boolean, q boolean, v int)\ntrigger t: "
#: where a shape stands, by the first word of its name: language, text before, text behind
_PLACES = {
    "condition": ("epl", f"{_EPL}a.v as v from pattern [every a=A(", ")];"),
    "value": ("epl", f"{_EPL}", " as v from pattern [every a=A];"),
    "pattern": ("epl", f"{_EPL}1 as v from pattern [", "];"),
    "calendar": ("epl", f"{_EPL}1 as v from pattern [timer:at(", ", *, *, *, *)];"),
    "constraint": ("tesla", f"{_TESLA}(", ") where X = A.V"),
    "assigned": ("tesla", f"{_TESLA}() where X = ", ""),
    "items": ("tesla", f"{_TESLA}()", " where X = A.V"),
    "state": ("phenesthe", f"{_PHENESTHE}state s(K): ", "."),
    "event": ("phenesthe", f"{_PHENESTHE}event s(K): ", "."),
    "dynamic": ("phenesthe", f"{_PHENESTHE}dynamic s(K): ", "."),
    "compared": ("phenesthe", f"{_PHENESTHE}event s(K): a(K) and ", " > 1."),
    "future": ("ftl", _LOGIC, ""),
    "past": ("ptl", _LOGIC, ""),
    "term": ("ftl", _LOGIC, " > 1"),
    "pipe": ("esql", "DEFINE Out AS ", "."),
    "phrase": ("esql", "WHEN @P IS A PROCESSOR: THE DBL OF @P IS THE PROCESSOR (@P + @P). DEFINE Out AS ", "."),
}

#: place, then what stands before, in the middle and behind, by lines
_NESTED = """
condition | ( | v > 1 | )
condition | not  | v > 1 |
condition | not ( | v > 1 | )
condition | (v > 1 and  | v > 1 | )
condition | (v > 1 or (v > 2 and  | v > 1 | ))
condition | ( | v > 1 |  and v > 1 and v > 2)
condition | case when  | v > 1 |  then true end
condition | case when v > 1 then  | true |  end
condition | case when v > 1 then true else  | true |  end
condition | ( | v |  in (1, 2))
value | abs( | a.v | )
value | coalesce(a.v,  | 1 | )
value | - | a.v |
value | (1 +  | a.v | )
value | ( | a.v |  + 1 + 2 + 3)
value | ( | 'a' |  || 'b' || 'c')
value | case when ( | a.v | ) between 1 and 2 then 1 else 2 end
value | case when ( | a.v | ) between 1 and 2.5 then 1 else 2 end
value | case when ( | a.v | ) in [1:2] then 1 else 2 end
value | case ( | a.v | ) when 1 then 3 when 2 then 4 end
value | case a.v when 1 then  | 1 |  end
pattern | ( | a=A | )
pattern | every ( | A | )
pattern | not ( | B | ) and A
pattern | (B ->  | A | )
pattern | ( | A |  -> B -> A)
pattern | (B and  | A | )
pattern | ( | A |  and B and A)
pattern | (B or  | A | )
pattern | ( | A | ) where timer:within(3 sec)
pattern | ( | A | ) while (true)
pattern | ( | A |  until B)
pattern | (B until  | A | )
pattern | [2] ( | A | )
pattern | every-distinct(1) ( | A | )
calendar | [ | 1 | ]
constraint | ( | V > 1 | )
constraint | not ( | V > 1 | )
constraint | ( | V > 1 |  and V > 1 and V > 2)
assigned | abs( | A.V | )
assigned | coalesce(1,  | A.V | )
assigned | ( | A.V |  + 1 + 2 + 3)
assigned | [int]  | A.V |
state | ( | r(K) | )
state | r(K) union ( | r(K) | )
state | ( | r(K) |  union r(K) union r(K))
state | r(K) minus ( | r(K) | )
state | filter( | r(K) | , less(3 min))
state | start( | r(K) | ) ~> b(K)
event | a(K) or ( | b(K) | )
event | ( | b(K) |  or a(K) or b(K))
event | a(K) and not (a(K) and not  | b(K) | )
event | ( | a(K) |  in r(K))
dynamic | r(K) before ( | r(K) | )
compared | ( | K | )
compared | ( | K |  + 1 + 2 + 3)
future | ( | p | )
future | not  | p |
future | nexttime  | p |
future | eventually[<=3] ( | p | )
future | always (q and eventually  | p | )
future | p until ( | q | )
future | ( | p |  until[<=3] q)
future | ( | p |  unless q)
future | p release ( | q | )
future | ( | p |  implies q)
future | ( | p |  and q and p)
future | [x <- v]  | p |
future | [x <- v] eventually (v > x and  | p | )
past | last  | p |
past | previously[<=3] ( | p | )
past | historically (q or last  | p | )
past | ( | p |  since q)
term | ( | v | )
term | abs( | v | )
term | 2( | v | )
term | ( | v |  + 1 + 2 + 3)
pipe | ( | X0.v | )
pipe | NOT  | X0.v > 1 |
pipe | G F  | X0.v > 1 |
pipe | (X0.v > 1) U ( | X0.v > 1 | )
pipe | √ | X0.v |
pipe | 2^ | X0.v |
pipe | ( | X0.v |  + 1 + 2 + 3)
pipe | ( | X0.v > 1 |  AND X0.v > 2 AND X0.v > 3)
pipe | ( | X0.v |  WHERE TRUE)
pipe | abs( | X0.v | )
pipe | TURN  | X0.v |  INTO A NUMBER
pipe | THE SUM OF ( | X0.v | )
pipe | COMBINE ( | X0.v | ) WITH ADDITION
pipe | TRIM 1 OF ( | X0.v | )
pipe | SELECT v FROM ( | X0 | )
phrase | THE DBL OF ( | X0.v | )
phrase | THE DBL OF  | X0.v |
"""
_ROWS = """
condition |  | v > 1 |  and v > 1
condition |  | v > 1 |  or v > 1
condition |  | v in (1 | , 2
value |  | a.v |  + 1
value |  | 'a' |  || 'b'
pattern |  | A |  and B
pattern |  | A |  or B
pattern |  | A |  -> B
constraint |  | V > 1 |  and V > 1
assigned |  | A.V |  + 1
items |  |  |  and COUNT(B()) within 2 s from A > 1
state |  | r(K) |  union r(K)
event |  | a(K) |  or a(K)
future |  | p |  and p
future |  | p |  or q
term |  | v |  + 1
pipe |  | X0.v > 1 |  AND X0.v > 1
pipe |  | X0.v |  + 1
pipe |  | X0.v |  WHERE TRUE
pipe |  | X0.v | [0]
pipe |  | X0 | .v
pipe |  | X0.v |  IS NULL
"""


def _shapes(lines: str) -> list[Shape]:
    out = []
    for line in lines.strip("\n").split("\n"):
        # what stands between the bars, without the blank beside them
        place, opening, core, *closing = line.split(" | ")
        language, before, behind = _PLACES[place.strip()]
        core, end = (core, " | ".join(closing)) if closing else (core.removesuffix(" |"), "")
        behind = ")" + behind if core == "v in (1" else behind
        out.append(Shape(language, line, before, opening, core, end, behind))
    return out


NESTED, ROWS = _shapes(_NESTED), _shapes(_ROWS)

#: a text per place of a number, which stands for ``@``
NUMBERS = [
    ("tesla", "event A(V: int) define C() from A(V > @)"),
    ("tesla", "event A(V: int) define C() from A() and last A() as B within @ from A"),
    ("tesla", "event A(V: int) define C() from A() and last A() as B within @ min from A"),
    ("tesla", "event A(V: int) define C() from A() and last A() as B within 1 h @ min from A"),
    ("tesla", "event A(V: int) define C() from A() and @-last A() as B within 5 min from A"),
    ("tesla", "event A(V: int) define C() from A() and A.time - @ s > A.time"),
    ("tesla", "event A(V: int) define C() from Timer(M = @)"),
    ("tesla", "Assign @ => A define C() from A()"),
    ("epl", "select 1 as v from pattern [every A -> (B where timer:within(@))];"),
    ("epl", "select 1 as v from pattern [every A -> (B where timer:withinmax(@ sec, @))];"),
    ("epl", "select 1 as v from pattern [every A -> timer:interval(1 day @ min)];"),
    ("epl", "select 1 as v from pattern [every A -[@]> B];"),
    ("epl", "select 1 as v from pattern [[@:@] A until B@consume(@)];"),
    ("epl", "select 1 as v from pattern [every timer:at(@, */@, @:@, [@], *)];"),
    ("epl", "select a[@].v as v from pattern [[2] a=A];"),
    ("epl", "@Priority(@) select a.v * @ as v from pattern [every-distinct(a.v, @) a=A(v in [@:@])];"),
    ("phenesthe", "input event a(k), b(k).\nstate s(K): a(K) ~> b(K).\nevent e(K): a(K) and K > @."),
    ("phenesthe", "input event a(k), b(k).\nstate s(K): filter(a(K) ~> b(K), less(@ min))."),
    ("phenesthe", "input event a(k).\nstate s(K): a(K) <@ @."),
    ("phenesthe", "input event a(k).\nfact f(@, -@).\nevent e(K): a(K) and f(K, @)."),
    ("ftl", "state s(p boolean, v int) constant c = @ trigger t: eventually[<=@ min] v > @"),
    ("ftl", "state s(p boolean, v int) trigger t observing every @ s: p until[@, @] p"),
    ("ftl", "state s(p boolean, v int) trigger t: @v > sum of v within @ reactivate at most every @ s"),
    ("ptl", "state s(p boolean, v int) trigger t: p since[>=@] v = -@ and time - @ s > time"),
    ("esql", "DEFINE Out AS EVERY @ s OF X0.v."),
    ("esql", "DEFINE Out AS TRIM @ OF X0.v + @."),
    ("esql", "DEFINE Out AS GET * FROM X0 ON X0 WINDOW OF @ min."),
    ("esql", "DEFINE Out AS THE MOMENT @ OF X0.v THRESHOLD @."),
    ("esql", "DEFINE Out AS COMBINE X0.v WITH ADDITION. DEFINE B AS X0.v TO THE @ TH."),
    ("esql", "DEFINE Out AS APPLY json_path($0, '$[@]') WITH X0.v."),
]
