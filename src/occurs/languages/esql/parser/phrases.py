"""Phrases (pipes.md, 2.2): those that every text knows, those that come near to what was written, and their size.

The body of a phrase stands for every use of it, and an argument for every place of its parameter, so that a few short
phrases can stand for more than any memory holds.  The size of a statement is computed from those of its phrases alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.languages.esql import syntax
from occurs.languages.esql.grammar import PATTERNS, PROCESSORS
from occurs.languages.esql.syntax import Phrase
from occurs.languages.kit.expressions import DEEPEST
from occurs.operators.process.declared import Processor


def _prelude() -> Iterator[tuple[Phrase, type[Processor], Mapping[str, Any]]]:
    """The phrases of processors, with the parameters that they fix."""
    for cls in PROCESSORS.values():
        for pattern, fixed in cls.phrases:
            words = tuple(pattern.split())
            names = [w[1:] for w in words if w.startswith("@")]
            parameters = tuple((n, "number" if n.lower() in cls.parameters() else "processor") for n in names)
            yield Phrase(words, parameters, "processor", None), cls, fixed


#: the processors of the phrases that every text knows, with the parameters that they fix
PRELUDE_OF = {phrase: (cls, fixed) for phrase, cls, fixed in _prelude()}
#: over the items so far
PRELUDE: tuple[Phrase, ...] = tuple(PRELUDE_OF)

#: as alike as a phrase must be to be named
_NEAR = 0.75


def nearest(words: Sequence[str], phrases: Iterable[Phrase]) -> list[str]:
    """The patterns that begin almost as these words do, the most alike first, three at most."""
    known = {" ".join(p.pattern) for p in phrases}
    known |= {" ".join(p.words) for p in PATTERNS}
    found = []
    for pattern in known:
        begin: list[str] = []
        for word in pattern.split():
            if word.startswith("@") or word == "...":
                break
            begin.append(word)
        here = " ".join(words[: len(begin)])
        if here in [" ".join(b) for b in _spelled(begin)]:
            return []  # they are not what is wrong
        ratio = max((difflib.SequenceMatcher(None, here, " ".join(b)).ratio() for b in _spelled(begin)), default=0.0)
        if ratio >= _NEAR:
            found.append((-ratio, pattern))
    return [pattern for _, pattern in sorted(found)[:3]]


def _spelled(words: Sequence[str]) -> list[list[str]]:
    """With one of the words where a pattern has a choice."""
    out: list[list[str]] = [[]]
    for word in words:
        out = [[*o, w] for o in out for w in word.split("|")]
    return [o for o in out if o]


# --- how large a statement is once its phrases are put in -------------------------------------------------------------


#: parts that phrases may put into one statement
MOST = 2_000


@dataclass(frozen=True)
class Size:
    """The ``size`` and ``depth`` of a part of a statement without the arguments of its phrase; of every parameter how
    often it stands there, and how deep at most.  ``written``: the parts that stand in the text."""

    size: int
    depth: int
    written: int
    parameters: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def problem(self) -> str | None:
        """What is wrong with a statement of this size."""
        if self.size - self.written > MOST:
            return f"the phrases in this statement expand to more than {MOST} parts"
        if self.depth > DEEPEST:
            return f"nested more than {DEEPEST} levels deep"
        return None


class Sizes:
    """Sizes of statements; those of phrases are kept."""

    def __init__(self) -> None:
        self._phrases: dict[int, Size] = {}

    def of(self, root: syntax.Node) -> Size:
        """The size of a pipe or function.  No recursion: it may be deeper than Python's stack."""
        order, todo = list[syntax.Node](), [root]
        while todo:
            order.append(todo.pop())
            todo += order[-1].children
        known: dict[int, Size] = {}
        for node in reversed(order):
            known[id(node)] = self._joined(node, known)
        return known[id(root)]

    def _joined(self, node: syntax.Node, known: dict[int, Size]) -> Size:
        if isinstance(node, syntax.Parameter):
            return Size(1, 1, 1, {node.name: (1, 0)})
        parts = [known[id(c)] for c in node.children]
        if isinstance(node, syntax.Use) and node.phrase.body is not None:
            body = self._of_phrase(node.phrase)
            places = [body.parameters.get(p, (0, 0)) for p in node.phrase.places]
        else:
            body, places = Size(1, 1, 1), [(1, 1)] * len(parts)
        found: dict[str, tuple[int, int]] = {}
        size, depth = body.size, body.depth
        for part, (times, level) in zip(parts, places, strict=True):
            size, depth = size + times * part.size, max(depth, level + part.depth)
            for name, (count, below) in part.parameters.items():
                before = found.get(name, (0, 0))
                found[name] = before[0] + times * count, max(before[1], level + below)
        return Size(size, depth, 1 + sum(p.written for p in parts), found)

    def _of_phrase(self, phrase: syntax.Phrase) -> Size:
        if id(phrase) not in self._phrases:
            assert phrase.body is not None
            self._phrases[id(phrase)] = self.of(phrase.body)
        return self._phrases[id(phrase)]
