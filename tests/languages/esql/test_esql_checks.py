"""What is wrong with programs in eSQL before a row is read: kind, place and message."""

import pytest

from occurs.errors import Problem
from occurs.languages.esql.checks import analyse
from occurs.languages.esql.parser import parse
from occurs.model.types import Schema, Type

INPUTS = {
    "E": Schema((("v", Type.INT), ("name", Type.STRING), ("ok", Type.BOOL))),
    "Y": Schema((("v", Type.INT),)),
}


def problems(text: str, inputs: dict[str, Schema] | None = INPUTS) -> list[Problem]:
    file, wrong = parse(text, "a.esql")
    assert not wrong, wrong[0].render()
    return analyse([file], inputs).problems


def said(text: str, severity: str = "error", inputs: dict[str, Schema] | None = INPUTS) -> list[str]:
    found = [p for p in problems(text, inputs) if p.severity == severity]
    return [f"{p.line}:{p.column} {p.kind}: {p.message}" for p in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # names
        ("DEFINE A AS Z.v.", "1:13 unknown-name: there is no definition or event type `Z`"),
        ("DEFINE A AS E.w.", "1:13 unknown-attribute: there is no attribute `w`"),
        ("DEFINE A AS E WHERE w > 1.", "1:21 unknown-attribute: no input has an attribute `w`"),
        ("DEFINE A AS sqroot(E.v).", "1:13 unknown-function: there is no function `sqroot`"),
        ("DEFINE A AS E.v WHERE $0 > $n.", "1:28 unknown-name: there is no variable `$n` here"),
        ("DEFINE A AS E.v WHERE $1 > 1.", "1:23 unknown-name: there is no input `$1`"),
        ("DEFINE A AS $0 + E.v.", "1:13 sort: `$0` is an input of a function, but a pipe is needed here"),
        ("DEFINE A AS COMBINE E.v WITH ADDING.", "1:30 unknown-function: there is no COMBINE function `ADDING`"),
        ("DEFINE A AS APPLY xpath($0, '//a[b=$c]') WITH THE XML OF E.name.",
         "1:29 unknown-name: there is no variable `$c` here, and the path uses it"),
        # definitions
        ("DEFINE A AS E. DEFINE A AS Y.", "1:23 duplicate-definition: `A` is defined twice"),
        ("E.v. Y.v.", "1:6 duplicate-definition: two queries have no name"),
        ("DEFINE A AS TRIM 1 OF B. LET B BE C. DEFINE C AS A.",
         "1:50 cycle: the definitions form a cycle: A -> B -> C -> A"),
        # what stands where
        ("DEFINE A AS * + 1.", "1:13 sort: `*` is only allowed in an inner processor"),
        ("DEFINE A AS GET (* + Y.v) FROM E.v ON A WINDOW OF 2.",
         "1:22 sort: a window uses `Y` from outside"),
        ("DEFINE A AS F (E.v = 1) AND FOR ALL $x IN [1] ON E : E.v = $x.",
         "1:54 sort: the body of FOR ALL $x uses `E` from outside"),
        ("DEFINE A AS 1 + 2.", "1:13 sort: a constant has no events of its own"),
        ("DEFINE A AS MERGE E.v, CONSTANT 3.", "1:24 sort: a constant has no events of its own"),
        ("DEFINE A AS G (E.v = 1 -> SOMETIME (E.v = 2)).",
         "1:13 sort: one formula cannot have both the Boolean operator `G` and the Troolean operator `SOMETIME`"),
        ("DEFINE A AS EVERY $x IN [1] ON E : F (*.v = $x).",
         "1:13 sort: one formula cannot have both the Troolean operator `EVERY` and the Boolean operator `F`"),
        ("DEFINE A AS FOR ALL $x IN [1] : F (*.v = $x).", "1:13 sort: FOR ALL needs a pipe outside an inner processor"),
        ("DEFINE A AS E WHERE G ok.", "1:21 sort: the temporal operator `G` is not allowed in a function"),
        ("DEFINE A AS E WHERE (TRIM 1 OF ok).", "1:22 sort: a pipe is not allowed in a function"),
        ("DEFINE A AS EVENTS OF E, B. DEFINE B AS Y.",
         "1:26 sort: EVENTS OF takes event types, but `B` is a definition"),
        # types
        ("DEFINE A AS FILTER E.v WITH E.v.",
         "1:29 type-mismatch: cannot connect output 0 (int) of Lift to input 1 (bool) of Filter"),
        ("DEFINE A AS THE XML OF E.v.",
         "1:24 type-mismatch: cannot connect output 0 (int) of Lift to input 0 (text) of Xml"),
        ("DEFINE A AS E.name + 1.", "1:13 type-mismatch: the operand of `+` is text, not number"),
        ("DEFINE A AS E WHERE v.", "1:21 type-mismatch: a condition is int, not bool"),
        ("DEFINE A AS G E.v.",
         "1:15 type-mismatch: cannot connect output 0 (int) of Lift to input 0 (bool) of Formula"),
        ("DEFINE A AS UNPACK E.v.",
         "1:20 type-mismatch: cannot connect output 0 (int) of Lift to input 0 (a list, a set or a bag) of Unpack"),
        ("DEFINE A AS FILTER E.v WITH troolean(E.ok).",
         "1:29 type-mismatch: cannot connect output 0 (troolean) of Lift to input 1 (bool) of Filter"),
        # bounds
        ("DEFINE A AS EVERY 0 TH OF E.", "1:19 bad-bound: EVERY needs a number of at least 1, not 0"),
        ("DEFINE A AS TRIM -1 OF E.", "1:18 bad-bound: TRIM needs a number of at least 0, not -1"),
        ("DEFINE A AS TRIM 1.5 OF E.", "1:18 bad-bound: TRIM counts items and needs a whole number"),
        ("DEFINE A AS GET * FROM E ON A WINDOW OF 0.", "1:41 bad-bound: WINDOW needs a number of at least 1, not 0"),
        ("DEFINE A AS GET * FROM E ON A WINDOW OF -1 s.", "1:41 bad-duration: WINDOW needs a positive time"),
        ("DEFINE A AS REPEAT E -2 TIMES.", "1:22 bad-bound: REPEAT needs a number of at least 0, not -2"),
        ("DEFINE A AS THE PLATEAU OF E.v.", "1:13 bad-bound: a plateau needs a number of items"),
        # columns
        ("DEFINE A AS SELECT v AS time, ok FROM E.",
         "1:20 reserved-name: `time` cannot be the name of a column of `A`"),
        ("DEFINE A AS SELECT v, v FROM E.", "1:23 duplicate-name: two columns are called `v`"),
        ("DEFINE A AS SELECT v FROM E AS x, Y AS x.", "1:35 duplicate-name: two inputs are called `x`"),
        # machines
        ("DEFINE A AS MACHINE ON E START s IN t OUTPUT 1: END.",
         "1:32 unknown-name: START: there is no state `s`"),
        ("DEFINE A AS MACHINE ON E START s IN s OUTPUT 1: OTHERWISE GO TO u; END.",
         "1:65 unknown-name: GO TO: there is no state `u`"),
        ("DEFINE A AS MACHINE ON E START s IN s: OTHERWISE GO TO s; IN s: END.",
         "1:62 duplicate-name: two states are called `s`"),
        ("DEFINE A AS MACHINE ON E START s IN s: OTHERWISE GO TO s SET $n := 1; END.",
         "1:62 unknown-name: there is no register `$n`"),
        # phrases
        ("WHEN @P IS A PROCESSOR: THE FIT OF @P IS THE PROCESSOR @P + *. DEFINE A AS THE FIT OF E.v.",
         "1:61 sort: `*` is only allowed in an inner processor"),
        ("WHEN @P IS A PROCESSOR: THE FIT OF @P IS THE PROCESSOR GET @P FROM E ON A WINDOW OF 2. "
         "DEFINE A AS THE FIT OF Y.v.", "1:60 sort: a window uses `@P` from outside"),
    ],
)  # fmt: skip
def test_errors(text: str, expected: str) -> None:
    assert said(text) == [expected]


def test_everything_is_said_at_once() -> None:
    text = "DEFINE A AS Z.v + foo(E.v).\nDEFINE B AS TRIM -1 OF (E.w + E.name).\nLET c BE 1."
    assert said(text) == [
        "1:13 unknown-name: there is no definition or event type `Z`",
        "1:19 unknown-function: there is no function `foo`",
        "2:18 bad-bound: TRIM needs a number of at least 0, not -1",
        "2:25 unknown-attribute: there is no attribute `w`",
        "2:31 type-mismatch: the operand of `+` is text, not number",
        "3:10 sort: a constant has no events of its own",
    ]


def test_hints_name_what_exists() -> None:
    (found,) = problems("DEFINE A AS E.nam.")
    assert found.hint == "did you mean `name`?"
    (found,) = problems("DEFINE Total AS E. DEFINE B AS Totl.")
    assert found.hint == "did you mean `Total`?"


def test_unknown_names_are_event_types_if_none_is_known() -> None:
    assert said("DEFINE A AS Z.v + 1.", inputs=None) == []


def test_what_could_not_be_read_is_not_missed() -> None:
    file, wrong = parse("DEFINE A AS x + . DEFINE B AS A.")
    assert len(wrong) == 1
    assert analyse([file], INPUTS).problems == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LET x BE E.v. DEFINE A AS x + EVERY 4 TH OF x.",
         ["1:27 unbounded-state: the queue of input 0 of Lift grows: its inputs have different rates, "
          "1 per item of `E` and 1/4 per item of `E`"]),
        ("DEFINE A AS E.v + TRIM 3 OF E.v.", []),
        ("DEFINE A AS E.v + Y.v.", ["1:13 unbounded-state: the queue of input 0 or 1 of Lift grows: "
                                    "its inputs have different rates, 1 per item of `E` and 1 per item of `Y`"]),
        ("DEFINE A AS GET (THE SET OF *) FROM E.v ON A WINDOW OF 3.", []),
        ("DEFINE A AS THE SET OF E.v.",
         ["1:13 unbounded-state: unbounded state: the collection grows with every item"]),
        ("DEFINE A AS SLICE E WITH (*.v) ON name.",
         ["1:13 unbounded-state: unbounded state: the slice of every key is kept indefinitely"]),
        ("DEFINE A AS SLICE E WITH (*.v) ON name UNTIL $0 > 3.", []),
        ("DEFINE A AS X (E.v > 3).", []),
        ("DEFINE A AS E.v = 3 -> F (E.v = 4).",
         ["1:13 unbounded-state: unbounded state: undecided verdicts are kept, and their number depends on the items"]),
        ("DEFINE A AS SOMETIME (E.v = 4).", []),
        ("DEFINE A AS THE LAST OF E.",
         ["1:13 unbounded-state: the last item is only known when the history ends, which never happens on a stream"]),
        ("DEFINE A AS MACHINE ON E START s IN s OUTPUT 1: WHEN ok GO TO s; IN t: END.",
         ["1:69 unreachable: the state `t` is never reached"]),
        ("DEFINE A AS MACHINE ON E START s IN s: OTHERWISE GO TO s; WHEN ok GO TO s; WHEN ok GO TO s; END.",
         ["1:59 unreachable: this transition is written after OTHERWISE",
          "1:76 unreachable: this transition is written after OTHERWISE",
          "1:76 unreachable: this transition is never taken: an earlier one has the same guard"]),
    ],
)  # fmt: skip
def test_warnings(text: str, expected: list[str]) -> None:
    assert said(text, "warning") == expected
    assert said(text) == []


def test_phrases_of_other_texts_are_reported_where_they_are_used() -> None:
    library, _ = parse("WHEN @P IS A PROCESSOR: THE TEN OF @P IS THE PROCESSOR\n\n\n sqroot(@P).", "lib.esql")
    phrases = [s for s in library.statements if not hasattr(s, "pipe")]
    user, wrong = parse("DEFINE A AS THE TEN OF E.v.", "use.esql", phrases)  # type: ignore[arg-type]
    assert not wrong
    (found,) = analyse([library, user], INPUTS).problems
    assert (found.file, found.line, found.column, found.kind) == ("use.esql", 1, 13, "unknown-function")


def test_a_variable_of_a_phrase_never_takes_one_of_its_argument() -> None:
    from occurs.expr.tree import Binary, Param
    from occurs.operators.process import tree

    text = """
    WHEN @F IS A FUNCTION, @P IS A PROCESSOR: SOME ABOVE @F IN @P IS THE PROCESSOR
      EXISTS $k IN $0 ON @P : APPLY $k > @F WITH *.
    DEFINE A AS FOR ALL $k IN [1, 2] ON E : SOME ABOVE ($k + 1) IN (SELECT [v] FROM *)."""
    file, wrong = parse(text)
    assert not wrong, wrong[0].render()
    (definition,) = analyse([file], INPUTS).definitions
    outer = definition.pipe.node.processor
    assert isinstance(outer, tree.Formula)
    assert isinstance(outer.root, tree.Quantified)
    inner = outer.root.body.outputs[0].node.processor
    assert isinstance(inner, tree.Formula)
    assert isinstance(inner.root, tree.Quantified)
    (lift,) = (n.processor for n in tree.nodes(list(inner.root.body.outputs)) if isinstance(n.processor, tree.Lift))
    comparison = lift.functions[0]
    assert isinstance(comparison, Binary)
    assert outer.root.variable == "k"
    assert comparison.left == Param(inner.root.variable) != Param("k")
    assert comparison.right.children[0] == Param("k")
