"""Graphs of pipes made anew with something changed."""

from __future__ import annotations

from dataclasses import replace

from occurs.operators.process.tree import Formula, Inner, Node, Part, Pipe, Quantified, nodes


def with_at_end(pipe: Pipe, policy: str) -> Pipe:
    """A pipe whose formulas, and those before it and inside, have a policy for the end: ``nothing finite null``."""
    return _AtEnd(policy).pipes((pipe,))[0]


class _AtEnd:
    def __init__(self, policy: str) -> None:
        self.policy = policy

    def pipes(self, pipes: tuple[Pipe, ...]) -> tuple[Pipe, ...]:
        """The pipes over the nodes made anew; those that nothing changes stay the same."""
        done: dict[int, Node] = {}
        for node in nodes(pipes):
            inputs = tuple(Pipe(done[id(p.node)], p.port) for p in node.inputs)
            processor = node.processor
            if isinstance(processor, Formula):
                processor = Formula(self.part(processor.root), processor.troolean, self.policy)
            elif hasattr(processor, "inner"):
                inner = self.inner(processor.inner)
                processor = processor if inner is processor.inner else replace(processor, inner=inner)  # type: ignore[call-arg]
            same = processor is node.processor and inputs == node.inputs
            done[id(node)] = node if same else replace(node, processor=processor, inputs=inputs)
        return tuple(Pipe(done[id(p.node)], p.port) for p in pipes)

    def inner(self, inner: Inner) -> Inner:
        outputs = self.pipes(inner.outputs)
        return inner if outputs == inner.outputs else Inner(inner.inputs, outputs)

    def part(self, part: Part) -> Part:
        """A part with the bodies of its quantifiers made anew."""
        if isinstance(part, Quantified):
            return replace(part, body=self.inner(part.body))
        changes = {n: self.part(p) for n in ("operand", "left", "right") if (p := getattr(part, n, None)) is not None}
        return replace(part, **changes) if changes else part
