"""The general operator of patterns: any tree, event after event, in compiled code (epl-and-nets.md, 4A)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from occurs.errors import LimitProblem
from occurs.expr.tree import Ref
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import run
from occurs.operators.merging import Stream
from occurs.operators.sequence.asking import Answers, overflow
from occurs.operators.sequence.calendars import next_due, segments_of
from occurs.operators.sequence.events import Events, events_of, fill_words
from occurs.operators.sequence.layout import lay_out
from occurs.operators.sequence.outcome import matches_of
from occurs.operators.sequence.rulecode import Rules, nodes_of
from occurs.operators.sequence.stream import Matches, State
from occurs.operators.sequence.tree import Atom, Sequence
from occurs.operators.sequence.work import Work, fresh, kept_rows, key_texts, state_of, work_of


class Machine:
    """Evaluates one pattern.

    ``schemas``: the attributes of the types that it reads.  ``kind``: of the times.  ``limit``: how many instances and
    stored results may live at once: LimitProblem beyond.  An overflow of int64 that leaves undecided whether an event
    fits is an InputProblem.
    """

    def __init__(
        self,
        sequence: Sequence,
        schemas: Mapping[str, Mapping[str, Type] | Schema],
        kind: TimeKind,
        limit: int = 10_000_000,
    ) -> None:
        self.sequence = sequence
        self.schemas = schemas
        self.kind = kind
        self.limit = limit
        self.rules = Rules(sequence, schemas, kind)
        self.layout = lay_out(sequence, self.rules)
        self._columns = self._wanted()

    def fresh(self) -> State:
        """The state before anything has come."""
        return fresh()

    def advance(self, state: State, stream: Stream) -> tuple[State, Matches]:
        """All instants up to ``stream.frontier``; the state afterwards, and the matches."""
        after, matches, _ = self._advance(state, stream, False)
        return after, matches

    def advance_late(self, state: State, stream: Stream) -> tuple[State, Matches, Matches]:
        """The same, and the partial matches that a `timer:within` ended, in the order in which that happened."""
        return self._advance(state, stream, True)

    # -- one call ----------------------------------------------------------------------------------------------------
    def _advance(self, state: State, stream: Stream, late: bool) -> tuple[State, Matches, Matches]:
        kept, order = kept_rows(state, self.schemas)
        events = events_of(stream, kept, order, self.layout.atoms)
        begun = stream.start is not None and stream.start <= stream.frontier
        texts = key_texts(state)
        words, known, overflowed = fill_words(events, self.rules, texts)
        work = work_of(state, self.layout, events, words, known, self.rules.roles)
        if begun:
            work = self._run(work, stream, events, words, known, overflowed, late)
        arrays, reg = work.arrays, work.reg
        found = arrays[11][: reg[T.MATCHES]]
        matches = matches_of(found, arrays[12], self.sequence, self.layout.tag_lists, events, self.sequence.suppress)
        ended = arrays[13][: reg[T.LATE]]
        timeouts = matches_of(ended, arrays[14], self.sequence, self.layout.tag_lists, events, False)
        return state_of(work, self.layout, events, self._columns), matches, timeouts

    def _run(
        self,
        work: Work,
        stream: Stream,
        events: Events,
        words: np.ndarray,
        known: np.ndarray,
        overflowed: set[int],
        late: bool,
    ) -> Work:
        layout = self.layout
        assert stream.start is not None
        segments = segments_of(layout, stream)
        next_due(work, layout, segments, stream)
        tree = (
            layout.node_table,
            layout.children,
            layout.limits,
            layout.atom_table,
            layout.equals,
            layout.keys,
            layout.tag_lists,
            layout.calendars,
            layout.tick,
            segments,
        )
        rules = self.rules.tables(overflowed)
        code, ints, floats = self.rules.coder.program()
        for place, text in self.rules.texts:
            ints[place] = events.texts.number(text)
        time = events.time if len(events) else np.zeros(1, np.int64)
        pool = (words, words.view(np.float64), known, time)
        answers = Answers(self.sequence.name, self.rules, layout, events)
        while True:
            status, arrays = run(
                tree,
                rules,
                (code, ints, floats),
                pool,
                events.mask,
                events.base,
                work.arrays,
                stream.start,
                stream.frontier,
                self.limit,
                self.sequence.discard,
                late,
            )
            work = Work(arrays)
            if status == T.FINISHED:
                return work
            if status == T.ASKING:
                answers.condition(work)
            elif status == T.ASKING_KEYS:
                answers.keys(work)
            elif status == T.UNDECIDED:
                raise overflow(self.sequence.name, int(work.reg[T.NOW]))
            else:
                self._full(int(work.reg[T.ASKED]))

    def _full(self, node: int) -> None:
        word = self.layout.word(node)
        raise LimitProblem.of(
            "max-instances",
            f"`{self.sequence.name}`: more than {self.limit} partial matches at once, the next one of `{word}`",
            hint="limit the pattern with `timer:within`, `-[n]>` or a condition, or increase --max-instances",
            definition=self.sequence.name,
        )

    def _wanted(self) -> dict[str, frozenset[str]]:
        """Per type the columns that are kept of its events: those that anything reads."""
        per_tag = dict(self.sequence.columns)
        out: dict[str, frozenset[str]] = {}
        for node in nodes_of(self.sequence.root):
            if isinstance(node, Atom):
                for t in node.types:
                    out[t] = out.get(t, frozenset()) | per_tag.get(node.tag, frozenset())
        rules = self.rules
        read = [(types, word.expr) for types, word in zip(rules.word_types, rules.words)]
        named = [(asked.own, r) for asked in rules.asked for r in asked.expr.walk() if isinstance(r, Ref)]
        read += [(set(rules.types.get(r.scope or own or "", ())), r) for own, r in named]
        for types, expr in read:
            names = {r.name for r in expr.walk() if isinstance(r, Ref)} - {"time"}
            for t in types:
                out[t] = out.get(t, frozenset()) | names
        return out
