"""Boxes with ports, and how they are connected (pipes.md, 2.3).

A box is a processor that has a place: its inputs are connected once and for all, with :func:`connect` or when an
expression makes it.  When all that a box needs is connected it becomes a node of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from occurs.errors import ConnectionProblem, DefinitionProblem
from occurs.expr.tree import Expr, Param, rewrite
from occurs.operators.process import tree
from occurs.operators.process.function_kinds import Finding, Unfit, typed
from occurs.operators.process.kinds import ANY, Kind
from occurs.operators.process.tree import Formula, Inner, Input, Node, Part, Processor, Quantified, nodes
from occurs.operators.process.typing import Mismatch, Typing

if TYPE_CHECKING:
    from occurs.pipes.pipe import Pipe


#: names of ports
LEFT = TOP = INPUT = OUTPUT = 0
RIGHT = BOTTOM = 1

#: what comes out of a port: a pipe of a graph, or a constant or variable, which becomes part of a function
Made = tree.Pipe | Expr

_CONVERSIONS = {"number": "number(...)", "int": "floor(number(...))", "text": "text(...)", "troolean": "troolean(...)"}


def refuse(finding: Finding) -> None:
    """Raise what is wrong with a function; what variables are is not known before a box has its place."""
    if not isinstance(finding.part, Param):
        raise Unfit(finding)


class Box:
    """A processor with input and output ports.  ``name``: its name in messages."""

    def __init__(
        self,
        processor: Processor | None,
        inputs: int = 1,
        outputs: int = 1,
        *,
        name: str | None = None,
        sources: Sequence[Pipe] = (),
    ) -> None:
        self.processor, self.name = processor, name
        self.inputs, self.outputs = inputs, outputs
        self.sources: list[Pipe | None] = [None] * inputs
        self._made: list[Made] | None = None
        self._kinds: list[Kind] | None = None
        for port, pipe in enumerate(sources):
            self.connect(port, pipe)
        self.settle()

    # --- words ------------------------------------------------------------------------------------------------------

    @property
    def kind_name(self) -> str:
        """The name of its kind, such as ``Lift``."""
        return type(self).__name__ if type(self) is not Box or self.processor is None else self.processor.kind_name

    def __str__(self) -> str:
        return f"{self.kind_name} '{self.name}'" if self.name else self.kind_name

    def __repr__(self) -> str:
        return f"<{self}: {self.inputs} in, {self.outputs} out>"

    # --- ports ------------------------------------------------------------------------------------------------------

    def out(self, port: int = 0) -> Pipe:
        """The pipe at output ``port``."""
        from occurs.pipes.pipe import Pipe

        self.need_port("output", port, self.outputs)
        return Pipe(self, port)

    def need_port(self, what: str, port: int, there: int) -> None:
        """Check that a port exists; raises ConnectionProblem if not."""
        if not isinstance(port, int) or not 0 <= port < there:
            many = f"{there} {what}{'s' * (there != 1)}"
            raise ConnectionProblem.at(
                "unknown-name", f"{self} has {many}, so there is no {what} {port}", str(self), port
            )

    def connect(self, port: int, pipe: Pipe) -> None:
        """Connect a pipe to an input; raises ConnectionProblem if the input does not exist, is already connected, or
        has another type."""
        self.need_port("input", port, self.inputs)
        known = self.sources[port]
        if known is not None:
            message = f"input {port} of {self} is already connected (to output {known._port} of {known._box})"
            raise ConnectionProblem.at("duplicate-name", message, str(self), port)
        self._refuse_cycle(pipe)
        self.sources[port] = pipe
        try:
            self._fit()
        except ConnectionProblem:
            self.sources[port] = None
            raise

    def _refuse_cycle(self, pipe: Pipe) -> None:
        """ConnectionProblem if what comes from this box would come back to it."""
        path = _path(pipe._box, self)
        if path:
            names = [b.name or b.kind_name for b in (*path, self)]
            raise ConnectionProblem.at("cycle", f"the boxes form a cycle: {' -> '.join(names)}", str(self))

    # --- types ------------------------------------------------------------------------------------------------------

    @property
    def kinds(self) -> list[Kind]:
        """The types of the outputs; ``any`` while they are unknown."""
        return self._kinds or [ANY] * self.outputs

    def kinds_for(self, given: Sequence[Kind]) -> list[Kind]:
        """The types of the outputs, given the types of the inputs."""
        assert self.processor is not None
        return Typing(report=refuse).of(Node(self.processor), given)

    def _fit(self) -> None:
        """Derive the types; ConnectionProblem if an input gets what it cannot take."""
        given = [ANY if s is None else s.item_type for s in self.sources]
        try:
            self._kinds = self.kinds_for(given)
        except Mismatch as problem:
            raise self._refused(problem.port, problem.found, problem.wanted) from problem
        except Unfit as problem:
            finding = problem.finding
            direct = (tree.Lift, tree.Where, tree.StopWhen, tree.Machine)
            if isinstance(finding.part, Input) and finding.found is not None and isinstance(self.processor, direct):
                raise self._refused(finding.part.index, finding.found, finding.wanted or "") from problem
            raise DefinitionProblem.of(finding.kind, f"{self}: {finding.message}", hint=finding.hint) from problem

    def _refused(self, port: int, found: Kind, wanted: str) -> ConnectionProblem:
        source = self.sources[port]
        assert source is not None
        conversion = _CONVERSIONS.get(wanted)
        message = (
            f"cannot connect output {source._port} ({found}) of {source._box} to input {port} ({wanted}) of {self}"
            + (f"; convert with {conversion}" if conversion else "")
        )
        return ConnectionProblem.at("type-mismatch", message, str(self), port)

    # --- nodes ------------------------------------------------------------------------------------------------------

    def make(self, inputs: list[Made]) -> list[Made]:
        """The outputs, given the inputs."""
        if any(isinstance(i, Expr) for i in inputs):
            raise DefinitionProblem.of("sort", f"the input of {self} is a constant, which has no events of its own")
        assert self.processor is not None
        node = Node(self.processor, tuple(i for i in inputs if isinstance(i, tree.Pipe)), self.name)
        return [node.out(k) for k in range(self.outputs)]

    def settle(self) -> None:
        """Make the node as soon as the nodes of all inputs are made."""
        if self._made is None and all(s is not None and s._box._made is not None for s in self.sources):
            self._made = self.make([s._box._made[s._port] for s in self.sources if s is not None and s._box._made])
            if self._kinds is None:
                self._fit()

    @property
    def made(self) -> list[Made]:
        """The outputs; raises ConnectionProblem if an input is not connected."""
        for box in _before(self):
            for port, source in enumerate(box.sources):
                if source is None:
                    message = f"input {port} of {box} is not connected"
                    raise ConnectionProblem.at("unknown-name", message, str(box), port)
            box._fit()
            box.settle()
        assert self._made is not None
        return self._made


def _before(box: Box) -> list[Box]:
    """All boxes that are not made yet on which a box depends, and itself, each after those before it."""
    done: dict[int, Box] = {}
    stack = [(box, False)]
    while stack:
        here, ready = stack.pop()
        if id(here) in done or here._made is not None:
            continue
        if ready:
            done[id(here)] = here
        else:
            stack.append((here, True))
            stack += [(s._box, False) for s in reversed(here.sources) if s is not None]
    return list(done.values())


def _path(start: Box, goal: Box) -> list[Box]:
    """The boxes from ``goal`` on to ``start``, if that depends on it."""
    came: dict[int, Box | None] = {id(start): None}
    stack = [start]
    while stack:
        here = stack.pop()
        if here is goal:
            path: list[Box] = []
            step: Box | None = here
            while step is not None:
                path.append(step)
                step = came[id(step)]
            return path
        # what is made is complete, and cannot depend on a box with an open input
        for source in here.sources if here._made is None else ():
            if source is not None and id(source._box) not in came:
                came[id(source._box)] = here
                stack.append(source._box)
    return []


class Wiring:
    """What :func:`connect` gives: more connections may follow."""

    def connect(self, *parts: Any) -> Wiring:
        """As :func:`connect`."""
        return connect(*parts)


def connect(*parts: Any) -> Wiring:
    """Connect output i of a to input j of b: ``connect(a, i, b, j)``; ``connect(a, b)`` if both have one port.

    ``a`` is a box or a pipe, ``b`` a box.
    """
    from occurs.pipes.pipe import Pipe

    if len(parts) == 4:
        source, i, target, j = parts
    elif len(parts) == 2:
        (source, target), i, j = parts, None, None
    elif len(parts) == 3 and isinstance(parts[0], Pipe):
        source, i, (target, j) = parts[0], None, parts[1:]
    else:
        raise DefinitionProblem.of("arity", "connect takes (a, i, b, j), or (a, b) if both have one port")
    if not isinstance(target, Box):
        raise DefinitionProblem.of("sort", f"{target!r} is not a box: only the inputs of boxes can be connected")
    if isinstance(source, Box):
        pipe = source.out(_one(source, "output", source.outputs) if i is None else i)
    elif isinstance(source, Pipe):
        if i not in (None, 0):
            source._box.need_port("output", i, 1)
        pipe = source
    else:
        raise DefinitionProblem.of("sort", f"{source!r} is neither a box nor a pipe")
    target.connect(_one(target, "input", target.inputs) if j is None else j, pipe)
    target.settle()
    return Wiring()


def _one(box: Box, what: str, there: int) -> int:
    if there != 1:
        message = f"{box} has {there} {what}s: name the one to use with connect(a, i, b, j)"
        raise ConnectionProblem.at("arity", message, str(box))
    return 0


class Parameter(Box):
    """A constant or a variable: it has no events, and becomes part of the functions that it goes into."""

    def __init__(self, expr: Expr, *, name: str | None = None) -> None:
        self.expr = expr
        super().__init__(None, 0, 1, name=name)

    def kinds_for(self, given: Sequence[Kind]) -> list[Kind]:
        return [typed(self.expr, (), {}, refuse)]

    def make(self, inputs: list[Made]) -> list[Made]:
        return [self.expr]


class Fork(Box):
    """Copies its input to n outputs."""

    def __init__(self, n: int = 2, *, name: str | None = None) -> None:
        from occurs.pipes.constants import whole

        super().__init__(None, 1, whole(n, 1, "Fork"), name=name)

    def kinds_for(self, given: Sequence[Kind]) -> list[Kind]:
        return [given[0]] * self.outputs

    def make(self, inputs: list[Made]) -> list[Made]:
        return inputs * self.outputs


class AtEnd(Box):
    """A pipe whose formulas have a policy for the end."""

    def __init__(self, policy: str, pipe: Pipe) -> None:
        self.policy = policy
        super().__init__(None, sources=[pipe])

    def kinds_for(self, given: Sequence[Kind]) -> list[Kind]:
        return list(given)

    def make(self, inputs: list[Made]) -> list[Made]:
        return [with_at_end(i, self.policy) if isinstance(i, tree.Pipe) else i for i in inputs]


def with_at_end(pipe: tree.Pipe, policy: str) -> tree.Pipe:
    """A pipe whose formulas, and those before it and inside, have a policy for the end: ``nothing finite null``."""
    return _AtEnd(policy).pipes((pipe,))[0]


class _AtEnd:
    def __init__(self, policy: str) -> None:
        self.policy = policy

    def pipes(self, pipes: tuple[tree.Pipe, ...]) -> tuple[tree.Pipe, ...]:
        """The pipes over the nodes made anew; those that nothing changes stay the same."""
        done: dict[int, Node] = {}
        for node in nodes(pipes):
            inputs = tuple(tree.Pipe(done[id(p.node)], p.port) for p in node.inputs)
            processor = node.processor
            if isinstance(processor, Formula):
                processor = Formula(self.part(processor.root), processor.troolean, self.policy)
            elif hasattr(processor, "inner"):
                inner = self.inner(processor.inner)
                processor = processor if inner is processor.inner else replace(processor, inner=inner)  # type: ignore[call-arg]
            same = processor is node.processor and inputs == node.inputs
            done[id(node)] = node if same else replace(node, processor=processor, inputs=inputs)
        return tuple(tree.Pipe(done[id(p.node)], p.port) for p in pipes)

    def inner(self, inner: Inner) -> Inner:
        outputs = self.pipes(inner.outputs)
        return inner if outputs == inner.outputs else Inner(inner.inputs, outputs)

    def part(self, part: Part) -> Part:
        """A part with the bodies of its quantifiers made anew."""
        if isinstance(part, Quantified):
            return replace(part, body=self.inner(part.body))
        return part.map(self.part)


class Lifted(Box):
    """A function over its inputs; constants and variables among them become part of it."""

    def make(self, inputs: list[Made]) -> list[Made]:
        pipes = [i for i in inputs if isinstance(i, tree.Pipe)]
        place = iter(range(len(pipes)))
        new = [Input(next(place)) if isinstance(i, tree.Pipe) else i for i in inputs]
        p = self.processor
        assert isinstance(p, tree.Lift)

        def folded(e: Expr) -> Expr:
            return rewrite(e, lambda n: new[n.index] if isinstance(n, Input) else None)

        where = None if p.where is None else folded(p.where)
        functions = tuple(map(folded, p.functions))
        if not pipes:
            return list(functions)
        processor = tree.Lift(functions, where, p.early)
        return [Node(processor, tuple(pipes), self.name).out(k) for k in range(self.outputs)]

    @property
    def kind_name(self) -> str:
        return "Lift"
