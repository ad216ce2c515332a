"""Which texts of a program end the language worker: these are left alone, the others are not."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping

#: so often may a text end the worker before it is left alone
TIMES = 2
#: marks of texts that are remembered
_REMEMBERED = 10_000
#: a call, a path and the digest of a text
Mark = tuple[str, str, bytes]


def marks_of(call: str, texts: Mapping[str, str]) -> dict[str, Mark]:
    """The mark of each text in a call, by its path."""
    return {path: (call, path, _digest(text)) for path, text in texts.items()}


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


class Blame:
    """What is known of the texts of calls that ended the worker.

    Suspected are the texts that differ from the last call that was answered, or all if none does.  One that is
    suspected alone is guilty when it has ended the worker twice.  Of several it is not known which one it is: they are
    ``unclear``, and to be tried one by one.
    """

    def __init__(self) -> None:
        #: the marks of the last call of each name that was answered
        self._fine: dict[str, frozenset[Mark]] = {}
        self._harm: Counter[Mark] = Counter()
        self._guilty: OrderedDict[Mark, None] = OrderedDict()

    def answered(self, call: str, marks: Iterable[Mark]) -> None:
        """The worker answered a call with these texts: none of them does harm."""
        self._fine[call] = frozenset(marks)
        for mark in self._fine[call]:
            self._harm.pop(mark, None)
            self._guilty.pop(mark, None)

    def ended(self, call: str, marks: Iterable[Mark]) -> None:
        """The worker ended in a call with these texts."""
        marks = frozenset(marks)
        suspects = marks - self._fine.get(call, frozenset()) or marks
        self._harm.update(suspects)
        if len(suspects) == 1:
            [mark] = suspects
            if self._harm[mark] >= TIMES:
                self.convict(mark)
        if len(self._harm) > _REMEMBERED:
            self._harm.clear()

    def convict(self, mark: Mark) -> None:
        """This text it was."""
        self._guilty[mark] = None
        if len(self._guilty) > _REMEMBERED:
            self._guilty.popitem(last=False)

    def harm(self, mark: Mark) -> int:
        """How often a text was suspected since it was last in a call that was answered."""
        return self._harm[mark]

    def guilty(self, marks: Mapping[str, Mark]) -> set[str]:
        """The paths of texts that are left alone."""
        return {path for path, mark in marks.items() if mark in self._guilty}

    def unclear(self, marks: Mapping[str, Mark]) -> list[str]:
        """The paths of texts one of which ends the worker, in their order."""
        return [p for p, mark in marks.items() if mark not in self._guilty and self._harm[mark] >= TIMES]
