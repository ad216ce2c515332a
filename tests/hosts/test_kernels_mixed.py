"""Plain and compiled kernels in one run: each call takes either, by chance, and the rows are those of plain ones.

What one kind leaves for the other, in arrays, lists or saved state, thus has to be readable there.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from halves import HOW, LANGUAGES, steps

from occurs.kernel import Arrays, Kernel

#: of so many text cases one is run in each language
EVERY = 12


@pytest.mark.slow  # it compiles most kernels, unless that was done before
@pytest.mark.parametrize("language", LANGUAGES)
def test_plain_and_compiled_kernels_take_turns(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(language)
    turns = {"plain": 0, "compiled": 0}

    def mixed(kernel: Kernel, *arguments: Any) -> Any:
        if rng.random() < 0.5:
            turns["plain"] += 1
            return kernel._run_plain(arguments)
        turns["compiled"] += 1
        return kernel.dispatcher(*[a.typed() if isinstance(a, Arrays) else a for a in arguments])

    def plain(kernel: Kernel, *arguments: Any) -> Any:
        return kernel._run_plain(arguments)

    for name, make in list(LANGUAGES[language]())[::EVERY]:
        found = []
        for call in (plain, mixed):
            monkeypatch.setattr(Kernel, "__call__", call)
            stream = make(HOW)
            found.append(steps(stream, stream.cut(), closing=True))
        assert found[0] == found[1], name
    assert min(turns.values()) > 100
