"""Random formulas of pipes: temporal operators and quantifiers over atoms, in both flavours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from occurs.operators.process import tree
from occurs.operators.process.tree import Inner, Node, Pipe

if TYPE_CHECKING:
    from tests.generators.random_pipes_graph import Graphs


def formula(graphs: Graphs, troolean: bool, depth: int) -> Pipe:
    """A formula over atoms of the scope of ``graphs``, of one flavour and one policy for the end."""
    at_end = "nothing" if troolean else graphs.rng.choice(("nothing", "finite", "null"))
    return _Formula(graphs, troolean, at_end, depth).pipe()


class _Formula:
    def __init__(self, graphs: Graphs, troolean: bool, at_end: str, depth: int) -> None:
        self.graphs, self.rng = graphs, graphs.rng
        self.troolean, self.at_end, self.depth = troolean, at_end, depth
        self.inputs: list[Pipe] = []

    def pipe(self) -> Pipe:
        root = self.temporal(self.rng.randint(1, 3))
        processor = tree.Formula(root, self.troolean, self.at_end)
        return Node(processor, tuple(self.inputs)).out()

    def input(self, pipe: Pipe) -> int:
        """The number of the input that a pipe is on."""
        if pipe not in self.inputs:
            self.inputs.append(pipe)
        return self.inputs.index(pipe)

    def part(self, depth: int) -> tree.Part:
        choice = self.rng.randrange(10)
        if depth <= 0 or choice < 2:
            return self.atom()
        if choice == 2:
            return tree.Not(self.part(depth - 1))
        if choice < 6:
            connective = self.rng.choice((tree.And, tree.Or, tree.Implies))
            return connective(self.part(depth - 1), self.part(depth - 1))
        return self.temporal(depth)

    def temporal(self, depth: int) -> tree.Part:
        choice = self.rng.randrange(7)
        if choice == 0:
            return tree.Next(self.part(depth - 1))
        if choice <= 2:
            return tree.Globally(self.part(depth - 1))
        if choice <= 4:
            return tree.Eventually(self.part(depth - 1))
        if choice == 5:
            return tree.Until(self.part(depth - 1), self.part(depth - 1))
        return self.quantified(depth)

    def atom(self) -> tree.Part:
        if self.inputs and self.rng.random() < 0.08:
            return tree.Given(self.graphs.functions().of("bool", 0))
        kind = "troolean" if self.troolean and self.rng.random() < 0.3 else "bool"
        if self.inputs and kind == "bool" and self.rng.random() < 0.4:
            known = [i for i, p in enumerate(self.inputs) if p in self.graphs.known.get("bool", ())]
            if known:
                return tree.Atom(self.rng.choice(known))
        pipe = self.graphs.pipe(kind, self.rng.randint(0, self.depth) if self.rng.random() < 0.3 else 0)
        self.graphs.known.setdefault(kind, []).append(pipe)
        return tree.Atom(self.input(pipe))

    def quantified(self, depth: int) -> tree.Part:
        from tests.generators.random_pipes_graph import Graphs

        kind = self.rng.choice(("int", "int", "list"))
        over = self.input(self.graphs.pipe(kind, 0))
        variable = f"x{len(self.graphs.context)}"
        domain = self.graphs.functions(kind).domain(1)
        inside = Graphs(self.rng, (kind,), {**self.graphs.context, variable: "int"})
        if self.rng.random() < 0.8 and depth > 1:
            body = _Formula(inside, self.troolean, self.at_end, 0).pipe()
        else:
            body = inside.pipe("bool", 1)
        return tree.Quantified(self.rng.random() < 0.5, variable, domain, over, Inner(1, (body,)))
