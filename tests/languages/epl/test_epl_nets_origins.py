"""The parts of a program that the elements of its net come from, and nets of the statements that can be translated."""

from __future__ import annotations

import random

import pytest
from tests.generators.random_nets import random_extended

from occurs.errors import DefinitionProblem
from occurs.languages.epl.nets import Translation, translate
from occurs.languages.epl.parser import parse
from occurs.model.ticks import time_unit
from occurs.model.time import TimeKind

SCHEMAS = "create schema A(k int);\ncreate schema B(k int);\ncreate schema C(k int);\n"
SECONDS = TimeKind(False, time_unit("s"))


def made(text: str, partial: bool = False) -> Translation:
    file, problems = parse(text, "rules.epl")
    assert not problems
    return translate(file, extended=True, kind=SECONDS, partial=partial)


def said(text: str, translation: Translation, name: str) -> str:
    """The part of the text that an element comes from."""
    origin = translation.origins[name]
    assert origin.span is not None
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    span = origin.span
    return text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]


def test_elements_come_from_the_operators_that_they_stand_for() -> None:
    text = f"{SCHEMAS}@Name('O') insert into O select a.k as k\nfrom pattern [every a=A -> b=B(k = a.k)];"
    net = made(text)
    assert said(text, net, "O_a_t") == "a=A"
    assert said(text, net, "O_b_t") == "b=B(k = a.k)"
    assert said(text, net, "O_b_F") == "b=B(k = a.k)"
    assert said(text, net, "O_every") == "every a=A"
    assert said(text, net, "O_followed_t") == "every a=A -> b=B(k = a.k)"
    assert said(text, net, "O_Fp").startswith("@Name('O')")
    assert not {"enter", "Input", "F", "Control"} & net.origins.keys()


def test_elements_of_the_extended_translation() -> None:
    pattern = "every a=A -> ((b=B and not C) where timer:within(5 sec))"
    text = f"{SCHEMAS}insert into O select a.k as k from pattern [{pattern}];"
    net = made(text)
    assert said(text, net, "O_within_timeout") == "(b=B and not C) where timer:within(5 sec)"
    assert said(text, net, "O_and_start") == "b=B and not C"
    assert said(text, net, "O_b_t") == "b=B"
    assert said(text, net, "O_a_t") == "a=A"
    assert "tick" not in net.origins


@pytest.mark.parametrize("seed", range(40))
def test_every_element_of_a_statement_has_an_origin_inside_it(seed: int) -> None:
    case = random_extended(random.Random(seed))
    try:
        net = translate(case.file_tree, extended=True, inputs=case.inputs, kind=case.kind)
    except DefinitionProblem:
        pytest.skip("it has no net")
    wholes = [q.query.span for q in net.queries]
    for name in (*net.net.places, *net.net.transitions):
        longest = max((p for p in net.prefixes if name.startswith(f"{p}_")), key=len, default=None)
        own = None if longest is None else net.prefixes.index(longest)
        assert (own is None) == (name not in net.origins), name
        if own is not None:
            origin, whole = net.origins[name], wholes[own]
            assert origin.statement == own
            assert origin.span is not None
            assert whole is not None
            assert (whole.line, whole.column) <= (origin.span.line, origin.span.column)
            assert (origin.span.end_line, origin.span.end_column) <= (whole.end_line, whole.end_column)


MIXED = (
    f"{SCHEMAS}@Name('O') insert into O select a.k as k from pattern [every a=A -> b=B];\n"
    "@Name('P') insert into P select a.k as k from pattern [every a=A -> (b=B until c=C)];\n"
    "@Name('R') insert into R select p.k as k from pattern [every p=P];\n"
    "@Name('S') insert into S select r.k as k from pattern [every r=R -> o=O];\n"
)


def test_statements_without_a_net_are_left_out_with_those_that_read_them() -> None:
    with pytest.raises(DefinitionProblem, match="until"):
        made(MIXED)
    net = made(MIXED, partial=True)
    assert [q.name for q in net.queries] == ["O"]
    assert [(p.span.line if p.span else 0, p.message) for p in net.left_out] == [
        (5, "`until` cannot be translated into a net"),
        (6, "`R` reads `P`, whose statement cannot be translated into a net"),
        (7, "`S` reads `R`, whose statement cannot be translated into a net"),
    ]
    assert net.net == made(MIXED.split("@Name('P')")[0]).net


def test_statements_are_left_out_that_fail_while_their_net_is_built() -> None:
    text = f"{MIXED.split('@Name')[0]}@Name('O') insert into O select a.k as k from pattern [every a=A];\n"
    text += "@Name('D') insert into D select a.k / a.k as k from pattern [every a=A];"
    net = made(text, partial=True)
    assert [q.name for q in net.queries] == ["O"]
    assert [p.message for p in net.left_out] == ["`k` may be null (a division by zero), which a token cannot hold"]


def test_a_program_of_nothing_else_is_refused() -> None:
    text = f"{SCHEMAS}insert into P select a.k as k from pattern [every a=A -> (b=B until c=C)];"
    with pytest.raises(DefinitionProblem, match="until"):
        made(text, partial=True)
