"""Moore machines: eSQL trees to processors, and what is wrong with their states (pipes.md, section 3, 4.7)."""

from __future__ import annotations

from occurs.errors import Place, did_you_mean
from occurs.expr.names import Name
from occurs.expr.tree import Param
from occurs.languages.esql import syntax
from occurs.languages.esql.build_forms import Forms
from occurs.languages.esql.build_scope import Scope
from occurs.languages.names import Name
from occurs.operators.process import tree


class Machines(Forms):
    """Builds machines."""

    def machine(self, node: syntax.Machine, scope: Scope) -> tree.Pipe:
        inputs = [self.pipe(i, scope) for i in node.inputs]
        within = scope.function(len(inputs))
        registers = []
        names: dict[str, str] = {}
        for r in node.registers:
            if r.name in names:
                self.report("duplicate-name", f"the register `${r.name}` is declared twice", scope, scope.span(r))
                continue
            start = self.function(r.value, scope.function(0))
            names[r.name] = within.fresh(r.name)
            within = within.binds({r.name: Param(names[r.name])})
            registers.append((names[r.name], start))
        self._check_states(node, scope)
        states = tuple(self._state(s, names, within) for s in node.states)
        processor = tree.Machine(node.start.text, states, tuple(registers))
        return self.node(processor, inputs, node, scope)

    def _state(self, state: syntax.State, names: dict[str, str], scope: Scope) -> tree.State:
        output = self.function(state.output, scope) if state.output is not None else None
        transitions = tuple(self._transition(t, names, scope) for t in state.transitions)
        return tree.State(state.name.text, output, transitions, scope.span(state))

    def _transition(self, node: syntax.Transition, names: dict[str, str], scope: Scope) -> tree.Transition:
        condition = self.function(node.condition, scope) if node.condition is not None else None
        sets = []
        for r in node.sets:
            value = self.function(r.value, scope)
            if r.name in names:
                sets.append((names[r.name], value))
                continue
            hint = "declare it: `MACHINE ON p WITH $n := 0 START ..`"
            hint = did_you_mean(r.name, names, "registers") if names else hint
            self.report("unknown-name", f"there is no register `${r.name}`", scope, scope.span(r), hint)
        return tree.Transition(condition, node.target.text, tuple(sets), scope.span(node))

    # --- states ------------------------------------------------------------------------------------------------------

    def _check_states(self, node: syntax.Machine, scope: Scope) -> None:
        known: dict[str, syntax.State] = {}
        for s in node.states:
            if s.name.text in known:
                first = Place("the first is here", scope.source.file, scope.place or known[s.name.text].name.span)
                scope.source.report("duplicate-name", f"two states are called `{s.name}`",
                                    scope.place or s.name.span, None, related=(first,))  # fmt: skip
            known.setdefault(s.name.text, s)
        self._known(node.start, "START", known, scope)
        for s in node.states:
            for t in s.transitions:
                self._known(t.target, "GO TO", known, scope)
            self._check_order(s, scope)
        for s in _unreachable(node, known):
            message = f"the state `{s.name}` is never reached"
            scope.source.warn("unreachable", message, scope.place or s.name.span)

    def _known(self, name: Name, word: str, known: dict[str, syntax.State], scope: Scope) -> None:
        if name.text not in known:
            message = f"{word}: there is no state `{name.text}`"
            hint = did_you_mean(name.text, known, "states")
            self.report("unknown-name", message, scope, scope.place or name.span, hint)

    def _check_order(self, state: syntax.State, scope: Scope) -> None:
        """Transitions that are never taken: behind OTHERWISE, or with the guard of an earlier one."""
        seen: list[syntax.Node] = []
        otherwise: syntax.Transition | None = None
        for t in state.transitions:
            if t.condition is None:
                if otherwise is not None:
                    scope.source.warn("unreachable", "a second OTHERWISE is never taken", scope.span(t))
                otherwise = otherwise or t
            elif otherwise is not None:
                hint = "WHEN is always tested before OTHERWISE; write OTHERWISE last"
                scope.source.warn("unreachable", "this transition is written after OTHERWISE", scope.span(t), hint)
            if t.condition is not None and t.condition in seen:
                message = "this transition is never taken: an earlier one has the same guard"
                scope.source.warn("unreachable", message, scope.span(t))
            elif t.condition is not None:
                seen.append(t.condition)


def _unreachable(machine: syntax.Machine, known: dict[str, syntax.State]) -> list[syntax.State]:
    reached: set[str] = set()
    waiting = [machine.start.text]
    while waiting:
        name = waiting.pop()
        if name in known and name not in reached:
            reached.add(name)
            waiting += [t.target.text for t in known[name].transitions]
    return [s for n, s in known.items() if n not in reached] if machine.start.text in known else []
