"""Graphs of pipes as Graphviz texts."""

from __future__ import annotations

import re

import pytest

from occurs import pipes
from occurs.errors import DefinitionProblem
from occurs.pipes import fn


def test_a_graph_with_an_inner_processor() -> None:
    x, y = pipes.source("x", type=int), pipes.source('y"', type=int)
    text = pipes.dot(pipes.merge(x.window(3, lambda p: p.cumulate(fn.add)), y).where(fn("$0 > 3")), x, name="g")
    assert text.splitlines() == [
        'digraph "g" {',
        "  rankdir=LR;",
        "  node [shape=box];",
        '  n0 [label="x", shape=ellipse];',
        '  n1 [label="Window\\nwidth = 3"];',
        "  n0 -> n1;",
        "  subgraph cluster_n2 {",
        '    label="within Window";',
        '    n3 [label="input 0", shape=ellipse];',
        '    n4 [label="Cumulate\\nfunction = addition"];',
        "    n3 -> n4;",
        '    n5 [label="result for n1", shape=plaintext];',
        "    n4 -> n5;",
        "  }",
        '  n6 [label="y\\"", shape=ellipse];',
        '  n7 [label="Merge"];',
        '  n1 -> n7 [headlabel="0"];',
        '  n6 -> n7 [headlabel="1"];',
        '  n8 [label="Where\\n$0 > 3"];',
        "  n7 -> n8;",
        '  n9 [label="output", shape=plaintext];',
        "  n8 -> n9;",
        '  n10 [label="output", shape=plaintext];',
        "  n0 -> n10;",
        "}",
    ]


def test_every_edge_joins_two_nodes() -> None:
    x = pipes.source("x", type=int)
    text = pipes.dot(pipes.ltl.G(x > 3), fn.if_(x > 3, 'a"b', "c"), pipes.source("e").price + x)
    nodes, ends = re.findall(r"^ +(n\d+) \[", text, re.M), re.findall(r"(n\d+) -> (n\d+)", text)
    assert len(nodes) == len(set(nodes))
    assert ends
    assert {n for pair in ends for n in pair} == set(nodes)


def test_a_constant_has_no_graph() -> None:
    with pytest.raises(DefinitionProblem, match="is a constant"):
        pipes.dot(pipes.var("n"))
